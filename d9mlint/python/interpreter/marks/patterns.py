"""Patterns of names without a wildcard: what they list is one file at most, and one name has no order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from d9mlint.python.domain.events import Frame
from d9mlint.python.domain.values import UNKNOWN, Const, Inst, Obj, Seq, Text, Value, alternatives
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_LISTING = "listing"
_BY_PATTERN = ("glob", "iglob", "Glob")
"""Calls that list by a pattern; ``rglob`` finds a name in many folders."""
_WILDCARDS = frozenset("*?[")
_JOIN = "join"


def listed(interp: Interpreter, node: f.Call, found: Value, frame: Frame) -> Value:
    """What a call gives: without an order where it lists by a pattern that ends as one name does.

    ``glob.glob(os.path.join(folder, name) + ".exe")``: parts that are not known are no patterns themselves.
    """
    if not isinstance(found, Seq) or found.order != _LISTING or not node.args:
        return found
    by = node.func.name if isinstance(node.func, f.Attr) else node.func.id if isinstance(node.func, f.Name) else ""
    pieces = list(_pieces(node.args[0].value)) if by in _BY_PATTERN else []
    if not pieces or not _is_name(pieces[-1]) or any(_may_match_more(interp, one, frame) for one in pieces):
        return found
    return Seq(found.kind, None, UNKNOWN)


def _pieces(node: f.Expr) -> Iterator[f.Expr]:
    """What a path is put together from."""
    if isinstance(node, f.Format):
        parts: tuple[f.Expr, ...] = node.parts
    elif isinstance(node, f.Op) and node.op in ("+", "/"):
        parts = node.operands
    elif isinstance(node, f.Call) and isinstance(node.func, f.Attr) and node.func.name == _JOIN:
        parts = tuple(arg.value for arg in node.args)
    else:
        yield node
        return
    for part in parts:
        yield from _pieces(part)


def _is_name(piece: f.Expr) -> bool:
    """Whether the last piece of a pattern is a text that files are named by, or that their names end with."""
    return isinstance(piece, f.Const) and isinstance(piece.value, str) and any(map(str.isalnum, piece.value))


def _may_match_more(interp: Interpreter, piece: f.Expr, frame: Frame) -> bool:
    """Whether a piece has a wildcard, as far as it is known."""
    if isinstance(piece, f.Const):
        return _is_wild(piece.value)
    if isinstance(piece, f.Name):
        return _has_wildcard(interp.load(piece.id, frame))
    if isinstance(piece, f.Attr) and isinstance(piece.value, f.Name):
        holders = alternatives(interp.load(piece.value.id, frame))
        return any(_has_wildcard(one.attrs.get(piece.name)) for _, one in holders if isinstance(one, Inst))
    return isinstance(piece, (f.Op, f.IfExp))


def _has_wildcard(value: Value | None) -> bool:
    """Whether a text, or what a path is joined from, has a wildcard in it."""
    for _, leaf in alternatives(value):
        parts: Sequence[Value] = ()
        if isinstance(leaf, Text):
            parts = leaf.parts
        elif isinstance(leaf, Obj) and leaf.event is not None:
            parts = leaf.event.args
        if (isinstance(leaf, Const) and _is_wild(leaf.value)) or any(map(_has_wildcard, parts)):
            return True
    return False


def _is_wild(written: object) -> bool:
    return isinstance(written, str) and not _WILDCARDS.isdisjoint(written)
