"""Files that an earlier run has left, and that are no checkpoints: caches made by drawing, and files that grow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import both, by_default, either, literals
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.testkeys import asked_by
from d9mlint.python.domain.values import Value, alternatives
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging import flows
from d9mlint.python.judging.drafts import Draft, draft, short_name
from d9mlint.python.judging.files.calls import (
    EMPTIES,
    READS,
    adds,
    given,
    goes_on_with_table,
    is_alike,
    is_numbered,
    opens,
    path_of,
    tested_file,
    told,
    varies,
)
from d9mlint.python.judging.files.places import OF_ONE_RUN, lasting, perhaps_same, same_place
from d9mlint.python.judging.randomness import Draw, draws
from d9mlint.python.judging.seedings import seedings
from d9mlint.python.judging.wording import describe
from d9mlint.python.rules.host.leftovers.absent import TESTS, absent, is_missing
from d9mlint.python.rules.host.leftovers.cached_data import cached_data
from d9mlint.python.rules.host.leftovers.counted import counted, numbered
from d9mlint.python.rules.host.leftovers.databases import databases
from d9mlint.python.rules.host.leftovers.kept_state import carried
from d9mlint.python.rules.host.leftovers.newest import newest
from d9mlint.python.rules.host.leftovers.unasked import is_asked

_ONCE = "lets only the first run draw, to make {}: with the same seed, later runs go on with other random numbers"
_FROZEN = (
    "keeps in {} what the first run has drawn, which nothing seeds: later runs go on with that, and a run elsewhere "
    "with other numbers"
)
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
_NEW_FOLDER = (
    "write into a folder of this run, and take up what an earlier one has left only where a flag such as `--resume` "
    "asks for it"
)
_READ, _BOTH = "which the program reads", "so that the file holds what both runs have written"
_FILLS = re.compile(r"numpy\.(save|savez\w*|savetxt)|(pickle|cPickle|dill|joblib)\.dump|torch\.save|.*\.tofile")
"""Calls that write arrays or objects to a stream."""
_CLOSES = (".close", ".flush")
_ANEW = "leave `append=True` to runs that are resumed, or write into a folder of this run"


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the test whether a cache is there that is made by drawing, and where a file is opened that grows."""
    if program.story.local or program.story.truncated:
        return
    calls = [event for event in program.events if event.kind == "call" and not event.detached and not event.importing]
    names = {name for name in {event.name for event in calls} if READS.fullmatch(name) or EMPTIES.fullmatch(name)}
    files = [e for e in calls if e.name in names or (e.effects and any(x.opens or x.writes for x in e.effects))]
    tests = [event for event in calls if event.name.endswith(TESTS)]
    yield from _caches(program, rule, tests, files)
    yield from _skipped(program, rule, tests, calls)
    yield from _growing(program, rule, tests, files)
    yield from carried(program, rule, calls, files, tests)
    yield from databases(program, rule, calls)
    yield from newest(program, rule, calls)
    yield from counted(program, rule, calls)
    yield from numbered(program, rule, calls)
    yield from cached_data(program, rule)


# -- caches --------------------------------------------------------------------------------------------------------


def _caches(program: Program, rule: Rule, tests: Sequence[Event], files: Sequence[Event]) -> Iterator[Draft]:
    """Where only the first run draws, as it makes a file that later ones load: all that is drawn later is other."""
    found = [one for one in draws(program) if not one.event.detached]
    makers = [one for one in found if any(map(is_missing, one.event.guards))]
    tests = [*tests, *(e for e in files if e.tried and READS.fullmatch(e.name) and not opens(e))] if makers else ()
    told_of: set[int] = set()
    for test in tests:
        path = tested_file(test) if test.name.endswith(TESTS) else path_of(test)
        making = [one for one in makers if absent(one.event, test) and _is_nearest(test, one.event, tests)]
        writes = _kept(path, test, files) if path is not None and making else ()
        making = [one for one in making if any(_while_made(one.event, write) for write in writes)]
        if path is None or not making:
            continue
        later = _after(program, making, [one for one in found if not _is_made_too(one.event, test)])
        unseeded = _unseeded(program, making, test) if later is None else None
        drawn, then = later if later is not None else (unseeded, None)
        if drawn is None or id(drawn.event) in told_of:
            continue  # (each of several files that are made together is tested)
        told_of.add(id(drawn.event))
        related = [Related(drawn.event.location, "draws only where the file is not there")]
        related += [Related(then.event.location, "draws after it")] if then is not None else []
        what = (_ONCE if then is not None else _FROZEN).format(told(path))
        yield draft(program, rule, test, related=related, remedy=_SEED_APART, name=short_name(test), what=what)


def _is_nearest(test: Event, event: Event, tests: Sequence[Event]) -> bool:
    """Whether no later test of another file stands between: which one a condition is about need not be known."""
    if test.index >= event.index:
        return False
    between = (e for e in tests if test.index < e.index < event.index and e.location.line != test.location.line)
    return not any(e.name == test.name and e.stack == test.stack and absent(event, e) for e in between)


def _unseeded(program: Program, making: Sequence[Draw], test: Event) -> Draw | None:
    """A draw that makes the file from a generator that the program never seeds; a training makes no cache."""
    if any(absent(step, test) for step in program.trains):
        return None
    seeded = {name for one in seedings(program) for name in one.generators}
    return next((one for one in making if one.generator not in seeded and not one.implicit and not one.unseen), None)


def _is_made_too(event: Event, test: Event) -> bool:
    """Whether something is done to make a file, this one or another: where all are kept, no later run does it."""
    return any(is_missing(guard) and guard not in test.guards for guard in event.guards)


