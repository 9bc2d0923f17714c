"""What a kernel written in Python does with the old value that an atomic returns."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.kernels.python.files import shown
from d9mlint.kernels.python.words import Mention

_POINTERS = frozenset(("load", "store", "ds", "dslice", "atomic_add", "atomic_max", "atomic_min", "swap"))
_ORDER = ("index", "value", "forwarded", "ticket", "unused")
_SAME = frozenset(
    ("to", "cast", "int", "int32", "int64", "uint32", "uint64", "minimum", "maximum", "min", "max", "broadcast_to",
     "reshape", "view", "sum", "where", "abs", "cdiv", "expand_dims", "range")
)  # fmt: skip
"""Functions whose value still tells what they were given."""
_MAX_NAMES = 12


class Use(NamedTuple):
    """``kind`` as in ``model.USES``; ``text`` quotes the place; ``spins``: the value only ends a waiting loop."""

    kind: str
    text: str = ""
    spins: bool = False
    queue: bool = False
    """Each turn of a loop takes the next value up to a bound: threads fetch their work by it."""
    names: frozenset[str] = frozenset()
    """The variables that hold the value."""


def use(call: ast.Call, mention: Mention) -> Use:
    """The use of a call's value, followed through the variables of its function."""
    scopes = [s for s in mention.scopes if not isinstance(s, ast.ClassDef)]
    found: list[Use] = []
    names: list[str] = []
    _of_place((*mention.parents[:-1], call), found, names)
    body = scopes[0] if scopes else None
    at = 0
    while body is not None and at < len(names) and at < _MAX_NAMES:
        for place in _reads(body, names[at]):
            _of_place(place, found, names)
        at += 1
    worst = min(found, key=lambda u: _ORDER.index(u.kind), default=Use("unused"))
    turns = worst.kind in ("value", "index") and any(u.spins for u in found)
    return worst._replace(queue=turns, names=frozenset(names))


def _reads(function: ast.AST, name: str) -> Iterator[tuple[ast.AST, ...]]:
    """The places below a function where a variable is read, each with the nodes above it."""
    pending: list[tuple[ast.AST, ...]] = [(function,)]
    while pending:
        place = pending.pop()
        node = place[-1]
        if isinstance(node, ast.Name) and node.id == name and isinstance(node.ctx, ast.Load):
            yield place
        if len(place) < 200:
            pending.extend((*place, child) for child in reversed(list(ast.iter_child_nodes(node))))


def _of_place(place: tuple[ast.AST, ...], found: list[Use], names: list[str]) -> None:
    """Adds what is done at a place to ``found``, and to ``names`` the variables that take the value on."""
    compared = False
    for child, parent in itertools.pairwise(reversed(place)):
        if isinstance(parent, ast.Compare):
            counts = all(isinstance(one, ast.Eq | ast.NotEq) for one in parent.ops)
            if not counts and not _waits(place):  # `number % 4 < 3` gives out roles in the order of arrival
                return found.append(Use("value", _quote(parent)))
            compared = True
        elif isinstance(parent, ast.Subscript) and child is parent.slice:
            return found.append(Use("index", _quote(parent)))
        elif isinstance(parent, ast.Call) and child is not parent.func and not compared:
            called = parent.func.attr if isinstance(parent.func, ast.Attribute) else ""
            if called in _POINTERS and (called.startswith("d") or child is parent.args[0] or child in parent.args[1:2]):
                first = child is parent.args[0] or called.startswith(("d", "swap", "atomic"))
                return found.append(Use("index" if first else "value", _quote(parent)))
            if called not in _SAME and getattr(parent.func, "id", "") not in _SAME and _is_function(parent):
                return found.append(Use("value", _quote(parent)))
        elif isinstance(parent, ast.While) and child is parent.test:
            return found.append(Use("ticket", _quote(child), spins=True))
        elif isinstance(parent, ast.If | ast.IfExp) and child is parent.test:
            return found.append(Use("ticket" if compared else "value", _quote(child)))
        elif isinstance(parent, ast.Return):
            return found.append(Use("forwarded", _quote(parent)))
        elif isinstance(parent, ast.Assign | ast.AnnAssign | ast.NamedExpr) and child is parent.value:
            return _assigned(parent, compared, found, names)
        elif isinstance(parent, ast.stmt):
            unused = isinstance(parent, ast.Expr) and len(place) > 1 and _dropped(place, parent)
            return found.append(Use("unused") if unused else Use("value", _quote(parent)))
    return found.append(Use("value"))


def _dropped(place: tuple[ast.AST, ...], statement: ast.stmt) -> bool:
    """Whether the value of a call is the statement's, at most reckoned on, and nothing takes it."""
    between = place[place.index(statement) + 1 : -1]
    return isinstance(place[-1], ast.Call) and all(isinstance(node, ast.BinOp | ast.UnaryOp) for node in between)


def _waits(place: tuple[ast.AST, ...]) -> bool:
    return any(isinstance(one, ast.While) and place[number + 1] is one.test for number, one in enumerate(place[:-1]))


def _is_function(call: ast.Call) -> bool:
    """Whether a call is one of a function by its plain name: what it does with the value is not seen here."""
    return isinstance(call.func, ast.Name)


def _assigned(
    node: ast.Assign | ast.AnnAssign | ast.NamedExpr, compared: bool, found: list[Use], names: list[str]
) -> None:
    targets = node.targets if isinstance(node, ast.Assign) else [node.target]
    for target in targets:
        if not isinstance(target, ast.Name):
            found.append(Use("value", _quote(node)))
        elif compared:
            found.append(Use("ticket", _quote(node)))
        elif target.id not in names:
            names.append(target.id)


def _quote(node: ast.AST) -> str:
    return shown(node, 60)
