"""Files and folders as far as a program tells them: whether what is loaded lies where the program itself saves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from d9mlint.python.domain.choices import choose
from d9mlint.python.domain.conditions import Cond, Flag, both, conjuncts, either, literals, opaque
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.testkeys import asks
from d9mlint.python.domain.values import (
    UNKNOWN,
    Const,
    FlagValue,
    Joined,
    Obj,
    Phi,
    Ref,
    Text,
    Unknown,
    Value,
    alternatives,
)
from d9mlint.python.interpreter.library.streams import FILE_TESTS, LISTINGS
from d9mlint.python.interpreter.program import Program

_MOVES = ("os.replace", "os.rename", "shutil.move", "shutil.copy", "shutil.copy2", "shutil.copyfile")
"""Calls that put a file into another place; the first argument is where it was."""
_JOINS = ("os.path.join", "pathlib.Path", "builtins.str", "os.path.abspath", "os.path.expanduser")


_FOLDER = "os.path.dirname"
UNTOLD = "?"
"""In a path what is only known when the program runs."""
OF_ONE_RUN = frozenset({"clock", "pid", "entropy"})
"""What names come from that no other run has."""
DRAWN = OF_ONE_RUN | {"random"}
"""The same, and numbers by which runs are told apart: ``"".join(random.choice(letters) for _ in range(10))``."""


def path_of(event: Event) -> Value | None:
    """The file that a call opens, reads or writes: of a method of a path that itself, else the first argument."""
    if event.receiver is not None and event.name.startswith("pathlib."):
        return event.receiver
    return event.args[0] if event.args else None


def tested_file(test: Event) -> Value | None:
    """The file that a call asks for, whether it is there: ``os.path.exists(path)``, ``path.exists()``."""
    return test.args[0] if test.args else test.receiver


def listed_by(listing: Event) -> Value | None:
    """The folder, or the pattern of names, that a call lists; of a method of a path that itself."""
    if listing.name.startswith(("pathlib.", "?.")):
        return listing.receiver
    return listing.args[0] if listing.args else listing.receiver


def file_of(value: Value, makers: Mapping[int, Event] = {}) -> Value:
    """The file that a stream writes, with ``makers`` (``results(program)``) also one that it reads; else the value."""
    if isinstance(value, Phi):  # `open(file, "rb") if isinstance(file, str) else file`
        return choose([(cond, file_of(leaf, makers)) for cond, leaf in alternatives(value)])
    made = value.event if isinstance(value, Obj) else makers.get(id(value))
    path = path_of(made) if made is not None and any(effect.opens for effect in made.effects) else None
    return value if path is None else file_of(path)


def beginning(path: Value) -> Value:
    """What a path is joined from begins with: ``args.out`` of ``Path(args.out) / "last.pt"``."""
    if isinstance(path, Text):
        return beginning(path.first)
    made = path.event if isinstance(path, Obj) else None
    return beginning(made.args[0]) if made is not None and made.name in _JOINS and made.args else path


def saved_there(path: Value, saves: Iterable[Event], *, named: bool = False) -> bool:
    """Whether one of these calls is given a path that begins like ``path``: with the same flag or folder.

    A path that has the time in it is no other run's, unless who starts the next can have ``named`` it.
    """
    here = {root for _, leaf in alternatives(path) if named or not _is_of_one_run(leaf) for root in _roots(leaf)}
    for saved in saves:
        given = (*saved.args, *saved.kwargs.values())
        if saved.receiver is not None and saved.name.startswith("pathlib."):
            given = (saved.receiver, *given)
        there = {root for one in given for root in _roots(one)}
        if here & there or any(_alike(one, other) for one in here for other in there):
            return True
    return False


def _is_of_one_run(path: Value) -> bool:
    return isinstance(path, (Text, Obj)) and not path.origins.isdisjoint(OF_ONE_RUN)


def lasting(path: Value) -> Cond:
    """When a path is that of another run, too: none of its parts is drawn for this one, or has the time in it.

    What the environment says where nobody gives a name is the number of a job: ``os.environ.get("SLURM_JOB_ID")``.
    """
    found: list[Cond] = []
    several = alternatives(path)
    by_run = DRAWN | {"env"} if len(several) > 1 else DRAWN
    for cond, leaf in several:
        parts = _parts(leaf)
        drawn = not parts and isinstance(leaf, (Unknown, Obj)) and not leaf.origins.isdisjoint(by_run)
        found.append(both(cond, not drawn, *map(lasting, parts)))
    return either(*found)


def _parts(path: Value) -> Sequence[Value]:
    """What a text or a path is joined from."""
    if isinstance(path, Text):
        return path.parts
    made = path.event if isinstance(path, Obj) else None
    joined = path.parts if isinstance(path, Joined) else ()
    return (*made.args, *joined) if made is not None and made.name in _JOINS else joined


def flags_of(path: Value) -> list[str]:
    """The names of the flags that a path begins with."""
    return [str(root) for kind, root in _roots(path) if kind == "flag"]


def flags_within(path: Value) -> set[str]:
    """The names of all flags that a path is put together from."""
    return {flag.name for flag in parts_by_flags(path)}


def parts_by_flags(path: Value) -> Iterator[Flag]:
    """All flags that a path is put together from."""
    if isinstance(path, FlagValue):
        yield path.flag
    parts = path.parts if isinstance(path, Text) else path.event.args if isinstance(path, Obj) and path.event else ()
    leaves = alternatives(path) if len(alternatives(path)) > 1 else ()
    for part in (*parts, *(leaf for _, leaf in leaves)):
        yield from parts_by_flags(part)


def as_written(path: Value) -> Iterator[str]:
    """Paths as the program writes them: flags by their names, and ``UNTOLD`` for what is only known when it runs."""
    for _, leaf in alternatives(path):
        made = leaf.event if isinstance(leaf, Obj) else None
        if isinstance(leaf, Const) and isinstance(leaf.value, str):
            yield leaf.value
        elif isinstance(leaf, FlagValue):
            yield f"<{leaf.flag.name}>"
        elif isinstance(leaf, Text):
            yield ("/" if leaf.path else "").join(_first(part) for part in leaf.parts)
        elif made is not None and made.name == _JOINS[0]:
            yield "/".join(_first(part).rstrip("/") for part in made.args)
        elif made is not None and made.name == _FOLDER:
            yield _first(made.args[0]).rpartition("/")[0]
        elif made is not None and made.name in _JOINS[1:] and made.args:
            yield _first(made.args[0])
        else:
            yield UNTOLD


def _first(part: Value) -> str:
    return next(as_written(part), UNTOLD)


def perhaps_saved(path: Value, saves: Iterable[Event]) -> bool:
    """Whether one of these calls saves there, as ``saved_there`` tells it, and perhaps a file of the same name."""
    there = (one for one in saves if saved_there(path, [one]))
    given = [value for one in there for value in (*one.args, *one.kwargs.values())]
    saved = {_file_name(leaf) for value in given for _, leaf in alternatives(value) if any(_roots(leaf))}
    loaded = {_file_name(leaf) for _, leaf in alternatives(path)}
    return bool(given) and any(_one_name(here, other) for here in loaded for other in saved or {_ANY})


def named_otherwise(path: Value, saves: Iterable[Event]) -> bool:
    """Whether the name of a file begins in another way than those of all that these calls save."""
    given = [value for one in saves for value in (*one.args, *one.kwargs.values())]
    saved = {_file_name(leaf).beginning for value in given for _, leaf in alternatives(value) if any(_roots(leaf))}
    loaded = {_file_name(leaf).beginning for _, leaf in alternatives(path)}
    return bool(saved) and all(
        here and there and not here.startswith(there) and not there.startswith(here)
        for here in loaded
        for there in saved
    )


class _Name(NamedTuple):
    """The name of a file in its folder, as far as it is known: how it begins and ends, or all of it."""

    beginning: str
    end: str
    whole: bool = False


_ANY = _Name("", "")


def _one_name(here: _Name, other: _Name) -> bool:
    """Whether two names may be the same."""
    if here.whole and other.whole:
        return here.beginning == other.beginning
    begins = here.beginning.startswith(other.beginning) or other.beginning.startswith(here.beginning)
    return begins and (here.end.endswith(other.end) or other.end.endswith(here.end))


def _file_name(path: Value) -> _Name:
    """The name of a file in its folder."""
    path = file_of(path)
    if isinstance(path, Obj) and path.event is not None and path.event.name in _JOINS and path.event.args:
        return _file_name(path.event.args[-1])
    if isinstance(path, Text):
        return _name_of_text(path)
    known = isinstance(path, Const) and isinstance(path.value, str)
    name = str(path.value).rpartition("/")[2] if isinstance(path, Const) and known else ""
    return _Name(name, name, bool(name))


def _name_of_text(path: Text) -> _Name:
    """The same of a text that is put together: ``f"out/net_{epoch}.pt"`` begins with ``net_`` and ends with ``.pt``."""
    texts = [str(part.value) if isinstance(part, Const) else None for part in path.parts]
    first = max((at for at, text in enumerate(texts) if text is not None and "/" in text), default=None)
    after = texts[first:] if first is not None else texts
    after = [(after[0] or "").rpartition("/")[2] if first is not None else after[0], *after[1:]]
    if all(text is not None for text in after):
        name = "".join(text or "" for text in after)
        return _Name(name, name, bool(name))
    known = after[0] if first is not None else ""
    return _Name(known or "", after[-1] or "")


def perhaps_there(path: Value, saves: Iterable[Event]) -> bool:
    """The same of a path that may be any: one that the user names, or of which nothing is known."""
    roots = list(_roots(path))
    return not roots or any(kind == "flag" for kind, _ in roots) or saved_there(path, saves, named=True)


def besides_files(conds: Iterable[Cond]) -> Cond:
    """Conditions without those that an earlier run has left a file: what is said of it presumes that there is one."""
    return both(*(part for one in conds for part in conjuncts(one) if not _asks_for_file(part)))


def lists_files(cond: Cond) -> bool:
    """Whether a condition is that a listing has something in it."""
    return any(asks(one.opaque, LISTINGS) for one in literals(cond))


def _asks_for_file(cond: Cond) -> bool:
    return asks(opaque(cond), (*FILE_TESTS, *LISTINGS))


def with_moves(program: Program, saves: list[Event]) -> list[Event]:
    """These calls, and those that move what they save: it is written beside its place, then renamed."""
    moves = (e for e in program.calls(*_MOVES) if e.args and not e.detached) if saves else ()
    return [*saves, *(move for move in moves if saved_there(move.args[0], saves))]


def _alike(one: tuple[str, object], other: tuple[str, object]) -> bool:
    """Whether one is a name that begins as the other does."""
    if _BEGINNING not in (one[0], other[0]) or not {one[0], other[0]} <= {_BEGINNING, "text"}:
        return False
    names = sorted((str(one[1]), str(other[1])), key=len)
    return bool(names[0]) and names[1].startswith(names[0])


_BEGINNING = "beginning"


def _roots(path: Value) -> Iterator[tuple[str, object]]:
    """What a path begins with: a flag, the first folder of a text, or the beginning of a name."""
    for _, leaf in alternatives(path):
        if isinstance(leaf, FlagValue):
            yield "flag", leaf.flag.name
        elif isinstance(leaf, Const) and isinstance(leaf.value, str) and leaf.value:
            yield "text", leaf.value.removeprefix("./").partition("/")[0]
        elif isinstance(leaf, Text):
            whole = not isinstance(leaf.first, Const) or "/" in str(leaf.first.value).removeprefix("./")
            yield from ((kind if whole else _BEGINNING, root) for kind, root in _roots(leaf.first))
            if type(leaf.first) is Unknown:
                yield "folder", id(leaf.first)
        elif isinstance(leaf, Ref):
            yield "name", leaf.name
        elif (file := file_of(leaf)) is not leaf:
            yield from _roots(file)
        elif isinstance(leaf, Obj) and leaf.event is not None and leaf.event.name in _JOINS and leaf.event.args:
            first = leaf.event.args[0]
            known = list(_roots(first))
            own = "path" if type(first) is not Unknown or first is UNKNOWN else "folder"
            # `os.path.join(config["out"], "weights")`, or `os.path.join(self.out, "weights")` with what was handed in
            yield from known or [(own, leaf.event.index if own == "path" else id(first))]
        elif isinstance(leaf, Obj) and leaf.event is not None and leaf.event.name.startswith("pathlib."):
            yield "path", leaf.event.index  # `Path(__file__).resolve()`, and what is put together from it
