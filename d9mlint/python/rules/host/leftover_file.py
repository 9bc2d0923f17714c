"""Files that an earlier run has left, and that are no checkpoints: caches made by drawing, and files that grow."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from d9mlint.model import Argument, Related, Rule
from d9mlint.python.domain.choices import same
from d9mlint.python.domain.conditions import Cond, both, made_by, negate, opaque
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import Const, FlagValue, Obj, Text, Value, alternatives
from d9mlint.python.interpreter.library.streams import for_writing
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft, short_name, value_text
from d9mlint.python.judging.randomness import Draw, draws
from d9mlint.python.judging.seedings import seedings

_THERE = re.compile(r"exists\(|isfile\(|is_file\(")
_TESTS = (".exists", ".isfile", ".is_file")
_JOINS = ("os.path.join", "pathlib.Path")
_READS = re.compile(
    r"(numpy|torch|joblib|pickle)\.load|numpy\.(loadtxt|genfromtxt|fromfile|memmap)|pandas\.read_\w+|h5py\.File|"
    r"numpy\.lib\.format\.open_memmap|builtins\.open|io\.open|"
    r"(linecache\.getlines?|fileinput\.input|datasets\.load_dataset)"
)
_EMPTIES = re.compile(r"os\.(remove|unlink|rename|replace|truncate)|shutil\.(rmtree|move)|.*\.(unlink|rename|truncate)")
_ONCE = "lets only the first run draw, to make {}: with the same seed, later runs go on with other random numbers"
_SEED_APART = (
    "draw what the file is made of from a generator of its own with a seed of its own, or set the seed again after it "
    "is made or loaded"
)
_WRITE_ANEW = (
    'open files that are read again with `"w"`, or in a folder of this run; one that a resumed run goes on with has to '
    "be cut back to where the checkpoint was made"
)
_OF_ONE_RUN = frozenset({"clock", "pid", "entropy"})
"""What names come from that no other run has."""
_MODE = Argument(1, "mode")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the test whether a cache is there that is made by drawing, and where a file is opened that grows."""
    if program.story.local or program.story.truncated:
        return
    calls = [event for event in program.events if event.kind == "call" and not event.detached and not event.importing]
    names = {name for name in {event.name for event in calls} if _READS.fullmatch(name) or _EMPTIES.fullmatch(name)}
    files = [e for e in calls if e.name in names or (e.effects and any(x.opens or x.writes for x in e.effects))]
    tests = [event for event in calls if event.name.endswith(_TESTS)]
    yield from _caches(program, rule, tests, files)
    yield from _growing(program, rule, tests, files)


# -- caches --------------------------------------------------------------------------------------------------------


def _caches(program: Program, rule: Rule, tests: Sequence[Event], files: Sequence[Event]) -> Iterator[Draft]:
    """Where only the first run draws, as it makes a file that later ones load: all that is drawn later is other."""
    found = [one for one in draws(program) if not one.event.detached]
    guards = {guard for one in found for guard in one.event.guards}
    missing = {guard for guard in guards if _is_missing(guard)}
    makers = [one for one in found if not missing.isdisjoint(one.event.guards)]
    for test in tests if makers else ():
        path = test.args[0] if test.args else test.receiver
        making = [one for one in makers if one.event.index > test.index and _absent(one.event, test)]
        if path is None or not making or not _is_kept(path, test, files):
            continue
        later = _after(program, making, [one for one in found if not _absent(one.event, test)])
        if later is not None:
            drawn, then = later
            related = [Related(drawn.event.location, "draws only where the file is not there"),
                       Related(then.event.location, "draws after it")]  # fmt: skip
            what = _ONCE.format(_told(path))
            yield draft(program, rule, test, related=related, remedy=_SEED_APART, name=short_name(test), what=what)


def _absent(event: Event, test: Event) -> bool:
    """Whether something happens only where a test has not found its file."""
    return any(_is_missing(guard) and _is_of(guard, test) for guard in event.guards)


def _is_missing(guard: Cond) -> bool:
    """Whether a condition is that a file is not there."""
    test = opaque(negate(guard))
    if test is None:
        return False
    return _THERE.search(test.text) is not None or any(name.endswith(_TESTS) for name in made_by(test))


