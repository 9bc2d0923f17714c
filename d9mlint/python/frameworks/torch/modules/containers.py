"""Modules that only hold others: what a ``ModuleList``, ``ModuleDict`` or ``Sequential`` holds runs where it is called.

What the program puts in later (``append``, ``add_module``, ``blocks["head"] = Head()``) is held like what they are made
of (torch/nn/modules/container.py). A class of the program that is derived from one of them holds modules likewise.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from d9mlint.python.domain.choices import choose
from d9mlint.python.domain.conditions import Cond, both
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import (
    ABSENT,
    NONE,
    UNKNOWN,
    Const,
    Dict,
    Func,
    Inst,
    Obj,
    Ref,
    Seq,
    Value,
    alternatives,
)
from d9mlint.python.frameworks.torch.modules.held import RUNS, hold
from d9mlint.python.frameworks.torch.modules.members import add_member
from d9mlint.python.interpreter import attributes, callbacks, calls
from d9mlint.python.interpreter.library import environment
from d9mlint.python.interpreter.library.containers import mappings
from d9mlint.python.interpreter.library.containers.sequences import CONTENTS, contents

if TYPE_CHECKING:
    from d9mlint.python.interpreter.hooks import Transfer
    from d9mlint.python.interpreter.interpreter import Interpreter

_LIST, _DICT, _SEQUENTIAL = "torch.nn.ModuleList", "torch.nn.ModuleDict", "torch.nn.Sequential"
_ALL = (_LIST, _DICT, _SEQUENTIAL)
MODULES = frozenset({"torch.nn.Module", *_ALL})
"""Classes that networks of a program are derived from."""
_CONTAINERS = (f"{_LIST}()", f"{_SEQUENTIAL}()")
_CONTAINED = "contained"
"""The key of notes: objects of the program that a container holds, by their ``id``."""


def item(holder: Value, index: Value) -> Value | None:
    """One of the modules that a container holds: ``blocks[-1]``; where nobody knows which, one of the program's own."""
    listed = contents(holder)
    if not isinstance(listed, Seq):
        return None
    if listed.items is None:
        return listed.element
    number = index.value if isinstance(index, Const) and isinstance(index.value, int) else None
    if number is not None:
        return listed.items[number] if -len(listed.items) <= number < len(listed.items) else None
    own = (one for one in listed.items if any(isinstance(leaf, Inst) for _, leaf in alternatives(one)))
    return next(own, listed.items[0] if listed.items else None)


def part(holder: Value) -> Value | None:
    """The container that a slice of one makes, ``features[:4]``: with all its modules, as if it were the whole."""
    if not isinstance(holder, Obj) or holder.type not in _CONTAINERS:
        return None
    made = Obj(holder.type, holder.event)
    made.attrs.update(holder.attrs)
    return made


