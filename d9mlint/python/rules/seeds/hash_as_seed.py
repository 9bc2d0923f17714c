"""Seeds from ``hash()`` or ``id()``."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import Cond, both, either
from d9mlint.python.domain.events import Event
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft
from d9mlint.python.judging.hashing import salted, salted_value
from d9mlint.python.rules.seeds import _origin_seeds

ORIGINS = {"hash": "`hash()`", "address": "`id()`"}


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
    return either(*(salted_value(e.args[0]) for e in hashes))
