"""The places that paths name: symbolic paths in one spelling, and whether two of them are the same.

A place is a row of names, of folders and at last of a file, each put together from texts and from leaves: flags,
attributes, and values of which nothing is known but that they are one and the same wherever they come from.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, TypeAlias

from d9mlint.python.domain.conditions import UNKNOWN_DEFAULT, Cond, Flag, both, either
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import is_number, taint
from d9mlint.python.domain.values import UNKNOWN, Const, FlagValue, Joined, Obj, Ref, Text, Value, alternatives
from d9mlint.python.frameworks.checkpoints import FINDERS

_JOINS = ("os.path.join", "pathlib.Path", "pathlib.PurePath", "pathlib.Path.joinpath")
_SAME = (
    "builtins.str", "os.fspath", "os.path.abspath", "os.path.expanduser", "os.path.expandvars", "os.path.normpath",
    "os.path.realpath", "pathlib.Path.resolve", "pathlib.Path.absolute", "pathlib.Path.expanduser",
    "pathlib.Path.as_posix", "builtins.str.strip", "builtins.str.rstrip",
)  # fmt: skip
"""Calls that spell a path in other words."""
_FOLDERS, _NAMES = ("os.path.dirname",), ("os.path.basename",)
_PARENT, _NAME = ".parent", ".name"
_OF_PATHS = "pathlib."
_MOST_PLACES, _MOST_LEVELS = 12, 12


@dataclass(frozen=True, slots=True)
class Leaf:
    """A part of a path that no text tells; ``key`` says which one it is, and is empty for what is never the same."""

    key: tuple[object, ...]
    value: Value = field(compare=False, hash=False)


Piece: TypeAlias = str | Leaf
Name: TypeAlias = tuple[Piece, ...]


class Place(NamedTuple):
    """Where a path leads, as far as it is told."""

    names: tuple[Name, ...]

    @property
    def folder(self) -> Place:
        """The folder that it lies in."""
        return Place(self.names[:-1])

    @property
    def leaves(self) -> Iterator[Leaf]:
        """What in it no text tells."""
        return (piece for name in self.names for piece in name if isinstance(piece, Leaf))

    @property
    def told_beginning(self) -> Value | None:
        """The folder that it begins with, as far as it can be told to the user: a flag, or folders that have names."""
        first = _beginning(self)
        if len(first) == 1 and isinstance(first[0], Leaf):
            return first[0].value if isinstance(first[0].value, FlagValue) else None
        names = self.names[:-1] if self.names[1:] and "." in str(self.names[-1][-1]) else self.names
        known = itertools.takewhile(lambda name: all(isinstance(piece, str) for piece in name), names)
        text = "/".join(str(piece) for name in known for piece in name)
        return Const(text) if text else None

    @property
    def is_open(self) -> bool:
        """Whether something in it is only known when the program runs."""
        return any(not isinstance(leaf.value, FlagValue) for leaf in self.leaves)

    @property
    def is_any(self) -> bool:
        """Whether it may be anywhere: the user names where it begins, or nothing is known of that."""
        first = next(iter(_beginning(self)), None)
        return isinstance(first, Leaf) and not isinstance(first.value, Ref)


def places(path: Value | None) -> tuple[tuple[Cond, Place], ...]:
    """The places that a path may name, each under its condition; none of what is no path (``None``, a number)."""
    found = ((cond, leaf) for cond, leaf in alternatives(path) if not isinstance(leaf, Const) or _is_text(leaf))
    each = ((both(cond, also), pieces) for cond, leaf in found for also, pieces in _of_leaf(leaf, 0))
    return tuple((cond, Place(_split(pieces))) for cond, pieces in each if cond is not False)[:_MOST_PLACES]


def _is_text(leaf: Const) -> bool:
    return isinstance(leaf.value, str) and bool(leaf.value)


# -- the spelling of a path ----------------------------------------------------------------------------------------

_Spelled: TypeAlias = list[tuple[Cond, tuple[Piece, ...]]]


def _spelled(path: Value | None, level: int) -> _Spelled:
    found = [
        (both(cond, also), pieces) for cond, leaf in alternatives(path) for also, pieces in _of_leaf(leaf, level + 1)
    ]
    return [one for one in found if one[0] is not False][:_MOST_PLACES]


def _of_leaf(path: Value, level: int) -> _Spelled:
    if isinstance(path, Const):
        return [(True, (path.value if isinstance(path.value, str) else str(path.value),))]
    if level < _MOST_LEVELS:
        made = _of_parts(path, level)
        if made is not None:
            return made
    return [(True, (_leaf(path),))]


def _leaf(path: Value) -> Leaf:
    if isinstance(path, FlagValue):
        return Leaf(("flag", path.flag.name), path)
    if isinstance(path, Ref):
        owner = path.receiver
        of = () if owner is None or isinstance(owner, Ref) else (_leaf(owner).key or id(owner),)
        return Leaf(("name", path.name, *of), path)
    if isinstance(path, Obj) and path.event is not None:
        return Leaf(("made", path.event.index), path)
    return Leaf(() if path is UNKNOWN else ("value", id(path)), path)


def _of_parts(path: Value, level: int) -> _Spelled | None:
    """What a path is that is put together from others; None for one that is not."""
    if isinstance(path, Text):
        return _together(path.parts, "", level)
    if isinstance(path, Ref) and path.receiver is not None:
        found = path.receiver.event if isinstance(path.receiver, Obj) else None
        if found is not None and found.name in FINDERS:
            return _of_call(found, level)  # `get_checkpoint_state(folder).model_checkpoint_path`
        return _of_attribute(path.name, path.receiver, level) if path.name.startswith(_OF_PATHS) else None
    made = path.event if isinstance(path, Obj) else None
    if made is None:
        return None
    whole = _of_call(made, level)
    if not isinstance(path, Joined):
        return whole
    before: _Spelled = [(True, (_leaf(Obj(path.type, made)),))] if whole is None else whole
    between = "/" if path.type.startswith(_OF_PATHS) else ""
    return _joined([before, *(_spelled(part, level) for part in path.parts)], between)


def _of_call(made: Event, level: int) -> _Spelled | None:
    if made.name in FINDERS:
        folder = _spelled(made.argument(FINDERS[made.name]), level)
        return _joined([folder, [(True, (Leaf(("made", made.index), UNKNOWN),))]], "/") if folder else None
    given = (*((made.receiver,) if made.name.startswith("pathlib.Path.") else ()), *made.args)
    given = tuple(one for one in given if one is not None)
    if made.name in _JOINS and given:
        return _together(given, "/", level)
    if not given:
        return None
    if made.name in _SAME:
        return _spelled(given[0], level)
    if made.name in (*_FOLDERS, *_NAMES):
        return _of_attribute(_PARENT if made.name in _FOLDERS else _NAME, given[0], level)
    return None


def _of_attribute(name: str, path: Value, level: int) -> _Spelled | None:
    """The folder above a path (``path.parent.parent``), or its last name."""
    found = _spelled(path, level)
    if name.endswith(_NAME):
        return [(cond, names[-1] if (names := _split(pieces)) else ("",)) for cond, pieces in found]
    levels = name.count(_PARENT)
    if not levels or not name.endswith(_PARENT):
        return None
    above = [(cond, _split(pieces)) for cond, pieces in found]
    if any(len(names) <= levels for _, names in above):
        return None
    return [(cond, _unsplit(names[:-levels])) for cond, names in above]


def _together(parts: Sequence[Value], between: str, level: int) -> _Spelled:
    return _joined([_spelled(part, level) for part in parts], between)


def _joined(parts: Sequence[_Spelled], between: str) -> _Spelled:
    """What several parts are together, whichever of each there is."""
    found: _Spelled = []
    for several in itertools.islice(itertools.product(*parts), _MOST_PLACES):
        cond = both(*(one for one, _ in several))
        if cond is False:
            continue
        pieces: tuple[Piece, ...] = ()
        for _, more in several:
            absolute = between and more and isinstance(more[0], str) and more[0].startswith("/")
            pieces = more if absolute or not pieces else (*pieces, *((between,) if between else ()), *more)
        found.append((cond, pieces))
    return found


def _split(pieces: Sequence[Piece]) -> tuple[Name, ...]:
    """The names between the slashes; a path that begins with one has an empty name first."""
    found: list[list[Piece]] = [[]]
    for piece in pieces:
        if isinstance(piece, Leaf):
            found[-1].append(piece)
            continue
        first, *others = piece.split("/")
        _add(found[-1], first)
        for text in others:
            found.append([])
            _add(found[-1], text)
    root = (("",),) if pieces and isinstance(pieces[0], str) and pieces[0].startswith("/") else ()
    return (*root, *(tuple(name) for name in found if name and name != ["."]))


def _add(name: list[Piece], text: str) -> None:
    """Adds a text to a name, which may end with one."""
    if text and name and isinstance(name[-1], str):
        text = f"{name.pop()}{text}"
    if text:
        name.append(text)


def _unsplit(names: Sequence[Name]) -> tuple[Piece, ...]:
    return tuple(piece for number, name in enumerate(names) for piece in ((*(("/",) if number else ()), *name)))


# -- comparisons ---------------------------------------------------------------------------------------------------


def compare(one: Place, other: Place) -> bool | None:
    """Whether two places are the same; None where they may be.

    Flags that have the same default name one place, in a run that is given neither of them.
    """
    found = _compare(one.names, other.names)
    if found is True or not (_has_flags(one) or _has_flags(other)):
        return found
    return _compare(_at_defaults(one).names, _at_defaults(other).names) or found


def same_place(one: Value | None, other: Value | None) -> bool:
    """Whether two paths are surely the same, in each way that there is."""
    here, there = places(one), places(other)
    return bool(here and there) and all(compare(a, b) for x, a in here for y, b in there if both(x, y) is not False)


def perhaps_same(one: Value | None, other: Value | None) -> bool:
    """Whether two paths are surely the same in some way that there is."""
    there = places(other)
    return any(compare(a, b) is True and both(x, y) is not False for x, a in places(one) for y, b in there)


def begins(path: Place, folder: Place) -> bool:
    """Whether a place surely lies in a folder, or below it."""
    return bool(folder.names) and _compare(path.names[: len(folder.names)], folder.names) is True


def share_beginning(one: Place, other: Place) -> bool:
    """Whether two places begin alike: in one folder, with one flag, or with one beginning of a name."""
    here, there = _beginning(one), _beginning(other)
    if not here or not there:
        return False
    same = _same(here, there)
    if same is None and isinstance(here[0], str) and isinstance(there[0], str) and (len(here) > 1 or len(there) > 1):
        shorter, longer = sorted((here[0], there[0]), key=len)
        return longer.startswith(shorter)
    return same is True


def fit_in_name(one: Place, other: Place) -> bool:
    """Whether the last names of two places may be the same, wherever they lie."""
    return bool(one.names and other.names) and _same(one.names[-1], other.names[-1]) is not False


def begin_otherwise(one: Place, other: Place) -> bool:
    """Whether the last names of two places are known to begin in different ways."""
    here, there = (place.names[-1][0] if place.names else "" for place in (one, other))
    known = isinstance(here, str) and isinstance(there, str) and bool(here and there)
    return known and not _fit(here, there, str.startswith)


def _beginning(place: Place) -> Name:
    """The first name that tells anything."""
    return next((name for name in place.names if name != ("",)), ())


def _compare(here: Sequence[Name], there: Sequence[Name]) -> bool | None:
    first = _alike(here, there)
    here, there = here[first:], there[first:]
    last = _alike(here[::-1], there[::-1])
    here, there = here[: len(here) - last], there[: len(there) - last]
    if not here and not there:
        return True
    if any(map(_spans, (*here, *there))):
        ends = [(here[at], there[at]) for at in (0, -1)] if here and there else []
        differ = any(not _spans(a) and not _spans(b) and _same(a, b) is False for a, b in ends)
        return False if differ else None
    if len(here) != len(there) or any(_same(a, b) is False for a, b in zip(here, there, strict=True)):
        return False
    return None


def _alike(here: Sequence[Name], there: Sequence[Name]) -> int:
    """How many names two paths have in common at the beginning."""
    pairs = zip(here, there, strict=False)
    return len(list(itertools.takewhile(lambda pair: _same(*pair) is True, pairs)))


def _same(one: Name, other: Name) -> bool | None:
    """Whether two names are the same; None where they may be."""
    if all(isinstance(piece, str) for piece in (*one, *other)):
        return one == other
    if one == other and all(piece.key for piece in one if isinstance(piece, Leaf)):
        return True
    begin, end = ((one[at], other[at]) for at in (0, -1))
    fits = _fit(*begin, str.startswith) and _fit(*end, str.endswith)
    return None if fits else False


def _fit(one: Piece, other: Piece, ends: Callable[[str, str], bool]) -> bool:
    """Whether two names may have these ends."""
    if isinstance(one, str) and isinstance(other, str):
        return ends(one, other) or ends(other, one)
    return True


def _spans(name: Name) -> bool:
    """Whether there may be several names in a leaf of one; a number has no slashes in it."""
    return any(isinstance(piece, Leaf) and not is_number(piece.value) for piece in name)


def _has_flags(place: Place) -> bool:
    return any(isinstance(leaf.value, FlagValue) for leaf in place.leaves)


def _at_defaults(place: Place) -> Place:
    """A place in a run that is given no flags, as far as their defaults are known."""
    pieces = (_default(piece) if isinstance(piece, Leaf) else piece for piece in _unsplit(place.names))
    return Place(_split(tuple(pieces)))


def _default(leaf: Leaf) -> Piece:
    flag = leaf.value.flag if isinstance(leaf.value, FlagValue) else None
    if flag is None or not flag.default or flag.default == UNKNOWN_DEFAULT or flag.required:
        return leaf
    return str(flag.default)


# -- what a path is made of ----------------------------------------------------------------------------------------

OF_ONE_RUN = frozenset({"clock", "pid", "entropy"})
"""What names come from that no other run has."""
DRAWN = OF_ONE_RUN | {"random"}
"""The same, and numbers by which runs are told apart: ``"".join(random.choice(letters) for _ in range(10))``."""


def lasting(path: Value) -> Cond:
    """When a path is that of another run, too: none of its parts is drawn for this one, or has the time in it.

    What the environment says where nobody gives a name is the number of a job: ``os.environ.get("SLURM_JOB_ID")``.
    """
    several = places(path)
    by_run = DRAWN | {"env"} if len(several) > 1 else DRAWN
    return either(*(cond for cond, place in several if not _comes_from(place, by_run)))


def is_of_one_run(place: Place) -> bool:
    """Whether a place has the time in its names, say."""
    return _comes_from(place, OF_ONE_RUN)


def _comes_from(place: Place, origins: frozenset[str]) -> bool:
    return not taint(leaf.value for leaf in place.leaves)[0].isdisjoint(origins)


def flags_within(path: Value | None) -> dict[str, Flag]:
    """The flags that a path is put together from, by their names."""
    leaves = (leaf.value for _, place in places(path) for leaf in place.leaves)
    return {one.flag.name: one.flag for one in leaves if isinstance(one, FlagValue)}


def flags_of(path: Value) -> list[str]:
    """The names of the flags that a path begins with."""
    first = (name[0] for _, place in places(path) if (name := _beginning(place)))
    return [one.value.flag.name for one in first if isinstance(one, Leaf) and isinstance(one.value, FlagValue)]