def _make(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """A container with what it is given; what it holds of the program's own runs where it is called, or at the end."""
    made = environment.result_of(interp, event)
    if not isinstance(made, Obj):
        return None
    given = _given(interp, event, frame, event.name, list(event.args))
    if isinstance(given, Dict):  # `self.parts.head(x)` as well as `self.parts["head"](x)`
        made.attrs.update({key: value for key, value in given.items.items() if isinstance(key, str)})
    made.attrs[CONTENTS] = given
    return made


def _make_own(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """The constructor of the container that a class of the program is derived from."""
    own, args = environment.bound(event)
    if not isinstance(own, Inst):
        return None
    given = _given(interp, event, frame, event.name.removesuffix(".__init__"), args)
    interp.heap.set(own, CONTENTS, True, given)
    return NONE


def _given(interp: Interpreter, event: Event, frame: Frame, kind: str, args: list[Value]) -> Value:
    """What a container of a kind is made of."""
    found: Value = _listed(kind, args, event.star)
    if kind == _DICT:
        found = Dict({})
        if args:
            mappings.merge(interp, found, args[0])
    for module in _all(found):
        hold(interp, _CONTAINED, module, event, frame)
    return found


def _listed(kind: str, args: list[Value], star: bool) -> Seq:
    """The modules of a list or a sequence, in order."""
    if kind == _SEQUENTIAL and star and len(args) == 1:
        return Seq("list", None, args[0])  # `Sequential(*(Block() for _ in range(n)))`
    if len(args) == 1 and isinstance(args[0], Seq):
        given = args[0]
        return Seq("list", None if given.items is None else list(given.items), given.element)
    if len(args) == 1 and isinstance(args[0], Dict):  # `Sequential(OrderedDict(...))`
        return Seq("list", list(args[0].items.values()))
    return Seq("list", args) if kind == _SEQUENTIAL or not args else Seq("list", None, UNKNOWN)


def _all(inside: Value | None) -> list[Value]:
    if isinstance(inside, Dict):
        return list(inside.items.values())
    if isinstance(inside, Seq):
        return [*(inside.items or ()), *((inside.element,) if inside.element is not None else ())]
    return []


def _add(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``blocks.append(Block())`` and its like."""
    own, args = environment.bound(event)
    inside = contents(own)
    if not isinstance(inside, Seq) or not args:
        return None
    added = args[-1]  # `add_module(name, module)`, `insert(index, module)`
    method = "extend" if event.name.endswith(("extend", "__iadd__")) else "append"
    calls.call(interp, Ref(f"builtins.list.{method}", inside), [added], {}, frame, environment.place_of(event))
    for module in _all(added) if isinstance(added, Seq) else [added]:
        hold(interp, _CONTAINED, module, event, frame)
    if isinstance(own, Inst) and len(args) == 2:
        add_member(interp, own, args[0], args[1], frame, environment.place_of(event))
    return own


def _add_by_name(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``add_module`` of any module of the program."""
    own, args = environment.bound(event)
    if not isinstance(own, Inst) or len(args) != 2:
        return None
    if not add_member(interp, own, args[0], args[1], frame, environment.place_of(event)):
        return None
    hold(interp, _CONTAINED, args[1], event, frame)
    return NONE


def _children(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``self.children()``: of a list or a row of modules those, of another one its attributes that are modules."""
    own = environment.bound(event)[0]
    if (inside := contents(own)) is not None or not isinstance(own, Inst):
        return inside
    for name, value in own.attrs.items():
        interp.heap.read(own, name, value)
    held = [interp.resolve(value) for value in own.attrs.values()]
    parts = [one for one in held if any(_is_module(interp, leaf) for _, leaf in alternatives(one))]
    return Seq("list", parts) if parts else None


def _is_module(interp: Interpreter, value: Value) -> bool:
    if isinstance(value, Inst):
        return not interp.hooks.network_bases.isdisjoint(value.cls.external())
    return isinstance(value, Obj) and value.type.startswith(interp.hooks.layers)


def _look(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``heads.items()``, ``heads.values()`` and their like, of what a ``ModuleDict`` holds."""
    inside = contents(event.receiver)
    if not isinstance(inside, Dict):
        return None
    method = Ref(f"builtins.dict.{event.name.rpartition('.')[2]}", inside)
    return calls.call(interp, method, list(event.args), dict(event.kwargs), frame, environment.place_of(event))


def _run(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """What a ``Sequential`` gives: each module gets what the one before it gave; None where all are of PyTorch."""
    own, args = environment.bound(event)
    inside = contents(own)
    modules = _all(inside) if isinstance(inside, Seq) else []
    if not args or not any(map(_is_followed, modules)):
        return None
    value = args[0]
    for module in modules:
        given: list[tuple[Cond, Value]] = []
        for cond, leaf in alternatives(module):
            run = partial(calls.call, interp, leaf, [value], {}, frame, environment.place_of(event))
            found = value if leaf is ABSENT else interp.under(cond, run)
            if found is not None:
                given.append((cond, found))
        value = choose(given)
    return value


def _is_followed(module: Value) -> bool:
    """Whether a module is of the program, or holds one that is."""
    for _, leaf in alternatives(module):
        if isinstance(leaf, Inst):
            return True
        if isinstance(leaf, Obj) and any(map(_is_followed, _all(contents(leaf)))):
            return True
    return False


def finish(interp: Interpreter) -> None:
    """Runs what containers hold and the program was not seen to call."""
    for module, event, frame in interp.all_noted(_CONTAINED):
        methods = (attributes.class_attribute(interp, module.cls, name) for name in RUNS)
        if any(isinstance(method, Func) and id(method.node) in interp.entered for method in methods):
            continue
        run = partial(callbacks.run_protocol, interp, module, frame, environment.place_of(event))
        interp.under(both(*event.guards), run)


TRANSFER: Mapping[str, Transfer] = {
    **dict.fromkeys(_ALL, _make),
    **{f"{name}.__init__": _make_own for name in _ALL},
    **{
        f"{name}.{method}": _add
        for name in (*_CONTAINERS, _LIST, _SEQUENTIAL)
        for method in ("append", "extend", "insert", "add_module", "register_module", "__iadd__")
    },
    **{f"torch.nn.Module.{method}": _add_by_name for method in ("add_module", "register_module")},
    **{f"{name}.children": _children for name in (*_CONTAINERS, _LIST, _SEQUENTIAL, "torch.nn.Module")},
    **{f"{_DICT}().{method}": _look for method in ("items", "values", "keys", "get")},
    **{f"{name}.{method}": _run for name in (_SEQUENTIAL, f"{_SEQUENTIAL}()") for method in RUNS},
}
