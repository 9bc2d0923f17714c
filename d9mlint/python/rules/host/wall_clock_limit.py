"""Training that ends when a time is over, or of which the clock decides what is drawn and saved."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from d9mlint.model import Effect, Related, Rule
from d9mlint.python.domain.conditions import Cond, conjuncts
from d9mlint.python.domain.diagrams import Node
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import CondValue, Const
from d9mlint.python.frameworks.tensorflow.determinism import trainings
from d9mlint.python.frameworks.tensorflow.pipelines import OWN_GENERATORS
from d9mlint.python.frameworks.tensorflow.sessions import NEWEST
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_by
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.files.kept import saved_there
from d9mlint.python.judging.ops import varies
from d9mlint.python.judging.randomness import draws
from d9mlint.python.rules.host._time_limits import given_up
from d9mlint.python.rules.host.leftovers import newest

_SAVES = re.compile(
    r"torch\.save|tensorflow\.train\.(Saver|Checkpoint|CheckpointManager)\(\)\.(save|write)|"
    r"keras\.Model\.(save|save_weights)|keras\.models\.save_model|flax\.training\.checkpoints\.save_checkpoint"
)
_ENDS = "ends by the clock: how many steps are done"
_TRAINS = "goes by the clock: which steps are done"
_DRAWS = "goes by the clock and draws random numbers there: which ones the training draws after that"
_KEEPS = "goes by the clock: the weights of which step are saved"
_WRITES = "goes by the clock: the results of which step are written"
_LEAVES = "leaves a loop by the clock: what it has computed by then"
_THROUGH = "let the loop go through all there is, or end it by a count of turns"
_WHOLE = "whole"
"""How a call writes that makes a file anew, and adds no line to one."""
_COMPUTES = ("torch.", "torchvision.", "tensorflow.", "numpy.", "jax.")
"""How names of calls begin of whose results a loop makes its own."""

_COLLECTS = (".append", ".extend", ".add", ".update", ".put", ".write")
"""How names of calls end by which a loop keeps what it has computed."""
_POLLS = (
    "tensorflow.train.checkpoints_iterator", "tensorflow.contrib.training.checkpoints_iterator",
    "tensorflow.contrib.training.evaluate_repeatedly", "tensorflow.contrib.slim.evaluation.evaluation_loop",
    "tf_slim.evaluation.evaluation_loop",
)  # fmt: skip
"""Calls that wait for the newest checkpoint of another process (training/checkpoint_utils.py, contrib/training)."""
_NEWEST = ("flax.training.checkpoints.latest_checkpoint", "flax.training.checkpoints.restore_checkpoint")
_EACH_STEP = (
    "evaluate every checkpoint that is kept, by the number of its step: `restore_checkpoint(folder, state, step=step)`"
)
_ORDERS = ("builtins.max", "builtins.sorted", "builtins.list.sort", "?.sort")
_EACH_FILE = "evaluate every checkpoint that is kept, in the order of the steps in their names"
_POLLED = "goes by the clock: which checkpoints are evaluated"
_EACH = "evaluate every checkpoint that is kept: `tf.train.get_checkpoint_state(folder).all_model_checkpoint_paths`"


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each of the calls, at the clock in the test of a loop that trains, and at the tests of the clock in it."""
    yield from varies.check(program, rule, "clock", _does)
    for event in program.calls(*_POLLS):
        name = event.raw.rpartition(".")[2]
        yield draft(program, rule, event, name=name, setting="what is newest at the moment", then=_POLLED, remedy=_EACH)
    yield from _waits(program, rule)
    for event in program.events:
        if event.kind == "timed" and not event.args:
            yield draft(program, rule, event, name="while", setting=f"a test of `{event.raw}`", then=_ENDS)
    yield from _tests(program, rule)
    yield from given_up(program, rule)


def _waits(program: Program, rule: Rule) -> Iterator[Draft]:
    """Where a loop that trains nothing asks again and again for the newest checkpoint, and sleeps in between.

    The first such place, on each way that leads there.
    """
    asked = [e for e in (*program.calls(*NEWEST, *_NEWEST), *_newest_files(program)) if e.loops and not e.detached]
    pauses = [e for e in program.calls("time.sleep") if e.loops and not e.detached] if asked else []
    first: Event | None = None
    for event in asked:
        pause = next((e for e in pauses if e.loops == event.loops and e.index > event.index), None)
        busy = (e for e in (*program.trains, *trainings(program)) if event.loops[-1] in e.loops)
        if pause is not None and not any(busy) and (first is None or event.location == first.location):
            first = first or event
            related = [Related(pause.location, "waits for another one")]
            name = event.raw.rpartition(".")[2]
            yield draft(
                program, rule, event, related=related, name=name, setting="what is newest at the moment", then=_POLLED,
                remedy=_EACH if event.name in NEWEST else _EACH_FILE if event.name in _ORDERS else _EACH_STEP,
            )  # fmt: skip


def _newest_files(program: Program) -> list[Event]:
    """The calls in loops that order files by their times, where such a loop loads one, too."""
    ordered = [e for e in program.calls(*_ORDERS) if e.loops and newest.by_time(e)]
    calls = (e for e in program.events if e.kind == "call" and newest.loads(e)) if ordered else ()
    loading = {loop for e in calls for loop in e.loops}
    return [e for e in ordered if e.loops[-1] in loading]


def _does(effect: Effect) -> str:
    """What a call does by the clock, in the message of the rule: some save by it, others end."""
    return _KEEPS if any("secs" in key for key in effect.when) else _ENDS


