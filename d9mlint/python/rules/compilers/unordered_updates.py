"""Updates of variables that one step of a TF1 graph runs together although nothing orders them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, product
from typing import NamedTuple

from d9mlint.model import Argument, Related, Rule
from d9mlint.python.domain.conditions import Cond, both, either
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Dict, Seq, Unknown, Value, alternatives
from d9mlint.python.frameworks.tensorflow import waiting
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers, made_of, results
from d9mlint.python.judging.drafts import Draft, draft, short_name
from d9mlint.python.rules.compilers import _unordered_reads as reading
from d9mlint.python.rules.compilers._towers import races

_GROUP, _FETCHES = "tensorflow.group", Argument(0, "fetches")
_SESSIONS = ("tensorflow.Session", "tensorflow.InteractiveSession", "tensorflow.train.MonitoredTrainingSession()")
_STEPS = (".minimize", ".apply_gradients")
_AVERAGE = "tensorflow.train.ExponentialMovingAverage().apply"
_AVERAGED = Argument(0, "var_list")
_MODULES = ("tensorflow.reduce_", "tensorflow.math.", "tensorflow.nn.", "tensorflow.losses.", "tensorflow.add_n")
"""How calls begin that compute losses."""
_ASSIGNMENTS = ("assign", "assign_add", "assign_sub")
_VARIABLES = (
    "tensorflow.get_variable", "tensorflow.Variable", "tensorflow.trainable_variables", "tensorflow.global_variables",
    "tensorflow.get_collection", "tensorflow.all_variables",
)  # fmt: skip
_DEPTH = 8


class _Update(NamedTuple):
    """An op that reads and writes trained variables, and what it does with them, in words."""

    event: Event
    kind: str
    cond: Cond
    """When it is among what is run."""


_WORDS = {"step": "a training step", "average": "a moving average", "assignment": "an assignment"}


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each ``Session.run`` and ``tf.group`` of two such ops, neither of which waits for anything."""
    makers = results(program)
    told: set[frozenset[int]] = set()
    for event in program.events:
        if event.kind != "call" or event.detached or not (runs := _runs(event)):
            continue
        updates = list(dict.fromkeys(one for value in runs for one in _updates(value, makers, _DEPTH)))
        pairs = [
            (one, other) for one, other in combinations(updates, 2)
            if frozenset((id(one.event), id(other.event))) not in told
            and _race(program, one, other) and _together(event, one, other)
        ]  # fmt: skip
        if pairs:
            told.update(frozenset((id(one.event), id(other.event))) for one, other in pairs)
            yield _told(program, rule, event, pairs)
        else:
            yield from _of_reads(program, rule, event, runs, updates)
    yield from _of_towers(program, rule)


def _together(event: Event, one: _Update, other: _Update) -> bool:
    """Whether one run comes to both, and one call runs both: of two branches each may bring its own."""
    return event.meets(one.event, other.event) and both(*event.guards, one.cond, other.cond) is not False


def _of_reads(
    program: Program, rule: Rule, event: Event, runs: Iterable[Value], updates: Iterable[_Update]
) -> Iterator[Draft]:  # fmt: skip
    """At a ``Session.run`` that reads what it writes; a ``tf.group`` gives no values."""
    if event.name == _GROUP:
        return
    steps = [one.event for one in updates if one.event.name.endswith(_STEPS[0])]
    for fetched in runs:
        reads = (*reading.of_iterators(program, fetched), *reading.of_weights(program, fetched, steps))
        for read in sorted(reads, key=lambda one: one.shown):
            if event.meets(read.event, read.write):
                written, told = _READS[read.words]
                related = [Related(read.write.location, written), Related(read.event.location, "what is read")]
                yield draft(
                    program, rule, event, related=related, severity="info" if read.shown else "",
                    name=short_name(event), both=told, then=_EITHER, remedy=_APART,
                )  # fmt: skip
                return


