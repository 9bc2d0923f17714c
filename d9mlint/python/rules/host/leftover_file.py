"""Files that an earlier run has left, and that are no checkpoints: caches made by drawing, and files that grow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import EXCEPTION, Cond, both, negate, opaque
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.testkeys import asked_by, made_by
from d9mlint.python.domain.values import Value
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft, short_name
from d9mlint.python.judging.paths import OF_ONE_RUN, path_of
from d9mlint.python.judging.randomness import Draw, draws
from d9mlint.python.judging.seedings import seedings
from d9mlint.python.rules.host._files import (
    EMPTIES,
    READS,
    adds,
    given,
    goes_on_with_table,
    is_alike,
    is_numbered,
    opens,
    same_path,
    told,
    varies,
)
from d9mlint.python.rules.host.leftovers.counted import counted
from d9mlint.python.rules.host.leftovers.databases import databases
from d9mlint.python.rules.host.leftovers.kept_state import carried
from d9mlint.python.rules.host.leftovers.newest import newest

_THERE = re.compile(r"exists\(|isfile\(|is_file\(")
_TESTS = (".exists", ".isfile", ".is_file")
_ONCE = "lets only the first run draw, to make {}: with the same seed, later runs go on with other random numbers"
_PASSES_OVER = (
    "passes over the files that an earlier run has made, and only the others are drawn: a run that goes on where "
    "another was interrupted makes other files than one that makes them all, with the same seed"
)
_SEED_EACH = (
    "draw each file from a generator of its own, seeded from its number or name: "
    "`rng = np.random.default_rng([seed, number])`"
)
_SEED_APART = (
    "draw what the file is made of from a generator of its own with a seed of its own, or set the seed again after it "
    "is made or loaded"
)
_WRITE_ANEW = (
    'open files that are read again with `"w"`, or in a folder of this run; one that a resumed run goes on with has to '
    "be cut back to where the checkpoint was made"
)
_ANEW = "leave `append=True` to runs that are resumed, or write into a folder of this run"


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the test whether a cache is there that is made by drawing, and where a file is opened that grows."""
    if program.story.local or program.story.truncated:
        return
    calls = [event for event in program.events if event.kind == "call" and not event.detached and not event.importing]
    names = {name for name in {event.name for event in calls} if READS.fullmatch(name) or EMPTIES.fullmatch(name)}
    files = [e for e in calls if e.name in names or (e.effects and any(x.opens or x.writes for x in e.effects))]
    tests = [event for event in calls if event.name.endswith(_TESTS)]
    yield from _caches(program, rule, tests, files)
    yield from _skipped(program, rule, tests, calls)
    yield from _growing(program, rule, tests, files)
    yield from carried(program, rule, calls, files, tests)
    yield from databases(program, rule, calls)
    yield from newest(program, rule, calls)
    yield from counted(program, rule, calls)


# -- caches --------------------------------------------------------------------------------------------------------


def _caches(program: Program, rule: Rule, tests: Sequence[Event], files: Sequence[Event]) -> Iterator[Draft]:
    """Where only the first run draws, as it makes a file that later ones load: all that is drawn later is other."""
    found = [one for one in draws(program) if not one.event.detached]
    guards = {guard for one in found for guard in one.event.guards}
    missing = {guard for guard in guards if _is_missing(guard)}
    tests = [*tests, *(e for e in files if e.tried and READS.fullmatch(e.name) and not opens(e))] if missing else ()
    makers = [one for one in found if not missing.isdisjoint(one.event.guards)]
    for test in tests if makers else ():
        path = (test.args[0] if test.args else test.receiver) if test.name.endswith(_TESTS) else path_of(test)
        making = [one for one in makers if one.event.index > test.index and _absent(one.event, test)]
        writes = _kept(path, test, files) if path is not None and making else ()
        making = [one for one in making if any(_while_made(one.event, write) for write in writes)]
        if path is None or not making:
            continue
        later = _after(program, making, [one for one in found if not _is_made_too(one.event, test)])
        if later is not None:
            drawn, then = later
            related = [Related(drawn.event.location, "draws only where the file is not there"),
                       Related(then.event.location, "draws after it")]  # fmt: skip
            what = _ONCE.format(told(path))
            yield draft(program, rule, test, related=related, remedy=_SEED_APART, name=short_name(test), what=what)


def _is_made_too(event: Event, test: Event) -> bool:
    """Whether something is done to make a file, this one or another: where all are kept, no later run does it."""
    return any(_is_missing(guard) and guard not in test.guards for guard in event.guards)


def _absent(event: Event, test: Event) -> bool:
    """Whether something happens only where a test has not found its file, or where reading it has failed."""
    if not test.name.endswith(_TESTS):
        return test.tried > event.tried and any(_has_failed(guard) and _is_of(guard, test) for guard in event.guards)
    return any(_is_missing(guard) and _asks(guard, test) and _is_of(guard, test) for guard in event.guards)


def _asks(guard: Cond, test: Event) -> bool:
    """Whether a condition is about what a test says of its file, not about what another says; True if none is known."""
    asked = opaque(negate(guard))
    if asked is None:
        return False
    calls = asked_by(asked)
    return not calls or test.tick in calls


def _is_missing(guard: Cond) -> bool:
    """Whether a condition is that a file is not there."""
    test = opaque(negate(guard))
    if test is None:
        return _has_failed(guard)
    return _THERE.search(test.text) is not None or any(name.endswith(_TESTS) for name in made_by(test))


def _has_failed(guard: Cond) -> bool:
    """Whether a condition is that something has raised an exception."""
    test = opaque(guard)
    return test is not None and test.text == EXCEPTION


