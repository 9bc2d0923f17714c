"""Function objects that algorithms call: what these do with what the object gives."""

from __future__ import annotations

import re

from d9mlint.kernels.judging.types.dispatch import enclosing
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.unit import Function

DROPPING = re.compile(r"for_?each|parallel_for|launch|\Abulk\Z", re.IGNORECASE)
"""In the names of functions that drop what the function gives which they call for each element."""
_NO_CALLS = ("if", "for", "while", "switch", "return", "sizeof", "decltype")


def applied(function: Function | None, repository: Repository) -> bool:
    """Whether a function is the call operator of objects that are made among the arguments of an algorithm.

    ``thrust::transform(policy, first, last, out, take_place_t{counters})``: what it gives is stored.
    """
    if function is None or not function.name.startswith("operator()") or not function.scope:
        return False
    return repository.derived(_made_for, function.scope.rpartition("::")[2])


def _made_for(repository: Repository, name: str) -> bool:
    made = re.compile(rb"\b" + re.escape(name.encode()) + rb"\s*(?:<[^;{}()]*>)?\s*(?:[{(]|(\w+)\s*[;{(=])")
    for path in repository.holding(name.encode()):
        data = repository.data(path)
        for match in made.finditer(data):
            if _argument(data, match.start()):
                return True
            variable = re.compile(rb"[,(]\s*" + re.escape(match[1]) + rb"\s*[,)]") if match[1] else None
            if variable and any(_argument(data, one.end() - 1) for one in variable.finditer(data, match.end())):
                return True
    return False


def _argument(data: bytes, at: int) -> bool:
    """Whether a byte is among the arguments of a call that keeps what a function gives."""
    called = next(enclosing(data, at), None)
    return called is not None and called[0] not in _NO_CALLS and not DROPPING.search(called[0])
