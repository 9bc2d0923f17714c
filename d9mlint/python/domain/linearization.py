"""The order in which Python looks for a name in the bases of a class (docs.python.org/3/howto/mro.html)."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

_T = TypeVar("_T")


def merged(lines: Iterable[Sequence[_T]], same: Callable[[_T, _T], bool] = operator.is_) -> list[_T] | None:
    """The lines of bases as one, in which each thing stands before what follows it in any of them (C3); None where
    that cannot be."""
    rest = [list(line) for line in lines]
    found: list[_T] = []
    while rest := [line for line in rest if line]:
        after = [one for line in rest for one in line[1:]]
        heads = (line[0] for line in rest)
        head = next((one for one in heads if not any(same(one, other) for other in after)), None)
        if head is None:
            return None
        found.append(head)
        rest = [line[1:] if line[0] is head or same(line[0], head) else line for line in rest]
    return found
