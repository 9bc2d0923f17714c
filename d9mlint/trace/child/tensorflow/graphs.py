"""Ops of a graph: beside some is put one that hands their values to the recording whenever the graph runs (`groups`).

What else reads a value keeps TensorFlow's optimizer from fusing or reordering what made it, which changes last bits.
So a chain of ops that it may rewrite (`fusing`) is one op here: only what other ops read of it is handed over.
"""

from __future__ import annotations

import sys
import weakref
from typing import Any

from ..recorder import MAIN
from . import datasets, fusing, kinds
from .groups import Group, Groups

_KEPT = "_d9mlint"


class Node:
    """An op of a graph, as the recording knows it."""

    def __init__(self, kind: str, attrs: Any, place: int, direction: str, key: str) -> None:
        self.kind, self.attrs, self.place, self.direction, self.key = kind, attrs, place, direction, key
        self.places: list[int] = []
        """Of the values among those that are handed over: what goes in first."""
        self.scalars = ""
        self.types: list[str] = []
        self.ins = self.outs = 0
        self.makers: list[Any] = []
        """For each value that goes in, what made it, if that is recorded, too."""
        self.handles: list[Any] = []
        self.thread = MAIN
        self.number = 0
        """Of the last event."""
        self.given: list[Any] = []
        """What goes in."""


