"""Who meets in a cell, where the source shows it: all threads, one of a block, or whom an index from memory sends."""

from __future__ import annotations

import re
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.judging import declarations, memory
from d9mlint.kernels.judging.constants import assigned
from d9mlint.kernels.judging.owners.ownership import looped, other_axes
from d9mlint.kernels.judging.owners.singles import reached_by_one
from d9mlint.kernels.source.unit import Function, Unit

Node = tree_sitter.Node
_MAX_NODES = 200
_MAX_TEXT = 40
_CASTS = re.compile(r"(?:static_cast|reinterpret_cast|min|max|int|size_t)\b")
_SIZES = ("blockDim", "gridDim", "warpSize")
_OPAQUE = ("call_expression", "lambda_expression", "field_expression", "qualified_identifier", "this")


class _Reached(NamedTuple):
    """What an address is made of."""

    words: frozenset[str]
    """Of ``thread``, ``block`` and ``unknown``."""
    loaded: str
    """An index that is read from memory, as written; empty where there is none."""


def contention(address: Node, unit: Unit, function: Function | None, space: str) -> str:
    """Which threads write one cell, as the end of a sentence; empty where the source does not show it."""
    if function is None or "__global__" not in function.qualifier:
        return ""
    made = _made_of(address, unit, function)
    if made.loaded:
        return f"which threads share a cell is up to `{made.loaded}`"
    if "unknown" in made.words:
        return ""
    one = not other_axes(function, unit) and reached_by_one(address, unit, function)
    if space == "shared":
        return "" if "thread" in made.words else "the threads of a block share this one cell"
    if not made.words:
        return "one thread of each block adds to this one cell" if one else "all threads share this one cell"
    if made.words == {"block"}:
        return "the threads of a block share a cell"
    return "every block writes the same cells" if made.words == {"thread"} and not one else ""


def _made_of(address: Node, unit: Unit, function: Function) -> _Reached:
    words: set[str] = set()
    loaded = ""
    root = memory.base(address, unit)
    pending, seen = [address], set[str]()
    for _ in range(_MAX_NODES):
        if not pending:
            break
        node = pending.pop()
        if node.type in ("identifier", "type_identifier"):
            name = unit.text(node)
            if name in seen or name in _SIZES:
                continue
            seen.add(name)
            value, kind = _value(node, name, unit, function)
            words |= {kind} if kind else set()
            words |= {"thread", "block"} if looped(node, name, unit) else set()
            pending += [value] if value is not None else []
            continue
        text = unit.text(node)
        if re.fullmatch(r"(threadIdx|blockIdx)\s*\.\s*\w", text):
            words.add("thread" if text.startswith("thread") else "block")
            continue
        if re.fullmatch(r"(?:blockDim|gridDim)\s*\.\s*\w", text):
            continue
        if _loads(node, root, unit):
            loaded = loaded or _short(text)
            continue
        if node.type in _OPAQUE and not _cast(node, unit):
            words.add("unknown")
            continue
        pending += node.named_children
    else:
        words.add("unknown")
    return _Reached(frozenset(words), loaded)


def _value(node: Node, name: str, unit: Unit, function: Function) -> tuple[Node | None, str]:
    """What a name was set to, followed further; or why that is not known."""
    found = declarations.declared(node, name, unit)
    if found is None or found.kind in ("member", "range", "global"):
        constant = found is not None and found.kind == "global" and "const" in f"{found.prefix} {found.type}"
        shared = found is not None and found.kind == "global" and found.depth > 0
        return None, "" if constant or shared or name.isupper() or looped(node, name, unit) else "unknown"
    if found.kind == "parameter":
        return None, "unknown" if assigned(function.node, name, unit) else ""
    if found.value is None:
        return None, "" if "__shared__" in f"{found.prefix} {found.type}" else "unknown"
    return found.value, ""


def _loads(node: Node, root: Node | None, unit: Unit) -> bool:
    """Whether an element of another array than the target's is read here."""
    if node.type == "pointer_expression":
        return node.children[0].type == "*"
    if node.type != "subscript_expression":
        return False
    base = memory.base(node, unit)
    return base is None or root is None or base != root


def _cast(node: Node, unit: Unit) -> bool:
    called = node.child_by_field_name("function")
    return called is not None and _CASTS.match(unit.text(called)) is not None


def _short(text: str) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= _MAX_TEXT else f"{plain[: _MAX_TEXT - 3]}..."