def _is_of(guard: Cond, test: Event) -> bool:
    """Whether a condition is not one that held already where a file is looked for."""
    return both(guard, *test.guards) is not False and guard not in test.guards


def _while_made(event: Event, write: Event) -> bool:
    """Whether something is done before a file is written, or by the function that writes it.

    Later it is done with what has been made, as well as with what has been loaded.
    """
    return event.index < write.index or event.stack[: len(write.stack)] == write.stack


def _kept(path: Value, test: Event, files: Sequence[Event]) -> Sequence[Event]:
    """The calls that write a file where it is not there; none where it is not read all the same."""
    mentions = [e for e in files if e.index >= test.index and any(same_path(one, path) for one in given(e))]
    writes = [e for e in mentions if _absent(e, test) and any(x.writes or x.opens for x in e.effects)]
    return writes if any(READS.fullmatch(e.name) and e not in writes for e in mentions) else ()


def _after(program: Program, making: Sequence[Draw], others: Sequence[Draw]) -> tuple[Draw, Draw] | None:
    """A draw that makes the file, and one after it from the same generator, which has a seed that comes before both."""
    for drawn in making:
        seeds = [s.event.index for s in seedings(program) if drawn.generator in s.generators and not s.event.detached]
        if not any(index < drawn.event.index for index in seeds):
            continue
        for then in others:
            between = any(drawn.event.index < index < then.event.index for index in seeds)
            if then.event.index > drawn.event.index and then.generator == drawn.generator and not between:
                return drawn, then
    return None


# -- files of an interrupted run ---------------------------------------------------------------------------------------


def _skipped(program: Program, rule: Rule, tests: Sequence[Event], calls: Sequence[Event]) -> Iterator[Draft]:
    """Where a loop draws to make files, and passes over those that are there: the others get other numbers then."""
    looking = [test for test in tests if test.loops]
    waits = {id(value) for event in calls if event.name == "time.sleep" for value in event.args} if looking else set()
    found = [one for one in draws(program) if looking and one.event.loops and id(one.event.result) not in waits]
    missing = {guard for guard in {guard for one in found for guard in one.event.guards} if _is_missing(guard)}
    found = [one for one in found if not missing.isdisjoint(one.event.guards)]
    told_of = set()
    for test in looking:
        path = test.args[0] if test.args else test.receiver
        making = [one for one in found if one.event.index > test.index and _absent(one.event, test)]
        making = [one for one in making if not one.event.detached]
        drawn = next((one for one in making if _goes_on(program, one, test)), None)
        if path is None or drawn is None or test.location in told_of or not _is_made(path, test, calls):
            continue
        if not is_alike(test, test.loops[0], calls) or varies(path, test.loops[0], calls):
            told_of.add(test.location)  # (else it is one file, which the first turn makes)
            related = [Related(drawn.event.location, "draws only where the file is not there")]
            yield draft(
                program, rule, test, related=related, remedy=_SEED_EACH, name=short_name(test), what=_PASSES_OVER
            )


def _goes_on(program: Program, drawn: Draw, test: Event) -> bool:
    """Whether a loop draws from one generator for all files: one with a seed, which is not set again in the loop."""
    seeds = [s.event for s in seedings(program) if drawn.generator in s.generators and not s.event.detached]
    before = any(seed.index < test.index for seed in seeds)
    return (
        before
        and drawn.event.loops[: len(test.loops)] == test.loops
        and not any(test.loops[-1] in seed.loops for seed in seeds)
    )


def _is_made(path: Value, test: Event, calls: Sequence[Event]) -> bool:
    """Whether a call makes the file where it is not there."""
    made = (e for e in calls if e.index > test.index and test.loops[-1] in e.loops and _absent(e, test))
    return any(same_path(one, path) for e in made for one in given(e))


# -- files that grow -----------------------------------------------------------------------------------------------


def _growing(program: Program, rule: Rule, tests: Sequence[Event], files: Sequence[Event]) -> Iterator[Draft]:
    """Where a file is opened to be added to that the program reads, and that it never empties."""
    for opening in (event for event in files if adds(event) and not _only_once(event, tests, files)):
        path = path_of(opening)
        if path is None or not OF_ONE_RUN.isdisjoint(taint([path])[0]) or is_numbered(path, tests):
            continue  # (a name that each run makes anew, unless it is given one)
        mentions = [e for e in files if e is not opening and any(same_path(one, path) for one in given(e))]
        before = [e for e in mentions if e.index < opening.index]
        emptied = any(EMPTIES.fullmatch(e.name) for e in mentions) or any(opens(e) and not adds(e) for e in before)
        reader = next((e for e in mentions if READS.fullmatch(e.name) and not opens(e)), None)
        if emptied or (reader is None and not goes_on_with_table(opening)):
            continue  # (a log that only grows is no result)
        related = [Related(reader.location, "is read here")] if reader is not None else []
        read = "which the program reads" if related else "so that a second run's table holds the rows of both"
        what = f"adds to what an earlier run has left in {told(path)}, {read}"
        yield draft(
            program, rule, opening, related=related, remedy=_WRITE_ANEW if related else _ANEW,
            severity="" if related else "info", name=short_name(opening), what=what,
        )  # fmt: skip


def _only_once(opening: Event, tests: Sequence[Event], files: Sequence[Event]) -> bool:
    """Whether a file is opened only where one is not there that is made there: no later run comes to it."""
    if not any(map(_is_missing, opening.guards)):
        return False
    for test in tests:
        path = test.args[0] if test.args else test.receiver
        if path is not None and test.index < opening.index and _absent(opening, test):
            made = (e for e in files if e.index > test.index and _absent(e, test) and opens(e))
            if any(same_path(one, path) for e in made for one in given(e)):
                return True
    return False
