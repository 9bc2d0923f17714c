"""Threads and processes that are classes of the program (``start`` runs their ``run``), and the tasks of joblib."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import Bound, Const, Func, Inst, Partial, Ref, Value
from d9mlint.python.interpreter import attributes, callbacks, calls
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import environment

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

THREAD, _PROCESS = "threading.Thread.start", "multiprocessing.Process.start"
_RUN = "run"
TASK = "joblib.delayed.task"
"""What a function that is ``delayed`` is called by, in whatever worker."""
_POOL = "joblib.Parallel"
_JOBS = Argument(0, "n_jobs")
_IN_THREADS = ("threading", "threads", "sharedmem")
"""What `backend`, `prefer` and `require` of joblib's ``Parallel`` ask threads by."""


def class_started(event: Event) -> str:
    """The name of the class of the program whose ``run`` a call starts as a thread or a process; empty for others."""
    worker = event.receiver if event.name in (THREAD, _PROCESS) else None
    return worker.cls.node.name if isinstance(worker, Inst) else ""


@contextmanager
def elsewhere(interp: Interpreter, process: str) -> Iterator[None]:
    """Runs what a process of its own runs, which has a name: nothing that holds where it is called holds there.

    It is handed functions and classes of the file that the program starts with as they are, and imports all others.
    """
    contexts, loader = interp.contexts, interp.loader
    named = f"{environment.NAMED_PROCESS}{process}"
    interp.contexts, interp.loader = [environment.SPAWNED, environment.PICKLED, named], None
    try:
        yield
    finally:
        interp.contexts, interp.loader = contexts, loader


def process_of(event: Event) -> str:
    """The name of the process that an event happens in; empty for that of the program, and where it has no name.

    What a loader of data calls later on happens in the process that has made the loader.
    """
    made = event.loader.contexts if event.loader is not None else ()
    prefix = environment.NAMED_PROCESS
    named = (one.removeprefix(prefix) for one in (*event.contexts, *made) if one.startswith(prefix))
    return next(named, "")


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


def _delayed(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``joblib.delayed(work)``: what is given to it later is what the function is called with by a worker."""
    return Partial(Ref(TASK), (environment.first(event),), {})


def _task(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``delayed(work)(item)``: by the workers of the pool that was made last."""
    contexts = _contexts(next(reversed(list(interp.story.calls(_POOL))), None))
    interp.contexts += contexts
    try:
        return calls.call(
            interp,
            event.args[0],
            list(event.args[1:]),
            event.kwargs,
            frame,
            environment.place_of(event),
            star=event.star,
        )
    finally:
        del interp.contexts[len(interp.contexts) - len(contexts) :]


def _contexts(pool: Event | None) -> tuple[str, ...]:
    """Where the workers of a pool of joblib run: nowhere else where it has one (the default)."""
    jobs = pool.argument(_JOBS) if pool is not None else None
    if pool is None or jobs is None or (isinstance(jobs, Const) and jobs.value in (None, 1)):
        return ()
    if any(isinstance(value, Const) and value.value in _IN_THREADS for value in pool.kwargs.values()):
        return ("thread",)
    # Processes of loky get functions of the program's own file as they are, and import the modules of all others.
    return (environment.SPAWNED, environment.PICKLED)


TRANSFER: dict[str, Transfer] = {
    "joblib.delayed": _delayed, TASK: _task,
    THREAD: _starts("thread"), _PROCESS: _starts("process"),
}  # fmt: skip
