"""What a name that is only known at run time may stand for: ``getattr(nets, args.arch)``, ``globals()[name]``.

Where the candidates are things of the program, each is followed under the condition that its name is given.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from d9mlint.model import Location
from d9mlint.python.domain.choices import MAX_ALTERNATIVES, MAX_THINGS, choose
from d9mlint.python.domain.conditions import (
    UNKNOWN_DEFAULT,
    Cond,
    Flag,
    both,
    by_default,
    either,
    flag_test,
    negate,
    opaque_test,
)
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.tellable import SOME_NAME
from d9mlint.python.domain.values import (
    ABSENT,
    CALLABLE,
    UNKNOWN,
    Class,
    ClassName,
    Const,
    Dict,
    Dynamic,
    FlagValue,
    Func,
    Inst,
    Module,
    Phi,
    Ref,
    Seq,
    Setting,
    Text,
    Unknown,
    Value,
    alternatives,
)
from d9mlint.python.interpreter import attributes, binding
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import configured, environment, members
from d9mlint.python.interpreter.library.covering import samples
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_BY_NAME = "it is found by a name that is only known at run time"
MEMBER_OF, _ITS_NAME = "it is a member of ", "whose name is only known at run time"
_IN_MODULES = "it is found in one of several modules by a name that is only known at run time"
_BY_KEY = "it is taken out of a table by a key that is only known at run time"
BY_MODULE = "the name of its module is only known at run time"
TARGETS = ("target", "_target_", "class_path", "class", "cls", "class_name")
"""Keys of config files that name what an object is made of."""
_ANY = "?"
"""Stands for the name of a member of a module outside the program."""


def member(interp: Interpreter, holder: Value, name: Value, spelled: str, frame: Frame, place: f.Place) -> Value:
    """The member of a module, class or object that has a name which is not known before the program runs."""
    at = Location(frame.module.path, *place)
    if isinstance(holder, Ref):
        named = configured.of_library(interp, holder, name)
        if len(named) == 1:  # all config files have the same one under this key
            return next(iter(named.values()))
        any_one = f"{holder.name}.{_ANY}"
        effects = interp.knowledge.effects_of(interp.knowledge.canonical(any_one), any_one)
        if any(x.draws or x.orders_data or x.returns for x in effects):
            return Ref(any_one, holder.receiver or holder)
        if holder.receiver is None or isinstance(holder.receiver, Ref):  # a module
            if named:
                return chosen(named, name, spelled, f"{MEMBER_OF}`{holder.name}`, {_ITS_NAME}", at, more=True)
            hides = interp.knowledge.tells(holder.name)  # what rules know nothing of hides nothing that they are about
            return Dynamic(f"{MEMBER_OF}`{holder.name}`, {_ITS_NAME}") if hides else Ref(any_one, holder)
    if isinstance(holder, Dynamic) and holder.reason == BY_MODULE:
        known = configured.named_in_configs(interp, Unknown(name=holder.name), frame, place)
        return known or configured.in_named_files(interp, name, at) or Dynamic(BY_MODULE, name=holder.name)
    if isinstance(holder, Inst) and (kept := members.kept(interp, holder, name)) is not None:
        return kept
    if not isinstance(holder, (Module, Class, Inst, Ref)):
        return Dynamic(_BY_NAME) if type(holder) is Unknown else UNKNOWN
    if isinstance(name, Text) and (hole := members.hole_of(name)) is not None:
        fitting = members.fitting(interp, holder, name)
        return chosen(fitting, hole, called(hole) or spelled, _BY_NAME, at)
    its = members.public(holder)
    key = name.key if isinstance(name, Unknown) else ""
    choices = sorted(interp.knowledge.classes_under(key) & its.keys()) if key else ()
    others = configured.of_library(interp, holder, name)
    return chosen({**others, **its}, name, spelled, _BY_NAME, at, choices=choices)


def chosen(
    options: Mapping[str, Value],
    name: Value,
    spelled: str,
    reason: str,
    location: Location,
    *,
    more: bool = False,
    choices: Iterable[str] = (),
) -> Dynamic:
    """What one of ``options`` by an unknown key is; which of them can be called is seen when it is.

    ``choices`` are what config files have under the name, where it is none of a flag.
    """
    given = name.flag if isinstance(name, FlagValue) else None
    flag = given
    if flag is None:
        spelled = told(spelled) or SOME_NAME
        table = f"{len(options)} from {min(options, default='')}"  # one line reads several tables: two names, then
        flag = Flag(f"{spelled} of {table}", spelled, UNKNOWN_DEFAULT, "value", location, True, tuple(choices))
    elif flag.choices:
        options = {key: value for key, value in options.items() if key in flag.choices}
    found = tuple(
        (both(flag_test(flag, "==", key), cond), leaf)
        for key, value in options.items() for cond, leaf in alternatives(value)
        if leaf is not ABSENT
    )  # fmt: skip
    made = Dynamic(reason, options=found, open=more, by_flag=given is not None)
    made.key = name.key if isinstance(name, Unknown) else ""
    return made


def of_table(
    interp: Interpreter, table: Dict, key: Value, spelled: str, frame: Frame, place: f.Place,
    otherwise: Value | None = None,
) -> Dynamic:  # fmt: skip
    """What a table of functions and classes holds under a key that is not known before the program runs.

    ``otherwise`` is what it is under a key that the table does not have: ``TABLE.get(name, default)``.
    """
    items = {str(name): item for name, item in interp.heap.items(table).items()}
    made = chosen(items, key, spelled, _BY_KEY, Location(frame.module.path, *place), more=table.open)
    if otherwise is not None and made.options:
        none = negate(either(*(cond for cond, _ in made.options)))
        made.options = (*made.options, (none, otherwise))
    return made


def candidates(
    interp: Interpreter, found: Dynamic, args: Sequence[Value], kwargs: Mapping[str, Value], star: bool, frame: Frame
) -> tuple[Value, bool] | None:  # fmt: skip
    """What a call may call, and whether it may call something else, too; None where nothing of it is followed.

    By a name that no flag gives it calls what the config files beside the program name, where they name any, and not
    what is running: a function that looks others up by their names looks up no caller of its own.
    """
    fitting: list[tuple[Cond, Value]] = [
        (cond, value)
        for cond, value in found.options
        if interp.path.truth(cond) is not False
        and not isinstance(value, Const)
        and (star or not binding.fails(value, args, kwargs, interp.hooks.plain_bases))
    ]
    if star:  # what is unpacked there is meant for those that can take it
        roomy = [one for one in fitting if binding.leaves_room(one[1], len(args), interp.hooks.plain_bases)]
        fitting = roomy or fitting
    if not found.by_flag:
        running = {id(one.node) for one in (frame.func, *interp.callers) if one is not None}
        fitting = [one for one in fitting if not (isinstance(one[1], Func) and id(one[1].node) in running)] or fitting
    more, named = found.open, []
    if not found.by_flag and (found.reason != _BY_KEY or len(fitting) > MAX_THINGS):
        named = _in_configs(interp, fitting, found.key)
        fitting, more = named[:MAX_THINGS] or fitting, more or len(named) > MAX_THINGS
    if len(fitting) > MAX_THINGS and (
        found.reason in (_BY_KEY, _IN_MODULES) or any(by_default(cond) for cond, _ in fitting)
    ):
        fitting, cut = samples(interp, fitting, any_files=found.reason == _IN_MODULES)
        more = more or cut
    if not 0 < len(fitting) <= MAX_THINGS:
        return None
    all_name_it = bool(found.key) and len(named) == 1  # all config files have the same class under this key
    only = all_name_it or (len(found.options) == 1 and found.reason != BY_MODULE)  # (which needs no condition)
    return (fitting[0][1] if only else Phi(tuple(fitting))), more


def _in_configs(interp: Interpreter, options: Sequence[tuple[Cond, Value]], key: str) -> list[tuple[Cond, Value]]:
    """Those classes and functions that config files beside the program name under a key."""
    named = interp.knowledge.classes_under(key)
    return [one for one in options if _name_of(one[1]) in named]


def _name_of(value: Value) -> str:
    if isinstance(value, Ref):
        return value.name.rpartition(".")[2]
    return value.node.name if isinstance(value, Class) else value.name if isinstance(value, Func) else ""


def attribute_of_each(interp: Interpreter, found: Dynamic, name: str, frame: Frame, place: f.Place) -> Value | None:
    """What the classes and modules among those that were found hold under a name; None where none of them has it."""
    having: list[tuple[Cond, Value]] = []
    for cond, leaf in found.options:
        if isinstance(leaf, Class):
            value = attributes.class_attribute(interp, leaf, name)
        elif isinstance(leaf, Module) and leaf.frame is not None and name in leaf.frame.vars:
            value = interp.under(cond, partial(attributes.attribute, interp, leaf, name, frame, place))
        else:
            continue
        if value is not None:
            having.append((cond, value))
    if found.by_flag and having and not any(_is_callable(value) for _, value in having):
        return choose([*having, (negate(either(*(cond for cond, _ in having))), UNKNOWN)])
    of_modules = any(isinstance(leaf, Module) for _, leaf in found.options)
    reason = _IN_MODULES if of_modules else found.reason
    return Dynamic(reason, name, tuple(having), found.open, found.by_flag) if having else None


def _is_callable(value: Value) -> bool:
    return any(isinstance(leaf, (*CALLABLE, Class, Module, Dynamic)) for _, leaf in alternatives(value))


def class_name(holder: Value, key: Value) -> Value | None:
    """The name of a class that a part of a configuration holds under a key; None where it is none."""
    if not isinstance(key, Const) or key.value not in TARGETS or not isinstance(holder, (Ref, Unknown)):
        return None
    name = holder.name or (holder.key if isinstance(holder, Unknown) else "")
    return ClassName(name=name) if name else None


def _split(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``module, cls = config["target"].rsplit(".", 1)``: either part is still found under the same key."""
    return Seq("list", None, event.receiver) if isinstance(event.receiver, ClassName) else None