def _while_made(event: Event, write: Event) -> bool:
    """Whether something is done before a file is written, or by the function that writes it.

    Later it is done with what has been made, as well as with what has been loaded.
    """
    return event.index < write.index or event.stack[: len(write.stack)] == write.stack


def _kept(path: Value, test: Event, files: Sequence[Event]) -> Sequence[Event]:
    """The calls that write a file where it is not there; none where it is not read all the same."""
    # (A function may add a suffix to the path that it is given: `if not path.endswith(".ply")`.)
    mentions = [e for e in files if e.index >= test.index and any(perhaps_same(one, path) for one in given(e))]
    writes = [e for e in mentions if absent(e, test) and any(x.writes or x.opens for x in e.effects)]
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
    found = [one for one in found if any(map(is_missing, one.event.guards))]
    told_of = set()
    for test in looking:
        path = tested_file(test)
        making = [one for one in found if one.event.index > test.index and absent(one.event, test)]
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
    made = (e for e in calls if e.index > test.index and test.loops[-1] in e.loops and absent(e, test))
    return any(same_place(one, path) for e in made for one in given(e))


# -- files that grow -----------------------------------------------------------------------------------------------


def _growing(program: Program, rule: Rule, tests: Sequence[Event], files: Sequence[Event]) -> Iterator[Draft]:
    """Where a file is opened to be added to that the program reads, or puts arrays into, and that it never empties.

    Of several places that add to one file the first is told, under the conditions of all.
    """
    adding = [event for event in files if adds(event) and not _only_once(event, tests, files)]
    told_of: list[Event] = []
    for opening in adding:
        path = path_of(opening)
        when = lasting(path) if path is not None else False
        if path is None or when is False or _is_of_one_run(path) or is_numbered(path, tests):
            continue  # (a name that each run makes anew, unless it is given one)
        if _is_refused(opening, path, tests):
            continue
        mentions = [e for e in files if e is not opening and any(same_place(one, path) for one in given(e))]
        before = [e for e in mentions if e.index < opening.index]
        emptied = any(EMPTIES.fullmatch(e.name) for e in mentions) or any(opens(e) and not adds(e) for e in before)
        reader = next((e for e in mentions if READS.fullmatch(e.name) and not opens(e)), None)
        table = goes_on_with_table(opening)
        filled = None if table or reader is not None or emptied else _filled(program, opening)
        if emptied or (reader is None and filled is None and not table):
            continue  # (a log that only grows is no result)
        if reader is not None and any(one in mentions for one in told_of):
            continue
        if reader is not None and (_asked(opening, reader) or not _is_used(program, opening)):
            continue
        told_of.append(opening)
        if reader is not None:
            related = [Related(reader.location, "is read here")]
            remedy = _NEW_FOLDER if reader.index < opening.index else _WRITE_ANEW
        else:
            related = [Related(filled.location, "is written here")] if filled is not None else []
            remedy = _WRITE_ANEW if filled is not None else _ANEW
        others = [e for e in adding if e in mentions and reader is not None and e.location != opening.location]
        at = replace(opening, guards=(either(*(both(*e.guards) for e in (opening, *others))),)) if others else opening
        related += [Related(e.location, "adds to it, too") for e in others]
        what = f"adds to what an earlier run has left in {told(path)}, {_READ if reader is not None else _BOTH}"
        yield draft(
            program, rule, at, cond=when, related=related, remedy=remedy, severity="" if related else "info",
            name=short_name(opening), what=what,
        )  # fmt: skip


def _is_refused(opening: Event, path: Value, tests: Sequence[Event]) -> bool:
    """Whether the program stops where the file is there, but for what else it asks: `raise` unless it is to go on."""
    asked = [one.opaque for cond in opening.excluded for one in literals(cond)]
    ticks = frozenset[int]().union(*(asked_by(one) for one in asked if one is not None))
    return any(test.tick in ticks and same_place(tested_file(test), path) for test in tests)


def _asked(opening: Event, reader: Event) -> bool:
    """Whether a file is read, and then added to, only where somebody asks to go on: by a flag such as ``--resume``."""
    asked = [one for one in opening.guards if by_default(one) is False and is_asked(describe(one))]
    return reader.index < opening.index and any(one in reader.guards for one in asked)


def _is_used(program: Program, opening: Event) -> bool:
    """Whether anything may be added: by a stream that is only closed again nothing is."""
    return not opening.name.endswith("open") or not all(
        one.name.endswith(_CLOSES) for one in flows.takers(program, opening)
    )


def _is_of_one_run(path: Value) -> bool:
    """Whether the name of a file comes from the clock, say, in whatever way the program goes."""
    return all(not OF_ONE_RUN.isdisjoint(taint([leaf])[0]) for _, leaf in alternatives(path))


def _filled(program: Program, opening: Event) -> Event | None:
    """The call that writes arrays or objects to the stream that was opened: lines of text are those of a log."""
    calls = program.named(_FILLS.fullmatch, "call") if opening.result is not None else []
    written = (e for e in calls if e.index > opening.index and not e.detached)
    return next((e for e in written if any(_is_stream(one, opening) for one in e.args)), None)


def _is_stream(value: Value, opening: Event) -> bool:
    return any(leaf is opening.result for _, leaf in alternatives(value))


def _only_once(opening: Event, tests: Sequence[Event], files: Sequence[Event]) -> bool:
    """Whether a file is opened only where one is not there that is made there: no later run comes to it."""
    if not any(map(is_missing, opening.guards)):
        return False
    for test in tests:
        path = tested_file(test)
        if path is not None and test.index < opening.index and absent(opening, test):
            made = (e for e in files if e.index > test.index and absent(e, test) and opens(e))
            if any(same_place(one, path) for e in made for one in given(e)):
                return True
    return False
