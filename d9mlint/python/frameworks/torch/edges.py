"""Edges of graphs in PyTorch Geometric: the weights of those to which loops of nodes with themselves are added.

Source: torch_geometric/utils/loop.py of 2.7.0 (``add_self_loops``, ``add_remaining_self_loops``): the weights that are
given, followed by ``fill_value`` for each new loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import UNKNOWN, Const, Seq, Value, alternatives

if TYPE_CHECKING:
    from d9mlint.python.interpreter.hooks import Transfer
    from d9mlint.python.interpreter.interpreter import Interpreter

_WEIGHTS, _FILL = Argument(1, "edge_attr"), Argument(2, "fill_value")


def _with_loops(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """Indices and weights, which are the given ones as far as one can tell: whole numbers stay such."""
    weights, fill = event.argument(_WEIGHTS), event.argument(_FILL)
    if weights is None or not all(_is_whole(leaf) for _, leaf in alternatives(fill)):
        return None
    return Seq("tuple", [UNKNOWN, weights])


def _is_whole(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, (int, float)) and float(value.value).is_integer()


TRANSFER: dict[str, Transfer] = {
    f"torch_geometric.utils.{name}": _with_loops for name in ("add_self_loops", "add_remaining_self_loops")
}
