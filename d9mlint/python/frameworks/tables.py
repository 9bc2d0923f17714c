"""Tables that several tasks work on (Spark, Ray, Polars, DuckDB): when nothing promises the order of their rows."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from d9mlint.python.domain.conditions import Cond, both, either, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Obj, Ref, Seq, Value, alternatives
from d9mlint.python.interpreter.program import Program, matches

SPARK, RAY, POLARS, DUCKDB = "pyspark.", "ray.data.", "polars.", "duckdb."
_SPARK_TABLE, _RAY_TABLE, _POLARS_TABLE = "pyspark.sql.DataFrame", "ray.data.Dataset", "polars.DataFrame"
_DUCKDB_TABLE = "duckdb.Relation"
LISTS = frozenset(
    {
        *(f"{_SPARK_TABLE}.{name}" for name in ("collect", "toLocalIterator", "take", "head")),
        *(f"{_RAY_TABLE}.{name}" for name in ("take", "take_all", "iter_rows")),
        *(f"{_POLARS_TABLE}.{name}" for name in ("rows", "iter_rows", "to_dicts", "to_list")),
        *(f"{_DUCKDB_TABLE}.{name}" for name in ("fetchall", "fetchmany")),
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
        *(f"{_POLARS_TABLE}.{name}" for name in ("to_numpy", "to_pandas", "to_torch", "to_jax", "to_arrow")),
        *(f"{_DUCKDB_TABLE}.{name}" for name in ("df", "fetchdf", "to_df", "pl", "arrow", "fetchnumpy", "torch", "tf")),
    }
)  # fmt: skip
"""Calls that give rows as another table, or in batches."""
BY_KEY = frozenset({"datasets.load_dataset"})
"""Calls that look up what a dict holds under its keys, in whatever order these come."""
WRITES = frozenset(
    f"{_POLARS_TABLE}.{verb}_{kind}"
    for verb in ("write", "sink") for kind in ("csv", "parquet", "json", "ndjson", "ipc", "avro", "delta")
)  # fmt: skip
"""Calls that write rows into a file in their order."""
_SORTS = frozenset(
    {
        f"{_SPARK_TABLE}.orderBy", f"{_SPARK_TABLE}.sortWithinPartitions", f"{_RAY_TABLE}.sort",
        f"{_POLARS_TABLE}.sort",
    }
)  # fmt: skip
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
_POLARS_GROUPED, _POLARS_GROUPS = "polars.GroupBy.", f"{_POLARS_TABLE}.group_by"
_UNIQUE, _COUNTED = f"{_POLARS_TABLE}.unique", f"{_POLARS_TABLE}.value_counts"
_SQL = frozenset({"pyspark.sql.SparkSession.sql", "duckdb.sql", "duckdb.Connection.sql"})
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
        if step.name in _SHUFFLES or step.name.startswith(_GROUPED) or (step.name in _SQL and _shuffling(step)):
            return Disorder(step)
        if (unless := _kept(step)) is not True:
            return Disorder(step, negate(unless))
    return None


def _kept(step: Event) -> Cond:
    """When a step of Polars keeps the order of the rows, or gives them one.

    (docs.pola.rs, ``DataFrame.group_by`` and ``unique``: ``maintain_order`` is false unless it is asked for.)
    """
    if step.name.startswith(_POLARS_GROUPED):
        step = next((one for one in _steps(step.receiver) if one.name == _POLARS_GROUPS), step)
        return _asked(step, "maintain_order")
    if step.name == _UNIQUE:
        return _asked(step, "maintain_order")
    return _asked(step, "sort") if step.name == _COUNTED else True


def _asked(step: Event, keyword: str) -> Cond:
    given = step.kwargs.get(keyword)
    return False if given is None else matches(given, True)


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
        if event.name.startswith((SPARK, RAY, POLARS, DUCKDB)) and not event.name.startswith(
            "pyspark.sql.SparkSession.Builder"
        ):
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
