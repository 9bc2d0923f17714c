"""Ops of a graph: beside each is put one that hands its values to the recording whenever the graph runs."""

from __future__ import annotations

import sys
import weakref
from typing import Any

from ..recorder import MAIN
from . import datasets, kinds


class Node:
    """An op of a graph, as the recording knows it."""

    def __init__(self, kind: str, attrs: Any, place: int, direction: str, key: str) -> None:
        self.kind, self.attrs, self.place, self.direction, self.key = kind, attrs, place, direction, key
        self.types: list[str] = []
        """Of the values that are handed over: what goes in first."""
        self.ins = self.outs = 0
        self.makers: list[Any] = []
        """For each value that goes in, what made it, if that is recorded, too."""
        self.handles: list[Any] = []
        self.thread = MAIN
        self.number = 0
        """Of the last event."""


class Graphs:
    """The graphs of a process, with the ops that were put into them."""

    def __init__(self, ops: Any) -> None:
        self._ops = ops
        self._known: Any = weakref.WeakKeyDictionary()
        self._nodes: dict[int, Node] = {}
        """By tensor, the op that it is from."""

    def added(
        self, kind: str, inputs: Any, attrs: Any, outputs: Any, name: Any, graph: Any, place: int, direction: str
    ) -> None:  # fmt: skip
        """An op was put into a graph."""
        ops, framework = self._ops, self._ops.framework
        if getattr(ops.local, "opaque", False) or graph is not framework.compat.v1.get_default_graph():
            return
        if not hasattr(graph, "captures"):
            return  # a graph of TensorFlow 1
        number = self._known.setdefault(graph, len(self._known) + 1)
        node = Node(kind, attrs, place, direction, "%d/%s" % (number, name))  # noqa: UP031
        node.thread = datasets.THREAD if getattr(ops.local, "dataset", False) else MAIN
        if kind == kinds.CONSTANT:
            self._constant(node, outputs)
            return
        given = [one for one in inputs if kinds.has_value(one.dtype.name)]
        made = [one for one in outputs if kinds.has_value(one.dtype.name)]
        handles = [one for one in inputs if one.dtype.name == "resource"] if kinds.changes(kind) else []
        op = outputs[0].op if outputs else graph.get_operation_by_name(name)
        if not (made or handles) or op.graph is not graph:
            return  # the gradient of a loop puts some of its ops elsewhere
        for one in outputs:
            self._nodes[one._id] = node
        node.makers = [self._nodes.get(one._id) for one in given]
        node.handles = [_outside(one) for one in handles]
        node.ins, node.outs = len(given), len(made)
        self._watched(node, given, made, handles, op)

    def _watched(self, node: Node, given: Any, made: Any, handles: Any, op: Any) -> None:
        framework = self._ops.framework
        untaped = sys.modules["tensorflow.python.eager.record"].stop_recording()
        with framework.control_dependencies([op]), framework.device("/CPU:0"), untaped:
            dtype = kinds.type_of(node.attrs)
            after = [framework.raw_ops.ReadVariableOp(resource=one, dtype=dtype) for one in handles]
            values = [*given, *made, *after]
            node.types = [one.dtype.name for one in values]

            def run(*arrays: Any) -> None:
                self._ran(node, arrays)

            framework.numpy_function(run, values, [], stateful=True, name="d9mlint")

    def _constant(self, node: Node, outputs: Any) -> None:
        """A value of Python that became a part of the graph; told when it is put there."""
        ops = self._ops
        value = ops.framework.get_static_value(outputs[0])
        if value is None or not hasattr(value, "dtype"):
            return
        node.number = ops.tell(
            kinds.CONSTANT, node.place, node.direction, {}, [], [value], [ops.arrays(value)], node.key
        )
        self._nodes[outputs[0]._id] = node

    def _ran(self, node: Node, arrays: Any) -> None:
        """The op was executed, in whichever thread."""
        recorder = self._ops.recorder
        if recorder.worker or recorder.closed:
            return
        local = recorder.local
        before, local.thread = getattr(local, "thread", None), node.thread
        try:
            with recorder.apart():
                self._told(node, arrays)
        finally:
            local.thread = before

    def _told(self, node: Node, arrays: Any) -> None:
        ops = self._ops
        arrays = [ops.arrays.array(one) for one in arrays]
        texts = [ops.arrays(one) for one in arrays]
        ins = [ops.variable(one) for one in node.handles]
        for index in range(node.ins):
            maker = node.makers[index]
            number = maker.number if maker is not None and node.thread == MAIN else 0
            number = number or ops.writer(texts[index])
            ins.append([texts[index], node.types[index], list(arrays[index].shape), number])
        results = list(arrays[node.ins : node.ins + node.outs])
        number = ops.tell(node.kind, node.place, node.direction, node.attrs, ins, results, texts[node.ins :], node.key)
        node.number = number
        for handle, text in zip(node.handles, texts[node.ins + node.outs :]):  # noqa: B905
            if handle is not None:
                ops.resources[handle] = (text, number)


def _outside(tensor: Any) -> int | None:
    """The handle of a variable outside of all graphs that it was captured by."""
    while hasattr(tensor, "graph") and hasattr(tensor.graph, "captures"):
        found = next((outer for outer, inner in tensor.graph.captures if inner is tensor), None)
        if found is None:
            return None
        tensor = found
    return int(tensor._id) if hasattr(tensor, "_id") else None