def _of_towers(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first assignment of those that each tower on a GPU makes to variables which the towers share."""
    for write, device, several in races(program):
        related = [Related(device.location, "a tower is made on each GPU here")]
        yield draft(
            program, rule, write, cond=several, related=related, name="Session.run", both=_BY_TOWERS, then=_KEPT,
            remedy=_ONCE,
        )  # fmt: skip
        return


_BY_TOWERS = "an assignment of each tower to the same variable"
_KEPT = "timing decides whether one reads what the other has written, and whose value is kept"
_ONCE = "assign in the first tower only, or once after all of them: the mean of what they have computed"
_READS = {
    "weights": ("a training step is made here", "a training step and another computation with its weights"),
    "iterator": (
        "the iterator is set to a dataset here",
        "the initializer of an iterator and what takes its next",
    ),
}
_TIMING = "timing decides which variables each of them reads"
_EITHER = "timing decides which of them comes first"
_APART = "run them in two calls of `Session.run`, or make the one under `with tf.control_dependencies([other]):`"
_STEPS_APART = (
    "run them in two calls of `Session.run` (`tf.control_dependencies` around the second update alone would leave "
    "its gradients unordered, which are computed outside)"
)


def _told(program: Program, rule: Rule, event: Event, pairs: Sequence[tuple[_Update, _Update]]) -> Draft:
    """One finding for all that one call runs together; the first pair is shown."""
    one, other = pairs[0]
    related = [Related(each.event.location, f"{_WORDS[each.kind]} is made here") for each in (one, other)]
    words = f"{_WORDS[one.kind]} and {_WORDS[other.kind]}"
    if one.kind == other.kind:
        words = f"two {_WORDS[one.kind].split(' ', 1)[1]}s"
    cond = either(*(both(a.cond, b.cond, *a.event.guards, *b.event.guards) for a, b in pairs))
    return draft(
        program, rule, event, cond=cond, related=related, name=short_name(event), both=words, then=_TIMING,
        remedy=_STEPS_APART if {one.kind, other.kind} == {"step"} else "",
    )  # fmt: skip


def _runs(event: Event) -> list[Value]:
    """What is run together."""
    if event.name == _GROUP:
        return list(event.args)
    if event.name.endswith(".run") and event.name.removesuffix(".run") in _SESSIONS:
        fetched = event.argument(_FETCHES)
        return [fetched] if fetched is not None else []
    return []


def _updates(value: Value | None, makers: Makers, depth: int, when: Cond = True) -> Iterator[_Update]:
    """The ops in what is fetched or grouped that read and write variables."""
    for cond, leaf in alternatives(value):
        now = both(when, cond)
        if isinstance(leaf, (Seq, Dict)):
            inside = leaf.items.values() if isinstance(leaf, Dict) else (*(leaf.items or ()), leaf.element)
            for part in inside if depth else ():
                yield from _updates(part, makers, depth - 1, now)
            continue
        for made in made_of(leaf, makers):
            if made.name == _GROUP:
                for part in made.args if depth else ():
                    yield from _updates(part, makers, depth - 1, now)
            elif kind := _kind(made, makers):
                yield _Update(made, kind, now)


def _kind(made: Event, makers: Makers) -> str:
    if made.name.endswith(_STEPS) and made.name.startswith(("tensorflow.", "keras.", "horovod.")):
        return "step"
    if made.name == _AVERAGE:
        return "" if _of_tensors(made.argument(_AVERAGED), makers) else "average"
    if made.name.startswith("tensorflow.") and made.name.rpartition(".")[2] in _ASSIGNMENTS:
        target, *given = (made.args if made.name.count(".") == 1 else (made.receiver, *made.args)) or (None,)
        listed = isinstance(target, Unknown)  # one of a list of variables, as a loop goes through them
        return "assignment" if any(_of_variables(one, makers, _DEPTH, listed) for one in given) else ""
    return ""


def _of_tensors(value: Value | None, makers: Makers) -> bool:
    """Whether averages are those of results alone, such as losses: what they read was computed before the step."""
    leaves = [leaf for _, leaf in alternatives(value)]
    items = [item for leaf in leaves for item in ((leaf.items or ()) if isinstance(leaf, Seq) else ())]
    made = [list(made_of(item, makers)) for item in items]
    return bool(made) and all(isinstance(leaf, Seq) and leaf.items for leaf in leaves) and all(map(_computed, made))


def _computed(made: Sequence[Event]) -> bool:
    """Whether a value was made by ops of TensorFlow and is no variable."""
    return bool(made) and all(
        one.name.startswith(_MODULES) and one.name not in _VARIABLES and "ariable" not in one.name for one in made
    )


def _of_variables(value: Value | None, makers: Makers, depth: int, listed: bool) -> bool:
    """Whether a value is computed from variables of the graph; ``listed``: what is not known is one."""
    if listed and isinstance(value, Unknown):
        return True
    for made in made_of(value, makers):
        if made.name in _VARIABLES:
            return True
        given = (*made.args, *((made.receiver,) if made.receiver is not None else ()))
        if depth and any(_of_variables(one, makers, depth - 1, listed) for one in given):
            return True
    return False


def _race(program: Program, one: _Update, other: _Update) -> bool:
    """Whether one op writes what the other reads and nothing orders them."""
    kinds = {one.kind, other.kind}
    if kinds == {"step"}:  # of one computation of gradients: its reads are over when they are known
        computed = [reading.gradients(program, each.event) for each in (one, other)]
        pairs = list(product(*computed))
        if any(a is b for a, b in pairs) or not any(reading.shared(program, a, b) for a, b in pairs):
            return False
    elif "step" not in kinds and kinds != {"average", "assignment"}:
        return False
    return not waiting.apart(program, one.event, other.event)
