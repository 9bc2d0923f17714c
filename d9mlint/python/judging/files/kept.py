"""Whether what is loaded lies where the program itself saves: by the places, and by what moves a file or links it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from d9mlint.python.domain.conditions import Cond, both, conjuncts, literals, opaque
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.testkeys import asks
from d9mlint.python.domain.values import Value
from d9mlint.python.interpreter.library.streams import FILE_TESTS, LISTINGS
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.files.calls import MOVES, file_of
from d9mlint.python.judging.files.places import (
    Place,
    begin_otherwise,
    compare,
    fit_in_name,
    is_of_one_run,
    places,
    share_beginning,
)

_PATHLIB = "pathlib."


def saved_there(path: Value, saves: Iterable[Event], *, named: bool = False) -> bool:
    """Whether one of these calls is given a path that begins like ``path``: with the same flag or folder.

    A path that has the time in it is no other run's, unless who starts the next can have ``named`` it.
    """
    here = [place for place in _places(path) if named or not is_of_one_run(place)]
    there = (place for save in saves for place in written_by(save)) if here else ()
    return any(share_beginning(one, other) for other in there for one in here)


def perhaps_saved(path: Value, saves: Iterable[Event]) -> bool:
    """Whether one of these calls saves there, as ``saved_there`` tells it, and perhaps a file of the same name."""
    return any(
        share_beginning(one, other) and fit_in_name(one, other)
        for one in _places(path)
        for save in saves
        for other in written_by(save)
    )


def named_otherwise(path: Value, saves: Iterable[Event]) -> bool:
    """Whether the name of a file begins in another way than those of all that these calls save."""
    saved = [place for save in saves for place in written_by(save) if not place.is_any]
    return bool(saved) and all(begin_otherwise(one, other) for one in _places(path) for other in saved)


def perhaps_there(path: Value, saves: Iterable[Event]) -> bool:
    """The same of a path that may be any: one that the user names, or of which nothing is known."""
    here = list(_places(path))
    return not here or any(place.is_any for place in here) or saved_there(path, saves, named=True)


def of_this_run(load: Event, path: Value | None, saves: Iterable[Event]) -> bool:
    """Whether what a call loads was surely saved before in the same run, so that no other run has left it."""
    here = list(_places(path))
    before = (save for save in saves if save.index < load.index and set(save.guards) <= set(load.guards))
    return any(compare(one, other) is True for save in before for other in written_by(save) for one in here)


def written_by(save: Event) -> Iterator[Place]:
    """The places that a call which saves is given: among them where it writes."""
    of_path = save.receiver is not None and save.name.startswith(_PATHLIB)
    given = (*((save.receiver,) if of_path else ()), *save.args, *save.kwargs.values())
    return (place for value in given for place in _places(value))


def _places(path: Value | None) -> Iterator[Place]:
    return (place for _, place in places(None if path is None else file_of(path)))


def with_moves(program: Program, saves: list[Event]) -> list[Event]:
    """These calls, and those that move what they save, or give it another name: `latest` is a link to the last one."""
    moves = (e for e in program.calls(*MOVES) if e.args and not e.detached) if saves else ()
    return [*saves, *(move for move in moves if saved_there(move.args[0], saves))]


# -- conditions ----------------------------------------------------------------------------------------------------


def besides_files(conds: Iterable[Cond]) -> Cond:
    """Conditions without those that an earlier run has left a file: what is said of it presumes that there is one."""
    return both(*(part for one in conds for part in conjuncts(one) if not _asks_for_file(part)))


def lists_files(cond: Cond) -> bool:
    """Whether a condition is that a listing has something in it."""
    return any(asks(one.opaque, LISTINGS) for one in literals(cond))


def _asks_for_file(cond: Cond) -> bool:
    return asks(opaque(cond), (*FILE_TESTS, *LISTINGS))
