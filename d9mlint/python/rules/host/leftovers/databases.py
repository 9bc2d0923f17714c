"""Databases that a program adds rows to and reads again: what all runs before have put in is among them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from d9mlint.model import Argument, Related, Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import Const, Text, Value, alternatives
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft, short_name
from d9mlint.python.judging.files.places import OF_ONE_RUN

_CONNECT = "sqlite3.connect"
_EXECUTES = re.compile(r"sqlite3\.connect\(\)(\.cursor\(\))?\.(execute|executemany|executescript)")
_INSERTS = re.compile(r"\s*INSERT\s+INTO\s+[\"'`\[]?(\w+)", re.IGNORECASE)
_READS = re.compile(r"\bFROM\s+[\"'`\[]?(\w+)", re.IGNORECASE)
_NEW = re.compile(
    r"\b(DELETE|DROP|TRUNCATE|REPLACE|CONFLICT|IGNORE|UPDATE|UNIQUE|(?<!INTEGER )PRIMARY)\b|CREATE\s+TABLE\s+(?!IF)",
    re.IGNORECASE,
)
"""What empties a table, replaces rows, or fails where a table or a row is there."""
_NARROWED = re.compile(r"\bWHERE\b", re.IGNORECASE)
"""What takes some of the rows, perhaps those of this run."""
_MONGO, _PUTS, _ASKS = "pymongo", ("?.insert_one", "?.insert_many"), ("?.find", "?.aggregate")
_DROPS = ("drop", "drop_collection", "drop_database", "delete_many", "delete_one", "remove", "unlink", "rmtree")
_SQL = Argument(0, "sql")
_ADDS = "adds rows to those of earlier runs in {}, which the program reads"
_REMEDY = (
    "make the table anew in each run (`DROP TABLE IF EXISTS`), or keep a name of the run in each row and ask for it"
)


def databases(program: Program, rule: Rule, calls: Sequence[Event]) -> Iterator[Draft]:
    """Where rows are added to a table that is read, and that nothing empties."""
    if any(e.name.rpartition(".")[2] in _DROPS for e in calls):
        return
    yield from _of_sqlite(program, rule, calls)
    yield from _of_mongo(program, rule)


def _of_sqlite(program: Program, rule: Rule, calls: Sequence[Event]) -> Iterator[Draft]:
    opened = next((e for e in program.calls(_CONNECT) if not e.detached and _is_file(e)), None)
    if opened is None:
        return
    done = [(e, _text(e.argument(_SQL))) for e in calls if _EXECUTES.fullmatch(e.name)]
    if any(not text or _NEW.search(text) for _, text in done):
        return
    for event, text in done:
        into = _INSERTS.match(text)
        table = into[1].lower() if into is not None else ""
        reads = (one for one, asked in done if table and table in {found.lower() for found in _READS.findall(asked)})
        reader = next((one for one in reads if not _NARROWED.search(_text(one.argument(_SQL)))), None)
        if reader is not None:
            yield _draft(program, rule, event, reader, f"the table `{table}`")
            return


def _of_mongo(program: Program, rule: Rule) -> Iterator[Draft]:
    puts = [e for e in program.calls(*_PUTS) if not e.detached] if program.imports(_MONGO) else []
    for put in puts:
        asks = (e for e in program.calls(*_ASKS) if not e.detached and not e.args and not e.kwargs)
        reader = next((e for e in asks if e.receiver is put.receiver), None)
        if reader is not None:
            yield _draft(program, rule, put, reader, "a collection")
            return


def _draft(program: Program, rule: Rule, put: Event, reader: Event, where: str) -> Draft:
    related = [Related(reader.location, "is read here")]
    name = short_name(put).removeprefix("?.")
    return draft(program, rule, put, related=related, remedy=_REMEDY, name=name, what=_ADDS.format(where))


def _is_file(opened: Event) -> bool:
    """Whether a database is one that the next run finds again."""
    path = opened.args[0] if opened.args else None
    if path is None or not OF_ONE_RUN.isdisjoint(taint([path])[0]):
        return False
    names = [leaf.value for _, leaf in alternatives(path) if isinstance(leaf, Const)]
    return not any(isinstance(name, str) and (":memory:" in name or not name) for name in names)


def _text(value: Value | None) -> str:
    """What is known of a command; empty where nothing is."""
    for _, leaf in alternatives(value):
        if isinstance(leaf, Const) and isinstance(leaf.value, str):
            return leaf.value
        if isinstance(leaf, Text):
            return "".join(str(part.value) if isinstance(part, Const) else "?" for part in leaf.parts)
    return ""