class _Inside:
    """What is kept with a graph, as it names its tensors."""

    def __init__(self, groups: Groups) -> None:
        self.groups = groups
        self.waiting: dict[int, Node] = {}
        """By tensor, the op that it is from, if that may be rewritten and nothing has read the tensor but such ops."""
        self.passed: dict[int, Any] = {}
        """By tensor, the one whose value it has."""

    def origin(self, tensor: Any) -> Any:
        """The tensor that has this value first."""
        return self.passed.get(tensor._id, tensor)


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
        ops = self._ops
        if not self._seen(graph):
            return
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
        node.given = given
        inside = self._inside(graph)
        # In the threads of a dataset, which elements meet in an op tells in which order they came.
        if not handles and node.thread == MAIN and fusing.rewritten(kind):
            inside.waiting.update((one._id, node) for one in made)
            return
        self._read(inputs, inside)
        for one in outputs:
            self._nodes[one._id] = node
        node.handles = [_outside(one) for one in handles]
        self._watched(node, made, handles, op, inside)

    def _seen(self, graph: Any) -> bool:
        """Whether ops of a graph are recorded; not so in TensorFlow 1, and in what XLA compiles."""
        framework = self._ops.framework
        here = graph is framework.compat.v1.get_default_graph()
        return here and hasattr(graph, "captures") and not getattr(self._ops.local, "opaque", False)

    def _inside(self, graph: Any) -> _Inside:
        found: _Inside | None = getattr(graph, _KEPT, None)
        if found is None:
            found = _Inside(Groups(self._ops.framework, graph, self._ran))
            setattr(graph, _KEPT, found)  # so that it goes with the graph
        return found

    def end(self, graph: Any) -> None:
        """For now nothing more is put into a graph, which is the one that ops are put into at this moment."""
        found: _Inside | None = getattr(graph, _KEPT, None)
        if found is not None:
            with self._ops.recorder.apart():
                found.groups.end()

    def not_recorded(self, kind: str, inputs: Any, outputs: Any, graph: Any) -> None:
        """A call of a function was put into a graph, or an op whose value is that of another."""
        if not self._seen(graph):
            return
        inside = self._inside(graph)
        if kinds.passes(kind):
            inside.passed.update((one._id, inside.origin(other)) for one, other in zip(outputs, inputs))  # noqa: B905
        elif not kinds.of_shapes(kind):
            self._read(inputs, inside)

    def _read(self, tensors: Any, inside: _Inside) -> None:
        """Something reads these that is not rewritten together with what made them: that is watched now."""
        for one in map(inside.origin, tensors):
            root = inside.waiting.pop(one._id, None)
            if root is None:
                continue
            chain, leaves = _chain(root, inside)
            heads = [each for each in chain if fusing.begins(each.kind)]
            self._read([given for each in heads for given in each.given], inside)
            told = heads[0] if heads else root
            key = "%s:%d" % (root.key, one.value_index)  # noqa: UP031
            node = Node(told.kind, told.attrs, told.place, told.direction, key)
            node.thread, node.given = root.thread, leaves
            self._nodes[one._id] = node
            self._watched(node, [one], [], one.op, inside)

    def _watched(self, node: Node, made: Any, handles: Any, op: Any, inside: _Inside) -> None:
        """Puts the neighbour beside an op, or beside the last one of a chain."""
        framework, given = self._ops.framework, node.given
        node.makers = [self._nodes.get(inside.origin(one)._id) for one in given]
        node.ins, node.outs = len(given), len(made)
        untaped = sys.modules["tensorflow.python.eager.record"].stop_recording()
        # An op that another has to wait for is not fused; what reads its values waits anyway.
        after = [op] if handles or not made else []
        with framework.control_dependencies(after), framework.device("/CPU:0"), untaped, inside.groups.marked():
            dtype = kinds.type_of(node.attrs)
            changed = [framework.raw_ops.ReadVariableOp(resource=one, dtype=dtype) for one in handles]
        values = [*given, *made, *changed]
        node.types = [one.dtype.name for one in values]
        node.given = []
        inside.groups.put(node, values)

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

    def _ran(self, group: Group, arrays: Any) -> None:
        """The ops of a group were executed, in whichever thread."""
        ops = self._ops
        recorder = ops.recorder
        if recorder.worker or recorder.closed:
            return
        local = recorder.local
        before, local.thread = getattr(local, "thread", None), group.nodes[0].thread
        try:
            with recorder.apart():
                arrays = [ops.arrays.array(one) for one in arrays]
                texts = [ops.arrays(one) for one in arrays]
                for node in group.nodes:
                    self._told(node, [arrays[n] for n in node.places], [texts[n] for n in node.places])
        finally:
            local.thread = before

    def _told(self, node: Node, arrays: list[Any], texts: list[str]) -> None:
        ops = self._ops
        ins = [ops.variable(one) for one in node.handles]
        for index in range(node.ins):
            maker = node.makers[index]
            number = maker.number if maker is not None and node.thread == MAIN else 0
            number = number or ops.writer(texts[index])
            ins.append([texts[index], node.types[index], list(arrays[index].shape), number])
        results = list(arrays[node.ins : node.ins + node.outs])
        outs = texts[node.ins :]
        node.scalars = node.scalars or kinds.described(node.attrs)
        number = ops.tell(node.kind, node.place, node.direction, node.attrs, ins, results, outs, node.key, node.scalars)
        node.number = number
        for handle, text in zip(node.handles, texts[node.ins + node.outs :]):  # noqa: B905
            if handle is not None:
                ops.resources[handle] = (text, number)


def _chain(root: Node, inside: _Inside) -> tuple[list[Node], list[Any]]:
    """The ops that may be rewritten together with one, itself first, and what goes into all of them."""
    chain: list[Node] = []
    leaves: dict[int, Any] = {}
    todo = [root]
    while todo:
        node = todo.pop()
        if node in chain:
            continue
        chain.append(node)
        for one in map(inside.origin, node.given):
            maker = None if fusing.begins(node.kind) else inside.waiting.get(one._id)
            if maker is not None:
                todo.append(maker)
            else:
                leaves[one._id] = one
    return chain, list(leaves.values())


def _outside(tensor: Any) -> int | None:
    """The handle of a variable outside of all graphs that it was captured by."""
    while hasattr(tensor, "graph") and hasattr(tensor.graph, "captures"):
        found = next((outer for outer, inner in tensor.graph.captures if inner is tensor), None)
        if found is None:
            return None
        tensor = found
    return int(tensor._id) if hasattr(tensor, "_id") else None
