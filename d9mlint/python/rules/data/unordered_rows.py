"""Rows of tables that several tasks work on, taken in the order in which those end."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Obj, alternatives
from d9mlint.python.frameworks import tables
from d9mlint.python.frameworks.tensorflow.determinism import trainings
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft, lower
from d9mlint.python.judging.order import orders

_PACKAGES = ("pyspark", "ray", "polars", "duckdb")
_NUMBERS = "pyspark.sql.functions.monotonically_increasing_id"
_KEYED = ("set_index", "to_dict", "sort_values", "sort_index", "groupby", "describe", "equals")
"""What is done with a table whose rows are looked for by a key, or counted."""
_REMEDIES = {
    "pyspark": 'sort by a key without ties before the rows are taken: `table.orderBy("id").toPandas()`',
    "ray": "`ray.data.DataContext.get_current().execution_options.preserve_order = True` before the rows are read",
    "polars": 'sort by a key without ties, `.sort("id")`, or ask for the order: `.unique(maintain_order=True)`, '
    '`.group_by("id", maintain_order=True)`',
    "duckdb": "end the query with `ORDER BY` a key without ties",
}


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each call that takes rows out of order whose order counts, and at each numbering of such rows."""
    if not program.imports(*_PACKAGES):
        return
    yield from orders.check(program, rule, "completion", of_tables=True, remedy=_remedy)
    for event in program.events:
        if event.kind == "call" and event.name in tables.WRITES:
            yield from _taken(program, rule, event, "a file that is written")
        if event.kind == "call" and not event.discarded and event.name in tables.FRAMES and _counts(program, event):
            yield from _taken(program, rule, event)
        elif event.kind == "call" and event.name == _NUMBERS:
            yield from _numbered(program, rule, event)


def _counts(program: Program, event: Event) -> bool:
    """Whether a program computes with the rows in their order, as far as is seen."""
    if not orders.is_numeric(program):
        return False
    uses = (e for e in program.events if e.receiver is not None and e.receiver is event.result)
    return not any(e.name.rpartition(".")[2] in _KEYED for e in uses)


def _taken(program: Program, rule: Rule, event: Event, written: str = "") -> Iterator[Draft]:
    found = tables.disorder(program, event)
    if found is None:
        return
    trains = not written and bool(program.trains or trainings(program))
    confidence = rule.confidence if trains and found.sure else lower(rule.confidence)
    related = [Related(found.step.location, _after(found.step))]
    yield draft(
        program, rule, event, cond=found.cond, confidence=confidence, related=related, name=_name(event),
        sink=written or ("training" if trains else "what it computes"), remedy=_remedy(event),
    )  # fmt: skip


def _numbered(program: Program, rule: Rule, numbers: Event) -> Iterator[Draft]:
    """Numbers for rows that have no order: each run gives a row another one."""
    for event in program.events:
        given = (leaf for value in (*event.args, *event.kwargs.values()) for _, leaf in alternatives(value))
        if event.kind == "call" and any(isinstance(leaf, Obj) and leaf.event is numbers for leaf in given):
            found = tables.disorder(program, event)
            if found is not None:
                related = [Related(found.step.location, _after(found.step))]
                yield draft(
                    program, rule, numbers, confidence=rule.confidence if found.sure else lower(rule.confidence),
                    related=related, name=_name(numbers), sink="the numbers that rows get",
                    remedy='number the rows by a key: `row_number().over(Window.orderBy("id"))`',
                )  # fmt: skip


def _after(step: Event) -> str:
    return f"after `{_name(step)}` nothing promises the order of the rows"


def _name(event: Event) -> str:
    return event.raw.replace("()", "").rpartition(".")[2]


def _remedy(event: Event) -> str:
    return _REMEDIES[event.name.partition(".")[0]]
