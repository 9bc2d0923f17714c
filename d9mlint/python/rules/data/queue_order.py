"""Queues of TensorFlow 1 whose order the timing of threads decides."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument, Related, Rule
from d9mlint.python.domain.conditions import Cond, both, either, flag_test, is_symbolic, opaque_test
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, FlagValue, Seq, Value, alternatives
from d9mlint.python.frameworks.tensorflow.determinism import trainings
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_by, made_of, results
from d9mlint.python.judging.drafts import Draft, draft, short_name

_BATCHES = {
    "tensorflow.train.batch": Argument(2, "num_threads"), "tensorflow.train.maybe_batch": Argument(3, "num_threads"),
    "tensorflow.contrib.training.bucket": Argument(4, "num_threads"),
    "tensorflow.contrib.training.bucket_by_sequence_length": Argument(4, "num_threads"),
}  # fmt: skip
_SHUFFLES = {
    "tensorflow.train.shuffle_batch": Argument(4, "num_threads"),
    "tensorflow.train.maybe_shuffle_batch": Argument(5, "num_threads"),
}
_CAPACITY, _LEAST = Argument(2, "capacity"), Argument(3, "min_after_dequeue")
_JOINS = ("tensorflow.train.batch_join", "tensorflow.train.shuffle_batch_join")
_JOINED, _RUNNER, _OPS = Argument(0, "tensors_list"), "tensorflow.train.QueueRunner", Argument(1, "enqueue_ops")
_THREADS = "several threads fill its queue, and timing decides in which order"
_STARTED = "several threads, which are started here, fill it, and timing decides in which order"
_FILL = "it draws from as many elements as its queue holds at the moment, which timing decides, whatever the seed"
_PLAIN = (
    "pass `{name}` `num_threads=1`, `capacity` one more than `min_after_dequeue` (then it always draws from a full "
    "queue) and a `seed`"
)
_DATASET = "; or read with `tf.data`: `dataset.shuffle(n, seed=1).batch(n)`"
_HAS_DATASETS = ">=1.4"
"""Releases with ``tf.data`` (release notes of 1.4)."""
_ENQUEUES = (".enqueue", ".enqueue_many")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each call that makes such a queue, or starts the threads that fill one."""
    severity = "" if trainings(program) else "info"
    for event, cond, why, remedy in _queues(program):
        if cond is not False and is_symbolic(cond):
            name = short_name(event)
            yield draft(
                program, rule, event, cond=cond, severity=severity, remedy=remedy.format(name=name), name=name,
                order=why,
            )  # fmt: skip
    yield from _threads(program, rule, severity)


def _queues(program: Program) -> Iterator[tuple[Event, Cond, str, str]]:
    for event in program.calls(*_BATCHES, *_SHUFFLES, *_JOINS, _RUNNER):
        if event.detached:
            continue
        if event.name in _BATCHES:
            yield event, _more_than_one(event, _BATCHES[event.name]), _THREADS, ""
        elif event.name in _SHUFFLES:
            full = _one_more(event)
            cond = _more_than_one(event, _SHUFFLES[event.name]) if full else True
            datasets = program.target.fits("tensorflow", _HAS_DATASETS)
            yield event, cond, _THREADS if full else _FILL, _PLAIN + (_DATASET if datasets else "")
        else:
            given = event.argument(_OPS if event.name == _RUNNER else _JOINED)
            yield event, _several(given) or _filled_in_loop(program, event, given), _THREADS, ""


def _more_than_one(event: Event, threads: Argument) -> Cond:
    """When a number of threads is more than one; a number that is not known may be."""
    value = event.argument(threads)
    found: list[Cond] = []
    for cond, leaf in alternatives(value) if value is not None else ():
        if isinstance(leaf, FlagValue):
            found.append(both(cond, flag_test(leaf.flag, ">", 1)))
        elif isinstance(leaf, Const):
            found.append(both(cond, isinstance(leaf.value, int) and leaf.value > 1))
        else:
            found.append(both(cond, opaque_test(("threads", id(leaf)), "num_threads > 1")))
    return either(*found)


def _one_more(event: Event) -> bool:
    """Whether a queue of shuffled elements is always full when one is drawn from it."""
    most, left = event.argument(_CAPACITY), event.argument(_LEAST)
    if not isinstance(most, Const) or not isinstance(left, Const) or not isinstance(most.value, int):
        return False
    return bool(most.value - 1 == left.value)


def _several(given: Value | None) -> bool:
    return isinstance(given, Seq) and (given.items is None or len(given.items) > 1)


def _filled_in_loop(program: Program, event: Event, given: Value | None) -> bool:
    """Whether each turn of a loop before a call puts one more into a list that it is given."""
    adds = program.calls("builtins.list.append", "?.append")
    return isinstance(given, Seq) and any(e.receiver is given and len(e.loops) > len(event.loops) for e in adds)


def _threads(program: Program, rule: Rule, severity: str) -> Iterator[Draft]:
    """At a call that starts several threads, each of which puts elements into a queue."""
    makers = results(program)
    called = (e for e in program.events if e.kind == "call" and not e.detached and e.loops)
    starts = [e for e in called if any(i.context == "thread" for x in e.effects for i in x.invokes)]
    told: set[int] = set()
    for run in program.calls("tensorflow.Session.run", "?.run"):
        put = next((m for a in run.args[:1] for m in made_of(a, makers) if m.name.endswith(_ENQUEUES)), None)
        if put is None or not run.inside("thread"):
            continue
        start = next((e for e in starts if e.location in run.stack), None)
        if start is not None and id(start) not in told and {*start.loops} - {*put.loops}:
            told.add(id(start))
            related = [Related(run.location, "puts elements into the queue")]
            queue = next((one.raw for one in made_by(put.receiver)), "queue").rpartition(".")[2]
            yield draft(program, rule, start, severity=severity, related=related, name=queue, order=_STARTED)