def names_of(holder: Value) -> Value:
    """``vars(module)``; the names of a module of the program stand for the module."""
    return Ref(f"{holder.name}.__dict__", holder.receiver) if isinstance(holder, Ref) else holder


def of_module(interp: Interpreter, holder: Module, key: Value, spelled: str, frame: Frame, place: f.Place) -> Value:
    """``globals()[key]``, ``module.__dict__[key]``."""
    if isinstance(key, Const) and isinstance(key.value, str):
        return attributes.attribute(interp, holder, key.value, frame, place)
    return member(interp, holder, key, spelled, frame, place)


def _getattr(interp: Interpreter, event: Event, frame: Frame) -> Value:
    if len(event.args) < 2:
        environment.escape(interp, environment.first(event))
        return UNKNOWN
    names = alternatives(event.args[1])
    return choose(
        [(cond, interp.under(cond, partial(_named, interp, event, name, frame)) or ABSENT) for cond, name in names]
    )


def _named(interp: Interpreter, event: Event, name: Value, frame: Frame) -> Value:
    """What ``getattr`` gives for one name."""
    place, holder = environment.place_of(event), event.args[0]
    if not isinstance(name, Const) or not isinstance(name.value, str):
        environment.escape(interp, holder)
        leaves = alternatives(holder)
        several = [(cond, member(interp, leaf, name, called(name), frame, place)) for cond, leaf in leaves]
        if interp.trials and len(several) == 1 and len(event.args) == 2 and isinstance(holder, Module):
            interp.stopped = either(interp.stopped, _without(several[0][1]))
        return _of_many(interp, several)
    found = attributes.attribute(interp, holder, name.value, frame, place)
    if isinstance(found, Unknown) and not found.origins and len(event.args) > 2:
        exists = opaque_test(("getattr", interp.serial(event), name.value), "the attribute exists")
        return choose([(exists, found), (True, UNKNOWN)])
    return found


