"""Networks inside of others that only spread them over devices or compile them: to call ``DataParallel(net)`` or
``torch.compile(net)`` is to call ``net``."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from d9mlint.model import Argument
from d9mlint.python.domain.conditions import both
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import UNKNOWN, Bound, Func, Inst, Obj, Seq, Value, alternatives
from d9mlint.python.frameworks.torch.modules.held import RUNS, hold
from d9mlint.python.interpreter import callbacks, calls
from d9mlint.python.interpreter.library.environment import bound, first, place_of
from d9mlint.python.interpreter.scopes import within

if TYPE_CHECKING:
    from d9mlint.python.interpreter.hooks import Transfer
    from d9mlint.python.interpreter.interpreter import Interpreter

_WRAPPERS = (
    "torch.nn.DataParallel", "torch.nn.parallel.DistributedDataParallel",
    "torch.distributed.fsdp.FullyShardedDataParallel", "apex.parallel.DistributedDataParallel",
)  # fmt: skip
_SPREADS = re.compile(r"torch\.nn\.DataParallel(\(\))?(\.(__init__|__call__|forward))?")
REPLICAS = "replicas"
"""The context of what ``DataParallel`` runs in a thread for each GPU (torch/nn/parallel/parallel_apply.py)."""
_CALLED = (*(f"{name}()" for name in _WRAPPERS), *_WRAPPERS)
"""Objects of the wrappers, and those of classes that a program derives from them."""
_MODULE = "module"
"""The attribute under which each of them keeps the network."""
_HELD = "wrapped"
"""The key of notes: networks that are held so, by the ``id`` of their objects."""


_ENGINE = "deepspeed.DeepSpeedEngine"
_MODEL, _COMPILED_MODEL = Argument(1, "model"), Argument(0, "model")
COMPILE = "torch.compile"
IN_PLACE = "torch.nn.Module.compile"
COMPILED = "torch-compiled"
"""The context of what ``torch.compile`` compiles."""
_ORIGINAL = "_orig_mod"
"""Where the compiled module keeps the network (torch/_dynamo/eval_frame.py, ``OptimizedModule``)."""


def _wrap(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """The wrapper around a network of the program; it runs where it is called, or at the end of the program."""
    network = event.kwargs.get(_MODULE, first(event))
    if network is None or not hold(interp, _HELD, network, event, frame):
        return None
    made = Obj(f"{event.name}()", event)
    made.attrs[_MODULE] = network
    return made


def _wrap_in_own(interp: Interpreter, event: Event, frame: Frame) -> None:
    """Puts the network into an object of a class that the program derives from a wrapper.

    It runs where that is called; what a class calls in a ``forward`` of its own is followed there.
    """
    own, given = bound(event)
    network = event.kwargs.get(_MODULE, given[0] if given else UNKNOWN)
    if not isinstance(own, Inst) or not any(isinstance(leaf, Inst) for _, leaf in alternatives(network)):
        return
    interp.heap.set(own, _MODULE, True, network)
    if not any(method in cls.frame.vars for cls in own.cls.line() for method in RUNS):
        hold(interp, _HELD, network, event, frame)


def _compile(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """What is called like the network or function of the program that was compiled; None where it is another's."""
    network = event.argument(_COMPILED_MODEL)
    if network is None or not hold(interp, _HELD, network, event, frame, (Inst, Func, Bound, Obj)):
        return None
    made = Obj(f"{COMPILE}()", event)
    made.attrs[_ORIGINAL] = network
    return made


def _compile_in_place(interp: Interpreter, event: Event, frame: Frame) -> None:
    """Remembers the classes of networks that are compiled where they are."""
    for _, leaf in alternatives(event.receiver):
        if isinstance(leaf, Inst):
            interp.note((IN_PLACE, id(leaf.cls)), leaf)


def _call_compiled(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """What the network or function gives, in the context of compiled code."""
    return within(interp, COMPILED, partial(_call, interp, event, frame, _ORIGINAL))


def is_compiled(interp: Interpreter, func: Func, decorators: Sequence[tuple[Value, str]]) -> bool:
    """Whether a function is decorated with ``torch.compile``, or that of a network which was compiled in place."""
    if any(name == COMPILE for _, name in decorators):
        return True
    return func.owner is not None and func.name in RUNS and interp.noted((IN_PLACE, id(func.owner))) is not None


def _engine(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """DeepSpeed's engine, which is called like the network in it, and optimizer, loader and schedule beside it."""
    network = event.argument(_MODEL)
    made = Obj(_ENGINE, event)
    if network is not None:
        hold(interp, _HELD, network, event, frame)
        made.attrs[_MODULE] = network
    return Seq("tuple", [made, UNKNOWN, UNKNOWN, UNKNOWN])


def _call(interp: Interpreter, event: Event, frame: Frame, held: str = _MODULE) -> Value | None:
    """What the network gives for the same arguments."""
    holder, given = bound(event)
    network = holder.attrs.get(held) if isinstance(holder, (Inst, Obj)) else None
    if network is None:
        return None
    for _, leaf in alternatives(network):
        if isinstance(leaf, (Inst, Func, Bound)):
            interp.note(("ran", id(leaf), "forward"), leaf)
    run = partial(calls.call, interp, network, given, dict(event.kwargs), frame, place_of(event), event.star)
    return within(interp, REPLICAS, run) if spreads(event) else run()


def spreads(event: Event) -> bool:
    """Whether a call makes or runs a wrapper that moves what it is given to the GPUs (``DataParallel.scatter``)."""
    return _SPREADS.fullmatch(event.name) is not None


TRANSFER: Mapping[str, Transfer] = {
    **dict.fromkeys(_WRAPPERS, _wrap),
    **{f"{name}.__init__": _wrap_in_own for name in _WRAPPERS},
    "deepspeed.initialize": _engine,
    COMPILE: _compile,
    IN_PLACE: _compile_in_place,
    **{f"{COMPILE}().{method}": _call_compiled for method in RUNS},
    **{f"{name}.{method}": _call for name in (*_CALLED, _ENGINE) for method in RUNS},
}


def finish(interp: Interpreter) -> None:
    """Runs what the program hands to something outside, wrapped, and does not call itself."""
    for held, event, frame in interp.all_noted(_HELD):
        if isinstance(held, Inst):
            run = partial(callbacks.run_protocol, interp, held, frame, place_of(event))
        elif isinstance(held, Obj) or interp.noted(("ran", id(held), "forward")) is not None:
            continue
        else:
            run = partial(callbacks.run_later, interp, held, frame, place_of(event))
        context = COMPILED if event.name == COMPILE else REPLICAS if spreads(event) else ""
        run = partial(within, interp, context, run)
        interp.under(both(*event.guards), run)
