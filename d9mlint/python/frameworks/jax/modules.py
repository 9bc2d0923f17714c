"""Modules of Flax (linen): ``init`` and ``apply`` of the program's own classes run their methods.

Sources: flax/linen/module.py (``Module.init``, ``Module.apply``, ``Module.init_with_output``).
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import Bound, Const, Func, Inst, Value, alternatives
from d9mlint.python.interpreter import attributes, calls
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import environment
from d9mlint.python.interpreter.scopes import within

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

INITIALIZING = "flax-init"
"""The context of ``init``: it gives the parameters, made from the keys that it is handed, and drops the results."""
_BASE, _FORWARD = "flax.linen.", "__call__"
_OF_FLAX = ("rngs", "mutable", "method", "capture_intermediates", "variables")
"""Arguments that are no arguments of the method."""


def only_initializes(event: Event) -> bool:
    """Whether a call in the forward pass of a module is made while it is initialized, so that its result is dropped.

    So is that of a pass which nothing is seen to call: a key of its own is what the pass falls back on where ``init``
    hands it none.
    """
    if not event.detached:
        return event.inside(INITIALIZING)
    return any(map(_is_forward, (*event.callers, event.func)))


def _is_forward(func: Func | None) -> bool:
    if func is None or func.owner is None or getattr(func.node, "name", "") != _FORWARD:
        return False
    return any(base.startswith(_BASE) for base in func.owner.external())


def _set_up(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """Flax calls ``setup`` of a module before the first of its methods."""
    for _, made in alternatives(event.receiver):
        method = attributes.class_attribute(interp, made.cls, "setup") if isinstance(made, Inst) else None
        if isinstance(method, Func):
            calls.call(interp, Bound(method, made), [], {}, frame, environment.place_of(event))
    return None


def _initialized(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    return within(interp, INITIALIZING, partial(_applied, interp, event, frame))


def _applied(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """The first argument is the keys or the weights; ``method`` names another method than ``__call__``."""
    args = list(event.args[1:]) if event.args and not event.star else list(event.args)
    kwargs = {name: value for name, value in event.kwargs.items() if name not in _OF_FLAX}
    named = [_method(interp, made, event.kwargs.get("method")) for _, made in alternatives(event.receiver)]
    methods = [method for method in named if method is not None]
    if not methods or len(methods) < len(named):
        return None  # it runs whatever methods there are
    for method in methods:
        calls.call(interp, method, args, kwargs, frame, environment.place_of(event), event.star)
    for value in (*event.args, *event.kwargs.values()):
        environment.escape(interp, value)
    return environment.result_of(interp, event)


def _method(interp: Interpreter, made: Value, named: Value | None) -> Bound | None:
    if not isinstance(made, Inst):
        return None
    if isinstance(named, Bound):
        return Bound(named.func, made) if isinstance(named.func, Func) else None
    if isinstance(named, Func):
        return Bound(named, made)
    name = named.value if isinstance(named, Const) and isinstance(named.value, str) else _FORWARD
    found = attributes.class_attribute(interp, made.cls, name)
    return Bound(found, made) if isinstance(found, Func) else None


TRANSFER: dict[str, Transfer] = {
    "flax.linen.Module.__init__": _set_up,
    "flax.linen.Module.init": _initialized,
    "flax.linen.Module.init_with_output": _initialized,
    "flax.linen.Module.apply": _applied,
}
