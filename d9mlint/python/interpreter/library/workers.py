"""Threads and processes that are classes of the program: ``start`` runs their ``run``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import Bound, Func, Inst, Value
from d9mlint.python.interpreter import attributes, callbacks
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import environment

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_RUN = "run"


def _starts(context: str) -> Transfer:
    def start(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
        worker = event.receiver
        if not isinstance(worker, Inst) or interp.noted(("ran", id(worker), _RUN)) is not None:
            return None
        method = attributes.class_attribute(interp, worker.cls, _RUN)
        if isinstance(method, Func):
            interp.note(("ran", id(worker), _RUN), worker)
            where = environment.invocation_context(interp, event, context)
            callbacks.run_in(interp, Bound(method, worker), frame, environment.place_of(event), where)
        return None

    return start


TRANSFER: dict[str, Transfer] = {
    "threading.Thread.start": _starts("thread"), "multiprocessing.Process.start": _starts("process"),
}  # fmt: skip
