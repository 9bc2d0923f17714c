"""Uses of TensorFlow's ops: whether indices repeat, and whether a gradient goes through what is indexed."""

from __future__ import annotations

import re

from d9mlint.model import Argument, Op
from d9mlint.python.domain.conditions import Cond
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Obj, Ref, Value, alternatives
from d9mlint.python.frameworks.indices import INDEXED, meets_each_index_once
from d9mlint.python.frameworks.opuses import OpUses
from d9mlint.python.frameworks.tensorflow.determinism import on_gpu
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers, made_of

_DATA_DEPENDENT = re.compile(r"scatter|segment|confusion")
"""Ops that vary only for floating-point data with repeated indices, which a call does not show."""
_LEARNED = re.compile(
    r"(layers\.\w+\(\)\.__call__|Model\.__call__|get_variable|add_weight|Variable|matmul|conv\dd|dense)\(\)$"
)
_ADDED = (
    (re.compile("tensor_scatter"), Argument(2, "updates")), (re.compile("scatter_nd"), Argument(1, "updates")),
    (re.compile("segment"), Argument(0, "data")),
)  # fmt: skip
"""Where an op takes what it adds up."""
_INTEGER = re.compile(r"(tensorflow|numpy)(\.compat\.v1)?\.u?int\d+")
_RESHAPES = re.compile(r"\.(reshape|squeeze|expand_dims|transpose|identity|cast|concat|stack)\(\)$")


class TensorFlowOps(OpUses):
    """Those of TensorFlow, and of what names no framework that is known."""

    def on_gpu(self, program: Program) -> Cond:
        return on_gpu(program)

    def harmless(self, program: Program, event: Event, op: Op, makers: Makers) -> bool:
        return meets_each_index_once(event, op, makers) or _adds_integers(event, op, makers)

    def likely(self, event: Event, op: Op, makers: Makers) -> bool:
        return not INDEXED.search(op.name) or self.sure(event, op, makers)

    def sure(self, event: Event, op: Op, makers: Makers) -> bool:
        if INDEXED.search(op.name):
            return learned(event.args[0] if event.args else event.kwargs.get("params"), makers)
        return not _DATA_DEPENDENT.search(op.name)


def _adds_integers(event: Event, op: Op, makers: Makers) -> bool:
    """Whether what is added up are integers, whose sums are exact in any order."""
    for words, wanted in _ADDED:
        if words.search(op.name):
            made = list(made_of(event.argument(wanted), makers))
            return bool(made) and all(map(_makes_integers, made))
    return False


def _makes_integers(event: Event) -> bool:
    types = [x.name for x in (*event.args, *event.kwargs.values()) if isinstance(x, Ref)]
    return any(map(_INTEGER.fullmatch, types)) or event.name.endswith((".to_int32", ".to_int64", ".argmax", ".range"))


def learned(value: Value | None, makers: Makers, depth: int = 4) -> bool:
    """Whether a value surely is a weight or was computed by a layer, so that a gradient goes through it."""
    for _, leaf in alternatives(value):
        made = leaf.event if isinstance(leaf, Obj) else makers.get(id(leaf))
        if made is None:
            continue
        if _LEARNED.search(f"{made.name}()"):
            return True
        if depth and made.args and _RESHAPES.search(f"{made.name}()") and learned(made.args[0], makers, depth - 1):
            return True
    return False
