"""Values of a graph that are handed to the recording at once: a call of Python costs more than most ops."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from . import memory

if TYPE_CHECKING:
    from collections.abc import Callable

    from .graphs import Node

_TOGETHER = 16
"""Ops whose values are held until they are handed over."""
_GRAPHS = "tensorflow.python.framework.func_graph"


class Group:
    """Ops, and all their values, each once."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self.values: list[Any] = []
        self._places: dict[int, int] = {}

    def place(self, tensor: Any) -> int:
        """Where a tensor stands among the values."""
        found = self._places.get(tensor._id)
        if found is None:
            found = self._places[tensor._id] = len(self.values)
            self.values.append(tensor)
        return found


class Groups:
    """Those of one graph; ``run`` gets a group and its values whenever the graph runs."""

    def __init__(self, framework: Any, graph: Any, run: Callable[[Group, Any], None]) -> None:
        self._framework, self._graph, self._run = framework, graph, run
        ends = isinstance(graph, sys.modules[_GRAPHS].FuncGraph)  # of others it is not told when they do
        self._most = _TOGETHER if ends else 1
        self._own = graph.capture if ends else lambda one: one
        self._open = Group()

    def marked(self) -> Any:
        """Ops that are put into the graph meanwhile are known for the recording's own."""
        value = self._framework.compat.v1.AttrValue(b=True)
        return self._graph._attr_scope({memory.MARK: value})

    def put(self, node: Node, values: Any) -> None:
        """The values of an op are to be handed over."""
        node.places = [self._open.place(self._own(one)) for one in values]
        self._open.nodes.append(node)
        if len(self._open.nodes) >= self._most:
            self.end()

    def end(self) -> None:
        """Puts what hands over the values so far into the graph."""
        group, self._open = self._open, Group()
        if not group.nodes:
            return
        framework = self._framework
        untaped = sys.modules["tensorflow.python.eager.record"].stop_recording()

        def run(*arrays: Any) -> None:
            self._run(group, arrays)

        with framework.control_dependencies(None), framework.device("/CPU:0"), untaped, self.marked():
            framework.numpy_function(run, group.values, [], stateful=True, name="d9mlint")
        group.values = []
