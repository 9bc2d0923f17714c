"""TensorFlow's CPU thread pools: where a program sets their sizes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Value
from d9mlint.python.interpreter.program import Program

POOLS = ("intra", "inter")
SETTERS = {f"tensorflow.config.threading.set_{pool}_op_parallelism_threads": pool for pool in POOLS}
_CONFIGS = ("tensorflow.ConfigProto", "tensorflow.core.protobuf.config_pb2.ConfigProto")


@dataclass(frozen=True, slots=True)
class PoolSize:
    """``event`` gives the pool (``intra`` or ``inter``) ``value`` threads."""

    event: Event
    pool: str
    value: Value


def pool_sizes(program: Program) -> Iterator[PoolSize]:
    """All places that set the size of a pool, in order."""
    for event in program.events:
        if event.kind == "call" and event.name in SETTERS:
            value = event.argument(Argument(0, "num_threads"))
            if value is not None:
                yield PoolSize(event, SETTERS[event.name], value)
        for pool in POOLS:
            field = f"{pool}_op_parallelism_threads"
            if event.kind == "call" and event.name in _CONFIGS and field in event.kwargs:
                yield PoolSize(event, pool, event.kwargs[field])
            elif event.args and (
                (event.kind == "set" and event.name.endswith(f".{field}"))
                or (event.kind == "env" and event.name == f"TF_NUM_{pool.upper()}OP_THREADS")
            ):
                yield PoolSize(event, pool, event.args[0])
