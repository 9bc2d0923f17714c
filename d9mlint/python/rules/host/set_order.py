"""Sets gone through where the order counts."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Seq
from d9mlint.python.interpreter.library.containers.sets import unsalted
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft
from d9mlint.python.judging.hashing import where_salted
from d9mlint.python.judging.order import orders

_ADDS = ("builtins.set.add", "builtins.set.update", "?.add")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each source of such an order, unless the hash seed is fixed."""
    counted = orders.check(program, rule, "set", counts=lambda source, sink: not _is_of_numbers(program, source))
    yield from where_salted(program, counted)


def _is_of_numbers(program: Program, source: Event) -> bool:
    """Whether a set of which no item is known is one of an object whose methods put nothing but numbers into sets.

    Which of its sets was filled when it is gone through, or is looked at anew in each call, is not followed.
    """
    held = (*source.args, source.receiver)
    bare = any(isinstance(value, Seq) and not value.items and value.element is None for value in held)
    owner = source.func.owner if source.func is not None else None
    return bare and owner is not None and id(owner) in program.once("classes-with-sets-of-numbers", _with_numbers)


def _with_numbers(program: Program) -> frozenset[int]:
    """The classes whose methods put numbers into sets and nothing else, by their ``id``."""
    numbers: set[int] = set()
    others: set[int] = set()
    for event in program.calls(*_ADDS):
        owner = event.func.owner if event.func is not None else None
        if owner is not None:
            (numbers if all(map(unsalted, event.args)) else others).add(id(owner))
    return frozenset(numbers - others)
