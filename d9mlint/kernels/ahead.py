"""All that is asked of the bytes of all files, in one pass over them: by two processes where there are many files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from d9mlint.kernels.beside import beside, numbers
from d9mlint.kernels.embedded.presence import IN_PYTHON
from d9mlint.kernels.libraries.presence import LIBRARIES
from d9mlint.kernels.sites.foreign import FOREIGN
from d9mlint.kernels.sites.presence import ATOMICS
from d9mlint.kernels.sites.tensors import SUMS
from d9mlint.kernels.source.looks import Answers, Look, Looked, looked_through
from d9mlint.kernels.source.plain import DEVICE
from d9mlint.kernels.source.qualifying import QUALIFIERS
from d9mlint.kernels.source.repository import INCLUDED, SUFFIXES, Repository
from d9mlint.kernels.tensorflow.presence import REGISTERING
from d9mlint.kernels.torch.presence import INCLUDING

FEW = 1_000
"""So many files are looked through by one process, and stay in memory: most of them are needed again."""
_PORTIONS = 128
"""Many are even work, whenever the second process begins."""

_MARK = re.compile(rb"9m:(?<=d9m:)")
"""It begins with a rare letter, by which the search skips ahead: faster than `in`."""
MARKED = Look(SUFFIXES, lambda _, data: _MARK.search(data) is not None)
"""Files with suppression comments are kept for excerpts and comments, also where nothing was found in them."""
LOOKS: tuple[Look[Any], ...] = (
    ATOMICS,
    LIBRARIES,
    REGISTERING,
    INCLUDING,
    IN_PYTHON,
    INCLUDED,
    QUALIFIERS,
    DEVICE,
    FOREIGN,
    SUMS,
    MARKED,
)


@contextmanager
def looking_ahead(repository: Repository, jobs: int = 0) -> Iterator[None]:
    """Has a repository with many files looked through.

    Another process begins at once, so that this one can import what it needs meanwhile; it joins when it asks for the
    first answer.
    """
    if len(repository.paths) <= FEW:
        yield
        return
    portions = [repository.paths[n::_PORTIONS] for n in range(_PORTIONS)]

    def look(number: int) -> Answers:
        return looked_through(repository, LOOKS, portions[number], False)

    with numbers(_PORTIONS) as left:

        def take() -> tuple[dict[int, Answers], dict[str, str]]:
            """Answers for the portions that nobody else takes, and what cannot be read."""
            return {number: look(number) for number in left}, repository.unchecked

        with beside(take, jobs) as others:
            repository.expect(lambda: _answers(repository, look, take, others))
            yield


def _answers(
    repository: Repository,
    look: Callable[[int], Answers],
    take: Callable[[], tuple[dict[int, Answers], dict[str, str]]],
    others: Callable[[], tuple[dict[int, Answers], dict[str, str]]],
) -> Looked:
    taken, _ = take()
    given, unchecked = others()
    taken |= given
    repository.unchecked |= unchecked
    # What a process took that died is missing.
    parts = [taken[number] if number in taken else look(number) for number in range(_PORTIONS)]
    return {one: _joined(part[index] for part in parts) for index, one in enumerate(LOOKS)}


def _joined(parts: Iterator[dict[str, Any]]) -> Mapping[str, Any]:
    found: dict[str, Any] = {}
    for part in parts:
        found |= part
    return dict(sorted(found.items()))
