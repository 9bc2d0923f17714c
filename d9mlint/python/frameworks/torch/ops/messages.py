"""Messages of DGL: functions of the program that compute them from features of the nodes at the ends of edges."""

from __future__ import annotations

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Bound, Func, Partial, Value, alternatives
from d9mlint.python.source.queries import words

OP = "dgl.DGLGraph.apply_edges"
_SENT = {
    "apply_edges": Argument(0, "func"),
    "update_all": Argument(0, "message_func"),
    "send_and_recv": Argument(1, "message_func"),
}
"""What computes messages, or features of edges, in calls of a graph (dgl/heterograph.py of 2.1.0)."""
_ENDS = frozenset({"src", "dst"})
"""Features of both ends of edges (dgl/udf.py of 2.1.0, ``EdgeBatch``): one row of a node for each of its edges."""


def from_nodes(event: Event) -> bool:
    """Whether a function of the program computes something from the nodes of edges; built-in ones gather none."""
    given = event.argument(_SENT[event.name.rpartition(".")[2]])
    return any(_reads_ends(leaf) for _, leaf in alternatives(given))


def _reads_ends(value: Value) -> bool:
    while isinstance(value, (Partial, Bound)):
        value = value.func
    return isinstance(value, Func) and not _ENDS.isdisjoint(words(value.node))
