"""Arguments and the parameters that take them, also where they surely fit none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from d9mlint.python.domain.choices import in_place_of_absent
from d9mlint.python.domain.conditions import Cond, either, is_symbolic
from d9mlint.python.domain.events import Frame
from d9mlint.python.domain.knowledge import Knowledge
from d9mlint.python.domain.values import (
    ABSENT,
    UNKNOWN,
    Class,
    Const,
    Dict,
    Func,
    Inst,
    Optional,
    Phi,
    Ref,
    Seq,
    Unknown,
    Value,
    alternatives,
)
from d9mlint.python.interpreter import attributes
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

REFUSED = "refused"
"""The kind of event for an object whose call raises ``TypeError``: its receiver."""
_OBJECT = "builtins.object"


def bind(
    inner: Frame, func: Func, args: list[Value], kwargs: dict[str, Value], star: bool, knowledge: Knowledge
) -> None:  # fmt: skip
    """Binds the parameters of a call; ``star``: more arguments were unpacked from something unknown.

    Where that is the configuration of a class, what no config file names is left to its default.
    """
    made = args[0].cls.dotted if star and func.name == "__init__" and args and isinstance(args[0], Inst) else ""
    rest = list(args)
    left = dict(kwargs)
    for param in func.node.params:
        if param.name in func.defaults and (not star or knowledge.leave_out(made, param.name)):
            default = func.defaults[param.name]
        else:
            default = _hidden(func, param.name, knowledge.part_in_configs(param.name) if star else "")
        if param.kind == "*":
            inner.vars[param.name] = Seq("tuple", None if star else rest, UNKNOWN if star else None)
            rest = []
        elif param.kind == "**":
            inner.vars[param.name] = Dict(left, star)
        elif param.kind == "pos" and rest:
            inner.vars[param.name] = rest.pop(0)
            left.pop(param.name, None)
        elif param.name in left:
            inner.vars[param.name] = in_place_of_absent(left.pop(param.name), default)
        else:
            inner.vars[param.name] = default


def _hidden(func: Func, name: str, key: str) -> Unknown:
    """A parameter of which nobody knows whether it is given; ``key`` is that of the part of config files it may be."""
    default = func.defaults.get(name)
    if isinstance(default, Const) and default.value is None and not key:
        return Optional(name=name)
    made = Unknown(name=name)
    made.key = key
    return made


def fails(
    func: Value, args: Sequence[Value], kwargs: Mapping[str, Value], plain_bases: frozenset[str]
) -> bool:  # fmt: skip
    """Whether a call without ``*`` and ``**`` raises ``TypeError``, as its arguments fit no parameters.

    Only of plain functions and classes: decorators, metaclasses and bases other than ``plain_bases`` may take anything.
    """
    made = isinstance(func, Class)
    plain = constructor(func, plain_bases) if isinstance(func, Class) else func
    if not isinstance(plain, Func) or not isinstance(plain.node, f.Def) or plain.decorators:
        return False
    given = (*args, *kwargs.values())
    if any(leaf is ABSENT for value in given for _, leaf in alternatives(value)):
        return False
    return not _binds(plain.node.params, len(args) + made, frozenset(kwargs), frozenset(plain.defaults))


def leaves_room(func: Value, count: int, plain_bases: frozenset[str]) -> bool:
    """Whether a call with so many positional arguments can take more, as out of ``*`` or ``**``."""
    plain = constructor(func, plain_bases) if isinstance(func, Class) else func
    if not isinstance(plain, Func) or not isinstance(plain.node, f.Def) or plain.decorators:
        return True
    kinds = [param.kind for param in plain.node.params]
    return kinds.count("pos") > count + isinstance(func, Class) or any(kind != "pos" for kind in kinds)


def constructor(cls: Class, plain_bases: frozenset[str]) -> Func | None:
    """The ``__init__`` that decides what a class takes; None where something else may."""
    for current in cls.line():
        bases = [base for base in current.bases if not isinstance(base, Class)]
        names = [base.name if isinstance(base, Ref) else "" for base in bases]
        if current.node.decorators or not all(name == _OBJECT or name in plain_bases for name in names):
            return None
        if current.node.keywords or "__new__" in current.frame.vars:
            return None
        found = current.frame.vars.get("__init__")
        if found is not None or len(current.bases) > 1:
            return found if isinstance(found, Func) else None
    return None


def _binds(params: Sequence[f.Param], count: int, names: frozenset[str], defaults: frozenset[str]) -> bool:
    kinds = [param.kind for param in params]
    positional = [param.name for param in params if param.kind == "pos"]
    known = frozenset(param.name for param in params if param.kind in ("pos", "kw"))
    if count > len(positional) and "*" not in kinds:
        return False
    if not names <= known and "**" not in kinds:
        return False
    return known - frozenset(positional[:count]) <= names | defaults


def taking(
    interp: Interpreter, func: Phi, args: list[Value], kwargs: dict[str, Value], frame: Frame, place: f.Place
) -> tuple[tuple[Cond, Value], ...]:  # fmt: skip
    """Of several objects that one expression may call those that take the arguments: the others raise TypeError.

    Where none does, what is known of them is not enough.
    """
    refusing = [one for one in func.alternatives if _refuses(interp, one[1], args, kwargs)]
    if not 0 < len(refusing) < len(func.alternatives):
        return func.alternatives
    for cond, leaf in refusing:
        interp.event(REFUSED, "TypeError", frame, place, receiver=leaf)
        if cond is not True and is_symbolic(cond):
            interp.stopped = either(interp.stopped, cond)
    return tuple(one for one in func.alternatives if one not in refusing)


def _refuses(interp: Interpreter, called: Value, args: list[Value], kwargs: dict[str, Value]) -> bool:
    """Whether an object of the program surely takes no such arguments where it is called: ``self.net(x, None)``."""
    if not isinstance(called, Inst):
        return False
    for name in ("__call__", *interp.hooks.runs):
        method = attributes.class_attribute(interp, called.cls, name)
        if isinstance(method, Func):
            own = name not in called.attrs
            return own and fails(method, [called, *args], kwargs, interp.hooks.plain_bases)
    return False
