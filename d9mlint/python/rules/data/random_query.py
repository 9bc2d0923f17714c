"""Queries that have a database choose or order rows at random."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Dict, Obj, Seq, Text, Value, alternatives
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft, lower
from d9mlint.python.judging.order import orders

_ASKS = (
    ".execute", ".executemany", ".exec_driver_sql", ".fetch", ".fetchrow", ".read_sql", ".read_sql_query",
    ".read_database", ".query", ".sql", ".scalars", ".raw", ".aggregate", ".order_by",
)  # fmt: skip
"""Last names of calls that a query is given to."""
_RANDOM = re.compile(
    r"\border\s+by\s+(\w+\.)?(random|rand|newid|dbms_random\.value|uuid|gen_random_uuid)\s*(\(\s*\)|\b(?!\s*\())|"
    r"\btablesample\s+(bernoulli|system|reservoir)?\s*\([^)]*\)(?!\s*repeatable)|\busing\s+sample\b(?!.*repeatable)",
    re.IGNORECASE,
)
_SEEDED = re.compile(r"\bsetseed\s*\(", re.IGNORECASE)
_RANDOM_CALLS = re.compile(r"(^|\.)func\.(random|rand|newid)$")
"""What SQLAlchemy writes as a function of the database: ``query.order_by(func.random())``."""
_SAMPLE = "$sample"
_WRITES = re.compile(r"(^|\.)(dump|to_\w+|save\w*|savetxt|write\w*)$")
"""Last names of calls that write what a program has made."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each query that is sent, where the program computes with the rows or writes them."""
    asked = program.ending(_ASKS, "call", "unresolved")
    if not asked or not (orders.is_numeric(program) or program.named(_WRITES.search)):
        return
    if any(_SEEDED.search(text) for event in asked for text in _texts(event)):
        return
    for event in asked:
        if _at_random(event) and not event.detached:
            certain = bool(program.trains) or orders.is_numeric(program)
            confidence = rule.confidence if certain else lower(rule.confidence)
            yield draft(program, rule, event, confidence=confidence, name=event.name.rpartition(".")[2])


def _at_random(event: Event) -> bool:
    given = [*event.args, *event.kwargs.values()]
    if event.name.endswith("order_by"):
        return any(_RANDOM_CALLS.search(made.name) for made in _made(given))
    if event.name.endswith("aggregate"):
        return any(_samples(leaf) for value in given for _, leaf in alternatives(value))
    return any(_RANDOM.search(text) for text in _texts(event))


def _samples(value: Value) -> bool:
    """Whether a pipeline of MongoDB draws some of the documents."""
    steps = value.items or () if isinstance(value, Seq) else ()
    return any(isinstance(leaf, Dict) and _SAMPLE in leaf.items for step in steps for _, leaf in alternatives(step))


def _texts(event: Event) -> Iterator[str]:
    """What is written of a query in the program: the call's own texts, and those that a call around them is given."""
    given = [*event.args, *event.kwargs.values()]
    for value in [*given, *(arg for made in _made(given) for arg in made.args)]:
        for _, leaf in alternatives(value):
            parts = leaf.parts if isinstance(leaf, Text) else (leaf,)
            known = [one.value for one in parts if isinstance(one, Const) and isinstance(one.value, str)]
            if known:
                yield " ".join(known)


def _made(given: list[Value]) -> list[Event]:
    """The calls that made what a call is given: ``text("SELECT ...")``."""
    leaves = [leaf for value in given for _, leaf in alternatives(value)]
    return [leaf.event for leaf in leaves if isinstance(leaf, Obj) and leaf.event is not None]
