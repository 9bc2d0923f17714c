"""Weights that are saved only where no file is there yet: those of a second run are lost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import Cond, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import Value
from d9mlint.python.frameworks import arrays
from d9mlint.python.interpreter.library.streams import FILE_TESTS
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft
from d9mlint.python.judging.files.calls import EMPTIES, READS, given, is_numbered, opens, target_of, tested_file
from d9mlint.python.judging.files.places import OF_ONE_RUN, same_place
from d9mlint.python.rules.host.leftovers.absent import absent
from d9mlint.python.rules.host.leftovers.unasked import left_over

_ARRAYS = "numpy."
_FINDS, _THEN = "finds the file", "does not save what it has trained"
_AGAIN = "does not train again what it holds"
_ANEW = "give each run an empty folder of its own, and refuse one that is not empty"
_REMEDY = (
    "save in any case (under another name first, then `os.replace`), or give each run an empty folder of its own and "
    "refuse one that is not empty"
)


def unsaved(program: Program, rule: Rule, steps: Sequence[Event], saves: Sequence[Event]) -> Iterator[Draft]:
    """At each test whether a file is there that keeps a program from saving what its ``steps`` have trained."""
    tests = [test for test in program.ending(FILE_TESTS, "call") if not test.detached] if steps and saves else []
    told: set[int] = set()
    for save in saves:
        if save.name.startswith(_ARRAYS) and not arrays.holds_weights(program, save):
            continue
        path = target_of(save)
        if path is None or not OF_ONE_RUN.isdisjoint(taint([path])[0]):
            continue
        test = next((one for one in tests if one.index < save.index and _keeps_from(one, save, path)), None)
        trained = _trained(save, test, steps) if test is not None and test.index not in told else None
        if test is None or trained is None:
            continue
        if is_numbered(path, [one for one in tests if one.location != test.location]):
            continue
        if not (_saved_too(save, test, saves) or _emptied(program, path, save) or _read(program, path, test)):
            told.add(test.index)
            then, remedy = (_THEN, _REMEDY) if trained else (_AGAIN, _ANEW)
            yield left_over(program, rule, test, path, [save], then, remedy=remedy, does=_FINDS)


def _keeps_from(test: Event, save: Event, path: Value) -> bool:
    """Whether a call saves only where a test has not found the very file that it writes."""
    asked = tested_file(test)
    return asked is not None and same_place(asked, path) and absent(save, test)


def _trained(save: Event, test: Event, steps: Sequence[Event]) -> bool | None:
    """Whether the program trains what it saves also where the file is there; None where it trains nothing then.

    What it has trained last before is what it saves.
    """
    before = [e for e in steps if e.meets(save) and (e.index < save.index or set(e.loops) & set(save.loops))]
    if all(absent(step, test) for step in before):
        return None
    return not absent(max(before, key=lambda step: (step.index < save.index, step.index)), test)


def _saved_too(save: Event, test: Event, saves: Sequence[Event]) -> bool:
    """Whether the same is saved where the file is there, too: under another name."""
    opposite: list[Cond] = [negate(guard) for guard in save.guards if guard not in test.guards]
    return any(
        other is not save and other.func is save.func and any(one in other.guards for one in opposite)
        for other in saves
    )


def _emptied(program: Program, path: Value, save: Event) -> bool:
    """Whether the file is taken away before it is saved."""
    removed = (e for e in program.named(EMPTIES.fullmatch, "call") if e.index < save.index and not e.detached)
    return any(same_place(one, path) for e in removed for one in given(e))


def _read(program: Program, path: Value, test: Event) -> bool:
    """Whether the function that looks for a file reads it, too: it is a cache then, of whatever."""
    reads = (e for e in program.named(READS.fullmatch, "call") if e.func is test.func and not e.detached)
    return any(same_place(one, path) for e in reads if not opens(e) for one in given(e))
