"""Networks inside of others that only spread them over devices: to call ``DataParallel(net)`` is to call ``net``."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import TYPE_CHECKING

from d9mlint.model import Argument
from d9mlint.python.domain.conditions import both
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import UNKNOWN, Const, Inst, Obj, Seq, Value, alternatives
from d9mlint.python.interpreter import callbacks, calls
from d9mlint.python.interpreter.library.environment import first, place_of

if TYPE_CHECKING:
    from d9mlint.python.interpreter.hooks import Transfer
    from d9mlint.python.interpreter.interpreter import Interpreter

_WRAPPERS = (
    "torch.nn.DataParallel", "torch.nn.parallel.DataParallel", "torch.nn.parallel.DistributedDataParallel",
    "torch.nn.parallel.distributed.DistributedDataParallel", "torch.distributed.fsdp.FullyShardedDataParallel",
    "apex.parallel.DistributedDataParallel", "apex.parallel.distributed.DistributedDataParallel",
)  # fmt: skip
_MODULE = "module"
"""The attribute under which each of them keeps the network."""
_HELD = "wrapped"
"""The key of notes: networks that are held so, by the ``id`` of their objects."""


_ENGINE = "deepspeed.DeepSpeedEngine"
_MODEL = Argument(1, "model")
_RUNS = ("__call__", "forward")


def _wrap(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """The wrapper around a network of the program; it runs where it is called, or at the end of the program."""
    network = event.kwargs.get(_MODULE, first(event))
    if network is None or not _hold(interp, event, frame, network):
        return None
    made = Obj(f"{event.name}()", event)
    made.attrs[_MODULE] = network
    return made


def _engine(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """DeepSpeed's engine, which is called like the network in it, and optimizer, loader and schedule beside it."""
    network = event.argument(_MODEL)
    made = Obj(_ENGINE, event)
    if network is not None:
        _hold(interp, event, frame, network)
        made.attrs[_MODULE] = network
    return Seq("tuple", [made, UNKNOWN, UNKNOWN, UNKNOWN])


def _hold(interp: Interpreter, event: Event, frame: Frame, network: Value) -> bool:
    """Remembers the networks of the program that are held; whether there are any."""
    held = [leaf for _, leaf in alternatives(network) if isinstance(leaf, Inst)]
    for leaf in held:
        interp.note((_HELD, id(leaf)), (leaf, event, frame))
    return bool(held)


def _call(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """What the network gives for the same arguments."""
    network = event.receiver.attrs.get(_MODULE) if isinstance(event.receiver, Obj) else None
    if network is None:
        return None
    for _, leaf in alternatives(network):
        if isinstance(leaf, Inst):
            interp.note(("ran", id(leaf), "forward"), leaf)
    return calls.call(interp, network, list(event.args), dict(event.kwargs), frame, place_of(event), event.star)


TRANSFER: Mapping[str, Transfer] = {
    **dict.fromkeys(_WRAPPERS, _wrap),
    "deepspeed.initialize": _engine,
    **{f"{name}.{method}": _call for name in (*(f"{one}()" for one in _WRAPPERS), _ENGINE) for method in _RUNS},
}


def finish(interp: Interpreter) -> None:
    """Runs the networks that the program hands to something outside, wrapped, and that it does not call itself."""
    for network, event, frame in interp.all_noted(_HELD):
        run = partial(callbacks.run_protocol, interp, network, frame, place_of(event))
        interp.under(both(*event.guards), run)


def item(holder: Value, index: Value) -> Value | None:
    """One of the modules that a container was made of: ``blocks[-1]``; of many alike one stands for all."""
    made = holder.event if isinstance(holder, Obj) and holder.type in _CONTAINERS else None
    given = made.args if made is not None else ()
    if len(given) == 1 and isinstance(given[0], Seq):
        listed = given[0]
        if listed.items is None:
            return listed.element
        given = tuple(listed.items)
    if len(given) == 1:
        return given[0] if isinstance(given[0], (Inst, Obj)) else None
    number = index.value if isinstance(index, Const) and isinstance(index.value, int) else None
    return given[number] if number is not None and -len(given) <= number < len(given) else None


def part(holder: Value) -> Value | None:
    """The container that a slice of one makes, ``features[:4]``: with all its modules, as if it were the whole."""
    return Obj(holder.type, holder.event) if isinstance(holder, Obj) and holder.type in _CONTAINERS else None


_CONTAINERS = ("torch.nn.Sequential()", "torch.nn.ModuleList()")