def _tests(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each ``if`` in a loop that asks the clock and does something that counts, and each loop that ends by it."""
    told = set()
    asked_before = set()
    branches = _Branches()
    training = [*program.trains, *trainings(program)]
    for test in program.events:
        if test.kind != "timed" or not test.args or test.detached or test.location in told:
            continue
        cond = test.args[0]
        same = (test.location, test.loops, test.guards, cond.cond if isinstance(cond, CondValue) else None)
        if same in asked_before:
            continue
        asked_before.add(same)
        steps = [e for e in training if not set(test.loops).isdisjoint(e.loops) and e.meets(test)]
        found = _decided(program, test, steps, branches) if steps else None
        found = found or _left(program, test)
        if found is not None:
            told.add(test.location)
            then, where = found
            related = [] if where is None else [Related(where.location, "happens when the clock says so")]
            asked = f"a test of `{test.raw}`"
            yield draft(
                program, rule, test, confidence="medium", related=related, setting=asked, then=then,
                name="if" if isinstance(test.args[0], CondValue) else "while",
                remedy=_THROUGH if then == _LEAVES else "",
            )  # fmt: skip


def _decided(
    program: Program, test: Event, steps: list[Event], branches: _Branches
) -> tuple[str, Event | None] | None:  # fmt: skip
    """What a test of the clock decides, in words, and where; None where nothing comes of it."""
    leaves = test.args[1]
    if isinstance(leaves, Const) and leaves.value and any(test.loops[-1] in e.loops for e in steps):
        return _ENDS, None
    inside = branches.of(test)
    step = next((e for e in steps if inside(e)), None)
    if step is not None:
        return _TRAINS, step
    there = {id(event) for event in program.events[test.index :] if inside(event)}
    shared = _shared(program, test, there)
    if shared is not None:
        return _DRAWS, shared
    kept = _left_there(program.once("saves-of-weights", _saves), test, there)
    if kept is not None:
        return _KEEPS, kept
    written = _left_there(program.once("written-files", _writes), test, there)
    return None if written is None else (_WRITES, written)


def _left_there(saves: tuple[Event, ...], test: Event, there: set[int]) -> Event | None:
    """The first of these calls in the branch of a test whose file is not written again after it."""
    later = [e for e in saves if id(e) not in there and e.index > test.index]
    kept = (e for e in saves if id(e) in there)
    return next((e for e in kept if not any(saved_there(a, later) for a in e.args)), None)


def _left(program: Program, test: Event) -> tuple[str, None] | None:
    """Whether a test of the clock ends a loop that computes something before it is through; none that waits.

    What a loop does as often as it can to measure how long that takes is not kept.
    """
    leaves = test.args[1]
    if not isinstance(leaves, Const) or not leaves.value:
        return None
    turn = [e for e in program.events if e.kind == "call" and not e.detached and test.loops[-1] in e.loops]
    waits = any(e.name == "time.sleep" for e in turn)
    if not isinstance(test.args[0], CondValue) and not any(e.name.endswith(_COLLECTS) for e in turn):
        return None
    return (_LEAVES, None) if not waits and any(e.name.startswith(_COMPUTES) for e in turn) else None


def _saves(program: Program) -> tuple[Event, ...]:
    return tuple(e for e in program.named(_SAVES.fullmatch, "call") if not e.detached)


def _writes(program: Program) -> tuple[Event, ...]:
    """The calls that write a whole file: pictures of samples, tables, arrays."""
    calls = (e for e in program.events if e.kind == "call" and not e.detached)
    return tuple(e for e in calls if any(effect.writes == _WHOLE for effect in e.effects))


def _shared(program: Program, test: Event, there: set[int]) -> Event | None:
    """A draw in the branch from a generator that the program draws from elsewhere, too, while it trains.

    Of a generator object any other draw counts: global ones are drawn from for initial weights before that.
    """
    training = [d for d in draws(program) if set(d.event.loops) & set(test.loops) and not d.event.detached]
    others = {d.generator for d in training if id(d.event) not in there}
    own = [e for e in program.beginning(OWN_GENERATORS, "call") if not e.detached]
    makers = {id(made) for e in own if id(e) not in there for made in made_by(e.receiver)}
    inside = [d.event for d in training if d.generator in others]
    inside += [e for e in own if any(id(made) in makers for made in made_by(e.receiver))]
    return next((e for e in inside if id(e) in there), None)


class _Branches:
    """Which events happen only where a test of the clock holds."""

    def __init__(self) -> None:
        self._parts: dict[Cond, frozenset[Cond]] = {}

    def of(self, test: Event) -> Callable[[Event], bool]:
        """Whether an event happens only where this test holds; events of one path are asked once."""
        cond = test.args[0]
        parts = self._conjuncts(cond.cond) if isinstance(cond, CondValue) else frozenset()
        known: dict[int, bool] = {}  # by the `id` of the conditions, which the events of a path share

        def inside(event: Event) -> bool:
            found = known.get(id(event.guards))
            if found is None:
                found = bool(parts) and all(any(self._has(g, part) for g in event.guards) for part in parts)
                known[id(event.guards)] = found
            return found

        return inside

    def _has(self, guard: Cond, part: Cond) -> bool:
        if guard is part or not (isinstance(guard, Node) and isinstance(part, Node)):
            return guard is part
        return part.support <= guard.support and part in self._conjuncts(guard)

    def _conjuncts(self, cond: Cond) -> frozenset[Cond]:
        if cond not in self._parts:
            self._parts[cond] = frozenset(conjuncts(cond))
        return self._parts[cond]
