"""Questions to the bytes of all files: each file is read once for all of them, and forgotten where there are many."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic, TypeVar

if TYPE_CHECKING:
    from d9mlint.kernels.source.repository import Repository

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True, eq=False)
class Look(Generic[_T]):
    """A question to the files whose names end so; the same object is the same question."""

    endings: tuple[str, ...]
    """With their one dot; templates (``.cuh.in``) with two."""
    at: Callable[[str, bytes], _T]
    """What a file holds, by its path and bytes; something false where that is nothing. It has to be picklable."""
    again: bool = False
    """Whether files in which it finds something are read again."""


_HEADER = ".h"
"""What C++ under an unusual name is taken for: it is included."""


def ending(path: str) -> str:
    """The ending of a file's name, by which it is known what it holds."""
    dot = path.rfind(".")
    return path[path.rfind(".", 0, dot) :] if path.endswith(".in") else path[dot:]


Answers = Sequence[dict[str, Any]]
"""For each of several looks, what it found by path."""
Looked = Mapping[Look[Any], Mapping[str, Any]]


def looked_through(repository: Repository, looks: Sequence[Look[Any]], paths: Iterable[str], keep: bool) -> Answers:
    """What the looks find in some files; unless told to ``keep`` all bytes, only those that are read again stay."""
    found: Answers = [{} for _ in looks]
    by_ending: dict[str, list[tuple[Callable[[str, bytes], Any], bool, dict[str, Any]]]] = {}
    for look, answers in zip(looks, found, strict=True):
        for one in look.endings:
            by_ending.setdefault(one, []).append((look.at, keep or look.again, answers))
    for path in paths:
        asked = by_ending.get(_HEADER if path in repository.unusual else ending(path))
        if asked is None:
            continue
        data = repository.data(path)
        needed = keep
        for at, again, answers in asked:
            answer = at(path, data)
            if answer:
                answers[path] = answer
                needed = needed or again
        if not needed:
            repository.forget(path)
    return found
