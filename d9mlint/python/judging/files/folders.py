"""Folders of a program: which of them are listed, and which files are written into them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile

from d9mlint.python.domain.events import Event
from d9mlint.python.judging.files.calls import file_of, listed_by, opens, target_of
from d9mlint.python.judging.files.places import Name, Place, begins, places

_PATTERN = "*"


def folder_of(listing: Event) -> tuple[Place, ...]:
    """The folder that a call lists, without the pattern for names in it; each that it may be."""
    found = (Place(tuple(takewhile(_is_plain, place.names))) for _, place in places(listed_by(listing)))
    return tuple(place for place in found if place.names)


def _is_plain(name: Name) -> bool:
    return not any(isinstance(piece, str) and _PATTERN in piece for piece in name)


def writes_into(folders: tuple[Place, ...], calls: Iterable[Event]) -> Iterator[Event]:
    """The calls that write a file into a folder, as far as both can be told."""
    for event in calls:
        target = target_of(event) if folders and opens(event) else None
        paths = places(file_of(target)) if target is not None else ()
        if any(
            begins(path.folder, one) and len(path.names) == len(one.names) + 1 for _, path in paths for one in folders
        ):
            yield event
