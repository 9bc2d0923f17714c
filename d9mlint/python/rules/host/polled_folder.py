"""Folders that a loader lists again and again, in workers or a thread, while the program writes files into them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from d9mlint.model import Related, Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.frameworks.tensorflow import pipelines
from d9mlint.python.frameworks.torch import loaders
from d9mlint.python.interpreter.library.streams import LISTINGS
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft, lower
from d9mlint.python.judging.files.calls import opens, path_of
from d9mlint.python.judging.files.folders import folder_of, writes_into
from d9mlint.python.judging.files.kept import saved_there

_TREES = (*LISTINGS, "os.walk")
_WORKERS, _THREAD = "worker processes", "a thread of `tf.data` that reads ahead"
_LIST_IN_PROGRAM = (
    "list the folder in the program itself at a fixed step and hand its generator the names, or make the dataset anew "
    "after files are written; from TensorFlow 2.9 on a dataset reads ahead also without `prefetch`"
)
_WRITTEN = "a file is written there"


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each listing beside the program, in a worker process or a thread, of a folder that it puts files into."""
    listed = [e for e in program.ending(_TREES, "call") if not e.detached]
    beside = [e for e in listed if e.inside(loaders.WORKER, loaders.PERHAPS_WORKER, pipelines.GENERATOR)]
    elsewhere = (*loaders.CONTEXTS, pipelines.GENERATOR)
    calls = [e for e in program.events if e.kind == "call" and not e.inside(*elsewhere)] if beside else []
    writes = [e for e in calls if opens(e)]
    told: set[object] = set()
    for event in beside:
        if event.location in told:
            continue
        of_dataset = event.inside(pipelines.GENERATOR)
        write = (_polled_ahead if of_dataset else _polled_by_worker)(program, event, writes)
        if write is not None:
            told.add(event.location)
            sure = of_dataset or event.inside(loaders.WORKER)
            yield draft(
                program, rule, event, related=[Related(write.location, _WRITTEN)], name=event.raw,
                confidence=rule.confidence if sure else lower(rule.confidence),
                who=_THREAD if of_dataset else _WORKERS, remedy=_LIST_IN_PROGRAM if of_dataset else "",
            )  # fmt: skip


def _polled_by_worker(program: Program, listed: Event, writes: Sequence[Event]) -> Event | None:
    """What writes into the folder that a worker lists, as far as the paths can be told."""
    folder = path_of(listed)
    meanwhile = (e for e in writes if _meanwhile(listed, e) and listed.meets(e))
    return next((e for e in meanwhile if folder is not None and saved_there(folder, [e])), None)


def _polled_ahead(program: Program, listed: Event, writes: Sequence[Event]) -> Event | None:
    """The same for a generator that lists it in each turn of a loop of its own, and whose dataset reads ahead."""
    made = pipelines.generator_of(program, listed)
    if made is None or set(listed.loops) <= set(made.loops) or not pipelines.read_ahead(program, made):
        return None
    into = [e for e in writes_into(folder_of(listed), writes) if listed.meets(e)]
    again = _called_again(program, made) if into else frozenset()
    return next((e for e in into if _meanwhile(listed, e) or (e.loops and not again.isdisjoint(_functions(e)))), None)


def _called_again(program: Program, made: Event) -> frozenset[int]:
    """The functions that are called in a loop after a dataset is made, but for those in which it is."""
    return frozenset(one for one, at in program.story.looped.items() if at > made.index) - _functions(made)


def _functions(event: Event) -> frozenset[int]:
    """The functions of the program in which something happens, by the ``id`` of their nodes."""
    return frozenset(id(one.node) for one in (*event.callers, event.func) if one is not None)


def _meanwhile(listed: Event, write: Event) -> bool:
    """Whether a file is written while workers run, from where an iterator is made: in the same loop, or a later one."""
    return not {*listed.loops}.isdisjoint(write.loops) or (write.index > listed.index and bool(write.loops))
