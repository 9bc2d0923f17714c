"""Which of more files than are followed are: those that name different ops and draws; the others do as these do."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence, Set
from typing import TYPE_CHECKING, TypeVar

from d9mlint.python.domain.choices import spread
from d9mlint.python.source.reading import CannotRead

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_T = TypeVar("_T")
_WORD = re.compile(rb"[A-Za-z_]\w+")


def covering(interp: Interpreter, options: Sequence[_T], path_of: Callable[[_T], str | None], most: int) -> list[_T]:
    """At most so many things that stand in different files, in order.

    One after the other that whose file names the most ops and draws that no other has; then from the first to the last.
    """
    if len(options) <= most:
        return [*options]
    named = [_varying_in(interp, path_of(one)) for one in options]
    left, known, chosen = [*range(len(options))], set[str](), list[int]()
    while len(chosen) < most:
        best = max(left, key=lambda at: (len(named[at] - known), -at))
        if named[best] <= known:
            break
        left.remove(best)
        chosen.append(best)
        known |= named[best]
    return [options[at] for at in sorted([*chosen, *spread(left, most - len(chosen))])]


def _varying_in(interp: Interpreter, path: str | None) -> Set[str]:
    """The names of ops and of calls that draw random numbers among the words of a file."""
    try:
        data = interp.project.data(path) if path is not None else None
    except CannotRead:
        data = None
    found = {word.decode() for word in _WORD.findall(data)} if data is not None else set[str]()
    return interp.knowledge.varying & found
