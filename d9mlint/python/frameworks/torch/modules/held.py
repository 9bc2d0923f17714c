"""Networks of the program that something of PyTorch holds: they run where that is called, or at the end."""

from __future__ import annotations

from typing import TYPE_CHECKING

from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import Inst, Value, alternatives

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

RUNS = ("__call__", "forward")
"""Methods that run a network."""


def hold(
    interp: Interpreter, kind: str, value: Value | None, event: Event, frame: Frame,
    types: tuple[type[Value], ...] = (Inst,),
) -> bool:  # fmt: skip
    """Remembers what is held of the program, by the ``kind`` of holder, until the end; whether there is any."""
    held = [leaf for _, leaf in alternatives(value) if isinstance(leaf, types)]
    for leaf in held:
        interp.note((kind, id(leaf)), (leaf, event, frame))
    return bool(held)
