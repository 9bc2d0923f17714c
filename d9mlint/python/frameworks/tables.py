"""Tables that are spread over processes (Spark, Ray Data): when the order of their rows is nobody's but the tasks'."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from d9mlint.python.domain.conditions import Cond, both, either, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Obj, Ref, Seq, Value, alternatives
from d9mlint.python.interpreter.program import Program, matches

SPARK, RAY = "pyspark.", "ray.data."
_SPARK_TABLE, _RAY_TABLE = "pyspark.sql.DataFrame", "ray.data.Dataset"
LISTS = frozenset(
    {
        *(f"{_SPARK_TABLE}.{name}" for name in ("collect", "toLocalIterator", "take", "head")),
        *(f"{_RAY_TABLE}.{name}" for name in ("take", "take_all", "iter_rows")),
    }
)
"""Calls that give rows as lists."""
FRAMES = frozenset(
    {
        f"{_SPARK_TABLE}.toPandas", f"{_SPARK_TABLE}.toArrow", f"{_SPARK_TABLE}.rdd.collect",
        *(
            f"{_RAY_TABLE}.{name}"
            for name in (
                "iter_batches", "iter_torch_batches", "iter_tf_batches", "iter_jax_batches", "to_tf", "to_pandas",
                "take_batch", "iter_internal_ref_bundles",
            )
        ),
    }
)  # fmt: skip
"""Calls that give rows as another table, or in batches."""
_SORTS = frozenset({f"{_SPARK_TABLE}.orderBy", f"{_SPARK_TABLE}.sortWithinPartitions", f"{_RAY_TABLE}.sort"})
_ONE_ROW = frozenset({f"{_SPARK_TABLE}.agg", f"{_SPARK_TABLE}.describe", f"{_SPARK_TABLE}.summary"})
"""Steps that leave one row, or one for each statistic."""
_SHUFFLES = frozenset(
    {
        f"{_SPARK_TABLE}.{name}"
        for name in (
            "distinct", "dropDuplicates", "repartition", "repartitionByRange", "intersect", "intersectAll", "subtract",
            "exceptAll",
        )
    }
)  # fmt: skip
"""Steps after which a partition has its rows in the order in which the parts of it arrive."""
_GROUPED = "pyspark.sql.GroupedData."
_JOIN, _BROADCAST = f"{_SPARK_TABLE}.join", "pyspark.sql.functions.broadcast"
_SQL = "pyspark.sql.SparkSession.sql"
_SHUFFLING_SQL = re.compile(r"\b(group\s+by|distinct|join|intersect|except)\b", re.IGNORECASE)
_SORTING_SQL = re.compile(r"\b(order|sort|cluster)\s+by\b", re.IGNORECASE)
_ZIP = f"{_RAY_TABLE}.zip"
_LOCAL = ("ray.data.from_items", "ray.data.from_pandas", "ray.data.from_numpy", "ray.data.from_arrow")
"""Tables out of memory: in order, as long as no task has worked on them."""
_KEPT = "preserve_order"
_ONE_FILE = re.compile(r"[^*?\[\]]*\.\w+")
_MAX_STEPS = 64


@dataclass(frozen=True, slots=True)
class Disorder:
    """The step after which nothing promises the order of the rows, when that is so, and whether it surely is."""

    step: Event
    cond: Cond = True
    sure: bool = True


def disorder(program: Program, event: Event) -> Disorder | None:
    """What has put the rows that a call takes, or works on, out of order; None where they have one."""
    steps = list(_steps(event.receiver))
    if not steps:
        return None
    if steps[0].name.startswith(RAY):
        return _of_ray(program, steps)
    for step in steps:
        if step.name in _SORTS or step.name in _ONE_ROW or _of_all(step):
            return None
        if step.name == _JOIN:
            return None if _broadcast(step) else Disorder(step, sure=False)
        if step.name in _SHUFFLES or step.name.startswith(_GROUPED) or (step.name == _SQL and _shuffling(step)):
            return Disorder(step)
    return None


def _steps(table: Value | None) -> Iterator[Event]:
    """The calls that made a table, the last one first."""
    for _ in range(_MAX_STEPS):
        leaf = next((one for _, one in alternatives(table)), None)
        if isinstance(leaf, Ref):
            table = leaf.receiver
            continue
        event = leaf.event if isinstance(leaf, Obj) else None
        if event is None:
            return
        if event.name.startswith((SPARK, RAY)) and not event.name.startswith("pyspark.sql.SparkSession.Builder"):
            yield event
        table = event.receiver


def _of_all(step: Event) -> bool:
    """Whether all rows are one group: ``table.groupBy().sum()``."""
    groups = next(_steps(step.receiver), None) if step.name.startswith(_GROUPED) else None
    return groups is not None and groups.name.endswith(".groupBy") and not (groups.args or groups.kwargs or groups.star)


def _broadcast(step: Event) -> bool:
    """Whether a join sends the smaller table to all: no rows change their places."""
    given = (leaf for value in (*step.args, *step.kwargs.values()) for _, leaf in alternatives(value))
    return any(isinstance(leaf, Obj) and leaf.event is not None and leaf.event.name == _BROADCAST for leaf in given)


def _shuffling(step: Event) -> bool:
    """Whether a query, as far as it is written in the program, groups or joins and does not sort."""
    text = step.args[0].value if step.args and isinstance(step.args[0], Const) else None
    return isinstance(text, str) and bool(_SHUFFLING_SQL.search(text)) and not _SORTING_SQL.search(text)


def _of_ray(program: Program, steps: list[Event]) -> Disorder | None:
    """Blocks come as the tasks end, unless the options or a `zip` ask for their order.

    (ray/data/context.py; _internal/logical/interfaces/logical_plan.py, ``require_preserve_order``.)
    """
    if steps[0].name in _SORTS or any(step.name == _ZIP for step in steps):
        return None
    if len(steps) == 1 and steps[0].name in _LOCAL:
        return None
    cond = negate(program.once("ray-keeps-order", _keeps_order))
    return None if cond is False else Disorder(steps[0], cond, sure=not _one_file(steps[-1]))


def _one_file(read: Event) -> bool:
    """Whether a table is read from one file, which may well be one block."""
    path = read.args[0] if read.args else None
    if isinstance(path, Seq) and path.items is not None and len(path.items) == 1:
        path = path.items[0]
    named = isinstance(path, Const) and isinstance(path.value, str)
    return named and _ONE_FILE.fullmatch(path.value) is not None  # type: ignore[union-attr]


def _keeps_order(program: Program) -> Cond:
    """When the options are set to keep the order of the blocks."""
    set_: list[Cond] = []
    for event in program.events:
        if event.kind == "set" and event.name.endswith(f".{_KEPT}") and event.args:
            set_.append(both(*event.guards, matches(event.args[0], True)))
        elif event.kind == "call" and event.name.startswith("ray.") and _KEPT in event.kwargs:
            set_.append(both(*event.guards, matches(event.kwargs[_KEPT], True)))
    return either(*set_)
