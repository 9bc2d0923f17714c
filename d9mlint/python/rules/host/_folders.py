"""Folders of a program: what a path is put together from, and which files are written into a folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import takewhile

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Joined, Obj, Text, Value, alternatives
from d9mlint.python.interpreter.provenance import Makers
from d9mlint.python.judging.paths import file_of, listed_by
from d9mlint.python.rules.host._files import opens, same_path, target_of

_JOINS = ("os.path.join", "pathlib.Path", "pathlib.PurePath", "builtins.str", "os.path.abspath", "os.path.expanduser",
          "os.fspath")  # fmt: skip
_PATTERN = "*"
Name = tuple[Value, ...]
"""The name of a file or folder: texts and values that it is put together from."""


def names(path: Value | None, makers: Makers) -> tuple[Name, ...]:
    """The names of the folders and the file that a path consists of; those of a flag are one."""
    found: list[list[Value]] = [[]]
    for piece in _pieces(path, makers):
        text = piece.value if isinstance(piece, Const) and isinstance(piece.value, str) else None
        if text is None:
            found[-1].append(piece)
            continue
        for number, part in enumerate(text.split("/")):
            if number:
                found.append([])
            if part not in ("", "."):
                found[-1].append(Const(part))
    return tuple(tuple(one) for one in found if one)


def _pieces(path: Value | None, makers: Makers) -> Iterator[Value]:
    """The texts and values that a path is joined from, with a slash between two names."""
    leaves = alternatives(path)
    leaf = leaves[0][1] if len(leaves) == 1 else None
    made = leaf.event if isinstance(leaf, Obj) else makers.get(id(leaf))
    if made is not None and made.name in _JOINS and made.args:
        for number, part in enumerate((*made.args, *(leaf.parts if isinstance(leaf, Joined) else ()))):
            yield from (*((Const("/"),) if number else ()), *_pieces(part, makers))
    elif isinstance(leaf, Text):
        for part in leaf.parts:
            yield from _pieces(part, makers)
    elif path is not None:
        yield path


def folder_of(listing: Event, makers: Makers) -> tuple[Name, ...]:
    """The folder that a call lists, without the pattern for names in it."""
    found = names(listed_by(listing), makers)
    return tuple(takewhile(lambda name: not any(map(_is_pattern, name)), found))


def _is_pattern(part: Value) -> bool:
    return isinstance(part, Const) and _PATTERN in str(part.value)


def writes_into(folder: tuple[Name, ...], calls: Iterable[Event], makers: Makers) -> Iterator[Event]:
    """The calls that write a file into a folder, as far as both can be told."""
    for event in calls:
        target = target_of(event) if folder and opens(event) else None
        path = names(file_of(target), makers) if target is not None else ()
        if len(path) == len(folder) + 1 and begins(path, folder):
            yield event


def begins(path: tuple[Name, ...], folder: tuple[Name, ...]) -> bool:
    """Whether a path begins with the names of a folder."""
    return len(path) >= len(folder) and all(map(_one_name, path, folder))


def _one_name(one: Name, other: Name) -> bool:
    return len(one) == len(other) and all(map(_alike, one, other))


def _alike(one: Value, other: Value) -> bool:
    if isinstance(one, Const) and isinstance(other, Const):
        return bool(one.value == other.value)
    return same_path(one, other)