def _without(found: Value) -> Cond:
    """The condition under which a module holds nothing under a name that a flag gives: AttributeError is raised."""
    if not isinstance(found, Dynamic) or not found.by_flag or found.open:
        return False
    return negate(either(*(cond for cond, _ in found.options)))


def _of_many(interp: Interpreter, found: Sequence[tuple[Cond, Value]]) -> Value:
    """What several modules hold under one name.

    Of more modules than are told apart, or where config files name some of it, all that they hold together, each once.
    """
    dynamic = [(cond, one) for cond, one in found if isinstance(one, Dynamic) and one.options]
    named = any(not one.by_flag and _in_configs(interp, one.options, one.key) for _, one in dynamic)
    if not dynamic or not len(found) > 1 or (len(found) <= MAX_ALTERNATIVES and not named):
        return choose(found)
    options: dict[int, tuple[Cond, Value]] = {}
    for cond, one in dynamic:
        for inner, leaf in one.options:
            before = options[id(leaf)][0] if id(leaf) in options else False
            options[id(leaf)] = (either(before, both(cond, inner)), leaf)
    by_flag = any(one.by_flag for _, one in dynamic)
    open_ = not all(isinstance(one, Dynamic) and one.reason != BY_MODULE and not one.open for _, one in found)
    made = Dynamic(_IN_MODULES, options=tuple(options.values()), open=open_, by_flag=by_flag)
    made.key = dynamic[0][1].key
    return made


def called(value: Value) -> str:
    """What the program calls a value that is not known; empty where it has no name for it."""
    return value.spelled if isinstance(value, Setting) else value.name if isinstance(value, Unknown) else ""


def told(name: str) -> str:
    """The name of a value in a condition: a variable of the code as code, as nobody sets it like a setting or flag."""
    return f"`{name}`" if name.isidentifier() else name


def _globals(interp: Interpreter, event: Event, frame: Frame) -> Value:
    return frame.module


TRANSFER: dict[str, Transfer] = {
    "builtins.getattr": _getattr, "builtins.globals": _globals,
    **dict.fromkeys(("?.split", "?.rsplit", "?.partition", "?.rpartition"), _split),
}  # fmt: skip
