"""Sessions of TensorFlow 1: those that take up checkpoints by themselves, and what only gives variables their start."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import Argument, Location
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Ref, Seq, Unknown, Value, alternatives
from d9mlint.python.interpreter.program import Program, is_none
from d9mlint.python.interpreter.provenance import Makers, made_of, results

NEWEST = {
    "tensorflow.train.latest_checkpoint": Argument(0, "checkpoint_dir"),
    "tensorflow.train.get_checkpoint_state": Argument(0, "checkpoint_dir"),
}
"""Calls that find the newest checkpoint of a folder, and where it is given."""
SUPERVISED = {
    "tensorflow.train.MonitoredTrainingSession": Argument(2, "checkpoint_dir"),
    "tensorflow.train.Supervisor": Argument(7, "logdir"),
    "tensorflow.contrib.slim.learning.train": Argument(1, "logdir"),
    "tensorflow.contrib.training.train": Argument(1, "logdir"),
    "tensorflow.contrib.gan.gan_train": Argument(1, "logdir"),
}
"""Calls that restore the newest checkpoint of a folder and save there themselves.

Sources: TensorFlow 1.15, monitored_session.py (MonitoredTrainingSession), supervisor.py, session_manager.py
(``prepare_session``), contrib/slim/python/slim/learning.py, contrib/training/python/training/training.py.
"""
RESTORING = {
    "tensorflow.train.SingularMonitoredSession": Argument(4, "checkpoint_dir"),
    "tensorflow.train.ChiefSessionCreator": Argument(3, "checkpoint_dir"),
}
"""Calls that restore the newest checkpoint of a folder, where a hook saves if anything does (monitored_session.py)."""
SAVING_HOOK = "tensorflow.train.CheckpointSaverHook"
_SAVER = Argument(9, "saver")
"""Of a Supervisor what saves and restores: by default one of its own, None for nothing (supervisor.py)."""
NEW_GRAPH = ("tensorflow.Graph.as_default", "tensorflow.reset_default_graph", "keras.backend.clear_session")
"""Calls after which another graph is the default one, with no seed."""
_VARIABLES = ("tensorflow.Variable", "tensorflow.get_variable")
_STEP = "global_step"
_COUNTS = tuple(
    f"tensorflow.{module}.{verb}_global_step"
    for module in ("train", "contrib.framework", "contrib.slim")
    for verb in ("get_or_create", "create")
)
"""Calls that make the variable of this name."""
_NAMES = {_VARIABLES[0]: Argument(3, "name"), _VARIABLES[1]: Argument(0, "name")}
_DEPTH = 6
_RESTORE = "tensorflow.train.Saver().restore"
_INITIALIZES = re.compile(r"(?i).*(variables_initializer|initialize_|initializer\.run|[._]init(ialize)?$).*")
"""Names of calls that run initializers of variables, or may."""
_MANAGED = (
    "keras.models.", "keras.Model.", "keras.Sequential", "keras.backend.", "tensorflow.estimator.",
    "tensorflow.contrib.learn.", "tensorflow.contrib.tpu.", "tensorflow.train.SessionManager",
    "tensorflow.train.SingularMonitoredSession", "tensorflow.train.MonitoredSession", "tensorflow.train.ChiefSession",
    "horovod.",
)  # fmt: skip
"""Calls by which variables get their first values without a word."""


def own_graph(program: Program, draw: Event) -> Event | None:
    """The call that made the graph the default one in which a random op is made; None for the first graph of all."""
    if not draw.inside("graph"):
        return None
    made = [e for e in program.calls(NEW_GRAPH[0]) if e.index < draw.index and e.meets(draw)]
    return made[-1] if made else None


def reset_before(program: Program, draw: Event) -> Event | None:
    """The last call that makes a new graph before a random op is made in the default one; None for no such call."""
    if draw.inside("graph"):
        return None
    made = [e for e in program.calls(NEW_GRAPH[1]) if e.index < draw.index and e.meets(draw) and not e.detached]
    return made[-1] if made else None


def takes_up(program: Program) -> Iterator[Event]:
    """The sessions that go on from a checkpoint by themselves: those that are given a folder."""
    for event in program.calls(*SUPERVISED):
        folder = event.argument(SUPERVISED[event.name])
        if not event.detached and folder is not None and is_none(folder) is not True and restores(event):
            yield event


def restores(session: Event) -> bool:
    """Whether a session has what restores variables: a Supervisor is made without by ``saver=None``."""
    saver = session.argument(_SAVER) if session.name.endswith(".Supervisor") else None
    return saver is None or is_none(saver) is not True


def counts_steps(program: Program) -> bool:
    """Whether the graph has a variable `global_step`, which a saver keeps; else the number is in a file's name at most.

    ``Saver.save(..., global_step=step)`` only puts the number into the name (TensorFlow 1.15, training/saver.py).
    """
    named = ((e, e.argument(_NAMES[e.name])) for e in program.calls(*_NAMES))
    own = any(isinstance(name, Const) and name.value == _STEP and not e.detached for e, name in named)
    return own or any(not e.detached for e in (*program.calls(*_COUNTS), *program.calls(*SUPERVISED)))


def initial_values(program: Program) -> frozenset[int]:
    """The ``id`` of each call whose result only is the first value of a variable: a graph draws it once."""
    return program.once("initial-values", _initial_values)


def _initial_values(program: Program) -> frozenset[int]:
    makers = results(program)
    made = list(program.calls(*_VARIABLES))
    found = {id(e) for one in made for value in (*one.args, *one.kwargs.values()) for e in _within(value, makers)}
    spans = [one.location for one in made]
    drawn = (e for e in program.events if e.kind == "call" and any(effect.draws for effect in e.effects))
    return frozenset(found.union(id(e) for e in drawn if any(_encloses(span, e.location) for span in spans)))


def only_restored(program: Program) -> bool:
    """Whether variables get their values from checkpoints alone: one is restored, and no initializer is ever run."""
    return program.once("only-restored", _only_restored)


def _only_restored(program: Program) -> bool:
    if all(event.detached for event in program.calls(_RESTORE)):
        return False
    for event in program.events:
        if event.kind not in ("call", "unresolved"):
            continue
        if event.name in SUPERVISED or event.name.startswith(_MANAGED) or _INITIALIZES.fullmatch(event.name):
            return False
        if event.name.endswith(".run") and any(map(_may_initialize, event.args[:1])):
            return False
    return True


def _may_initialize(fetched: Value) -> bool:
    """Whether a session is asked for the `initializer` of a variable, or for a list that may hold one."""
    for _, leaf in alternatives(fetched):
        if isinstance(leaf, Seq) and (leaf.items is None or any(map(_may_initialize, leaf.items))):
            return True
        if isinstance(leaf, (Ref, Unknown)) and leaf.name.endswith("initializer"):
            return True
    return False


def _within(value: Value, makers: Makers, depth: int = _DEPTH) -> Iterator[Event]:
    for made in made_of(value, makers):
        yield made
        for one in made.args if depth else ():
            yield from _within(one, makers, depth - 1)


def _encloses(outer: Location, inner: Location) -> bool:
    """Whether a call stands among the arguments of another."""
    begins = (outer.line, outer.column) < (inner.line, inner.column)
    ends = (inner.end_line, inner.end_column) < (outer.end_line, outer.end_column)
    return outer.path == inner.path and begins and ends
