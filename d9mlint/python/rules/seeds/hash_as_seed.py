"""Seeds from ``hash()`` or ``id()``."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import Cond, both, either
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, FlagValue, Seq, Unknown, Value, alternatives
from d9mlint.python.interpreter.program import Program, is_none
from d9mlint.python.judging.drafts import Draft
from d9mlint.python.judging.hashing import salted
from d9mlint.python.rules.seeds import _origin_seeds

ORIGINS = {"hash": "`hash()`", "address": "`id()`"}
_NUMBERS = frozenset({"int", "length", "rank"})


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each seeding."""

    def varies(sources: tuple[Event, ...]) -> Cond:
        own = _varies(sources)
        return own if any(e.name == "builtins.id" for e in sources) else both(own, program.once("salted", salted))

    yield from _origin_seeds.check(program, rule, ORIGINS, varies, _known)


def _known(sources: tuple[Event, ...]) -> bool:
    """Whether anything is seen to be hashed: what a function gets that nothing calls may be a number."""
    return not all(event.detached for event in sources)


def _varies(sources: tuple[Event, ...]) -> Cond:
    """When the hashes differ from process to process; a source of another kind always does."""
    hashes = [e for e in sources if e.name == "builtins.hash" and e.args]
    if not hashes or any(e.name == "builtins.id" for e in sources):
        return True
    return either(*(_salted(e.args[0]) for e in hashes))


def _salted(value: Value) -> Cond:
    """When ``hash`` of a value differs: numbers and tuples of numbers hash alike, None by its address before 3.12."""
    return either(*(both(cond, _leaf(leaf)) for cond, leaf in alternatives(value)))


def _leaf(leaf: Value) -> Cond:
    if isinstance(leaf, Const):
        return not isinstance(leaf.value, (int, float))
    if isinstance(leaf, Seq) and leaf.items is not None:
        return either(*(_salted(item) for item in leaf.items))
    if isinstance(leaf, FlagValue) and leaf.flag.name.endswith("seed"):
        return is_none(leaf)  # a seed is a number once it is given
    return not (isinstance(leaf, Unknown) and leaf.origins & _NUMBERS)