def _is_of(guard: Cond, test: Event) -> bool:
    """Whether a condition is not one that held already where a file is looked for."""
    return both(guard, *test.guards) is not False and guard not in test.guards


def _is_kept(path: Value, test: Event, files: Sequence[Event]) -> bool:
    """Whether the file is written where it is not there, and read all the same."""
    mentions = [e for e in files if e.index > test.index and any(_same_path(one, path) for one in _given(e))]
    writes = [e for e in mentions if _absent(e, test) and any(x.writes or x.opens for x in e.effects)]
    return bool(writes) and any(_READS.fullmatch(e.name) and e not in writes for e in mentions)


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


# -- files that grow -----------------------------------------------------------------------------------------------


def _growing(program: Program, rule: Rule, tests: Sequence[Event], files: Sequence[Event]) -> Iterator[Draft]:
    """Where a file is opened to be added to that the program reads, and that it never empties."""
    for opening in (event for event in files if _adds(event) and not _only_once(event, tests, files)):
        path = opening.args[0] if opening.args else None
        if path is None or not _OF_ONE_RUN.isdisjoint(taint([path])[0]):
            continue  # (a name that each run makes anew, unless it is given one)
        mentions = [e for e in files if e is not opening and any(_same_path(one, path) for one in _given(e))]
        emptied = any(_EMPTIES.fullmatch(e.name) or (_opens(e) and not _adds(e)) for e in mentions)
        reader = next((e for e in mentions if _READS.fullmatch(e.name) and not _opens(e)), None)
        if reader is not None and not emptied:
            related = [Related(reader.location, "is read here")]
            what = f"adds to what an earlier run has left in {_told(path)}, which the program reads"
            yield draft(
                program, rule, opening, related=related, remedy=_WRITE_ANEW, name=short_name(opening), what=what
            )


def _only_once(opening: Event, tests: Sequence[Event], files: Sequence[Event]) -> bool:
    """Whether a file is opened only where one is not there that is made there: no later run comes to it."""
    if not any(map(_is_missing, opening.guards)):
        return False
    for test in tests:
        path = test.args[0] if test.args else test.receiver
        if path is not None and test.index < opening.index and _absent(opening, test):
            made = (e for e in files if e.index > test.index and _absent(e, test) and _opens(e))
            if any(_same_path(one, path) for e in made for one in _given(e)):
                return True
    return False


def _opens(event: Event) -> bool:
    """Whether a call opens or writes a file."""
    return any(x.writes or (x.opens and for_writing(event, x)) for x in event.effects)


def _adds(event: Event) -> bool:
    """Whether a call opens a file to write at its end."""
    if not any(x.opens for x in event.effects):
        return False
    mode = event.argument(_MODE)
    text = mode.value if isinstance(mode, Const) else None
    return isinstance(text, str) and "a" in text


# -- paths ---------------------------------------------------------------------------------------------------------


def _given(event: Event) -> list[Value]:
    return [*event.args[:2], *event.kwargs.values(), *([event.receiver] if event.receiver is not None else [])]


def _same_path(one: Value, other: Value) -> bool:
    """Whether two paths are surely the same, as far as they are told."""
    if one is other or same(one, other):
        return not isinstance(one, Const) or isinstance(one.value, str)
    if isinstance(one, Text) and isinstance(other, Text):
        return len(one.parts) == len(other.parts) and all(map(_same_path, one.parts, other.parts))
    if isinstance(one, Obj) and isinstance(other, Obj) and one.event is not None and other.event is not None:
        alike = one.event.name == other.event.name and one.event.name in _JOINS
        given, theirs = one.event.args, other.event.args
        return alike and len(given) == len(theirs) > 0 and all(map(_same_path, given, theirs))
    return False


def _told(path: Value) -> str:
    leaf = next((leaf for _, leaf in alternatives(path)), path)
    known = isinstance(leaf, FlagValue) or (isinstance(leaf, Const) and isinstance(leaf.value, str))
    return f"`{value_text(leaf)}`" if known else "a file"
