"""Modules that only hold others: what a ``ModuleList``, ``ModuleDict`` or ``Sequential`` holds runs where it is called.

What the program puts in later (``append``, ``add_module``, ``blocks["head"] = Head()``) is held like what they are made
of (torch/nn/modules/container.py).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import TYPE_CHECKING

from d9mlint.python.domain.conditions import both
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import ABSENT, UNKNOWN, Const, Dict, Func, Inst, Obj, Ref, Seq, Value, alternatives
from d9mlint.python.interpreter import attributes, callbacks, calls
from d9mlint.python.interpreter.library import environment
from d9mlint.python.interpreter.library.containers import mappings
from d9mlint.python.interpreter.library.containers.sequences import CONTENTS, contents

if TYPE_CHECKING:
    from d9mlint.python.interpreter.hooks import Transfer
    from d9mlint.python.interpreter.interpreter import Interpreter

_LIST, _DICT, _SEQUENTIAL = "torch.nn.ModuleList", "torch.nn.ModuleDict", "torch.nn.Sequential"
_CONTAINERS = (f"{_LIST}()", f"{_SEQUENTIAL}()")
_RUNS = ("__call__", "forward")
_CONTAINED = "contained"
"""The key of notes: objects of the program that a container holds, by their ``id``."""


def item(holder: Value, index: Value) -> Value | None:
    """One of the modules that a container holds: ``blocks[-1]``; where nobody knows which, one of the program's own."""
    listed = contents(holder) if isinstance(holder, Obj) and holder.type in _CONTAINERS else None
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
    if event.name == _DICT:
        given = Dict({})
        if (modules := environment.first(event)) is not None:
            mappings.merge(interp, given, modules)
        made.attrs[CONTENTS] = given
    else:
        made.attrs[CONTENTS] = _listed(event)
    _note(interp, event, frame, _all(made.attrs[CONTENTS]))
    return made


def _listed(event: Event) -> Seq:
    """The modules of a list or a sequence, in order."""
    args = list(event.args)
    if event.name == _SEQUENTIAL and event.star and len(args) == 1:
        return Seq("list", None, args[0])  # `Sequential(*(Block() for _ in range(n)))`
    if len(args) == 1 and isinstance(args[0], Seq):
        given = args[0]
        return Seq("list", None if given.items is None else list(given.items), given.element)
    if len(args) == 1 and isinstance(args[0], Dict):  # `Sequential(OrderedDict(...))`
        return Seq("list", list(args[0].items.values()))
    return Seq("list", args) if event.name == _SEQUENTIAL or not args else Seq("list", None, UNKNOWN)


def _note(interp: Interpreter, event: Event, frame: Frame, modules: Iterable[Value]) -> None:
    """Remembers the objects of the program that a container holds: what never calls them may all the same."""
    for module in modules:
        for _, leaf in alternatives(module):
            if isinstance(leaf, Inst):
                interp.note((_CONTAINED, id(leaf)), (leaf, event, frame))


def _all(inside: Value | None) -> list[Value]:
    if isinstance(inside, Dict):
        return list(inside.items.values())
    if isinstance(inside, Seq):
        return [*(inside.items or ()), *((inside.element,) if inside.element is not None else ())]
    return []


def _add(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``blocks.append(Block())`` and its like."""
    inside = contents(event.receiver)
    if not isinstance(inside, Seq) or not event.args:
        return None
    added = event.args[-1]  # `add_module(name, module)`, `insert(index, module)`
    method = "extend" if event.name.endswith(("extend", "__iadd__")) else "append"
    calls.call(interp, Ref(f"builtins.list.{method}", inside), [added], {}, frame, environment.place_of(event))
    _note(interp, event, frame, _all(added) if isinstance(added, Seq) else [added])
    return event.receiver


def _look(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``heads.items()``, ``heads.values()`` and their like, of what a ``ModuleDict`` holds."""
    inside = contents(event.receiver)
    if not isinstance(inside, Dict):
        return None
    method = Ref(f"builtins.dict.{event.name.rpartition('.')[2]}", inside)
    return calls.call(interp, method, list(event.args), dict(event.kwargs), frame, environment.place_of(event))


def _run(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """What a ``Sequential`` gives: each module gets what the one before it gave; None where all are of PyTorch."""
    inside = contents(event.receiver)
    modules = _all(inside) if isinstance(inside, Seq) else []
    if not event.args or not any(map(_is_followed, modules)):
        return None
    value = event.args[0]
    for module in modules:
        for cond, leaf in alternatives(module):
            if leaf is not ABSENT:
                run = partial(calls.call, interp, leaf, [value], {}, frame, environment.place_of(event))
                found = interp.under(cond, run)
                value = value if found is None else found
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
        methods = (attributes.class_attribute(interp, module.cls, name) for name in _RUNS)
        if any(isinstance(method, Func) and id(method.node) in interp.entered for method in methods):
            continue
        run = partial(callbacks.run_protocol, interp, module, frame, environment.place_of(event))
        interp.under(both(*event.guards), run)


TRANSFER: Mapping[str, Transfer] = {
    **dict.fromkeys((_LIST, _DICT, _SEQUENTIAL), _make),
    **{
        f"{name}.{method}": _add
        for name in _CONTAINERS
        for method in ("append", "extend", "insert", "add_module", "register_module", "__iadd__")
    },
    **{f"{_DICT}().{method}": _look for method in ("items", "values", "keys", "get")},
    **{f"{_SEQUENTIAL}().{method}": _run for method in _RUNS},
}
