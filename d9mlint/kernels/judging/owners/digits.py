"""Elements of accessors that one thread owns: `out[b][c][y][x]` with c, y, x the digits of the thread's index.

A thread index i that is split by ``/`` and ``%`` into a complete set of digits is found again from them; so threads
write different elements where all digits stand among the indices. Other indices do no harm.
"""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.judging import declarations, memory
from d9mlint.kernels.judging.constants import assigned, lasting
from d9mlint.kernels.judging.known.scalars import kind
from d9mlint.kernels.source.lexical import word_places
from d9mlint.kernels.source.unit import Function, Unit

Node = tree_sitter.Node
_AXES = re.compile(r"\b(threadIdx|blockIdx)\s*\.\s*([xyz])")
_LINEAR = re.compile(
    r"blockIdx\.([xyz])\*blockDim\.([xyz])\+threadIdx\.\2|blockDim\.([xyz])\*blockIdx\.([xyz])\+threadIdx\.\3"
    r"|threadIdx\.([xyz])\+blockIdx\.([xyz])\*blockDim\.\5"
)
_CASTS = re.compile(r"static_cast<[\w: ]*>|\b(?:int|unsigned|size_t|int64_t|uint32_t)\((?=[a-z])")
_MAX_STEPS = 12
_MAX_POINTERS = 8


class Digit(NamedTuple):
    """``floor(i / low) mod (high / low)``; ``low`` and ``high`` are products of names, ``high`` None for the rest."""

    thread: str
    low: tuple[str, ...]
    high: tuple[str, ...] | None


def owned_element(address: Node, unit: Unit, function: Function) -> str:
    """The thread index whose digits all stand among the indices of an element; empty where that is not proven."""
    indices = _indices(address, unit)
    if len(indices) < 2:
        return ""
    reader = Reader(unit, function)
    digits = [d for index in indices if (d := reader.digit(index, _MAX_STEPS)) is not None]
    for name in dict.fromkeys(d.thread for d in digits):
        if complete([d for d in digits if d.thread == name]) and reader.covered(name, indices):
            return name
    return ""


def _indices(address: Node, unit: Unit) -> list[Node]:
    """The indices of ``&acc[a][b][c]``, acc an accessor that is a parameter of the kernel."""
    node = address.child_by_field_name("argument") if address.type == "pointer_expression" else None
    found: list[Node] = []
    for _ in range(_MAX_STEPS):
        if node is None or node.type != "subscript_expression":
            break
        listed = node.child_by_field_name("indices")
        if listed is None or len(listed.named_children) != 1:
            return []
        found.append(listed.named_children[0])
        node = node.child_by_field_name("argument")
    if node is None or node.type != "identifier":
        return []
    declared = declarations.declared(node, unit.text(node), unit)
    accessor = declared is not None and declared.kind == "parameter" and "Accessor" in declared.type
    return found if accessor else []


def with_factors(written: tuple[str, ...], meant: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    """A product in which names are replaced by the products that they are equal to."""
    return tuple(sorted(factor for name in written for factor in meant.get(name, (name,))))


def gap(digits: list[Digit]) -> tuple[str, tuple[str, ...]] | None:
    """The name, and the product that it has to be for all digits to follow each other.

    ``C`` and ``H * N`` for ``i % N``, ``i / N % H`` and ``i / C``.
    """
    highs = {tuple(sorted(d.high)) for d in digits if d.high is not None}
    lows = {tuple(sorted(d.low)) for d in digits if d.low}
    apart = sorted((*(highs - lows), *(lows - highs)), key=len)
    if len(apart) != 2 or len(highs - lows) != 1 or len(apart[0]) != 1 or len(apart[1]) < 2:
        return None
    name = apart[0][0]
    return (name, apart[1]) if name not in apart[1] and not name.isdigit() else None


def complete(digits: list[Digit]) -> bool:
    """Whether the digits follow each other from 1 to the rest."""
    low: tuple[str, ...] | None = ()
    for _ in digits:
        following = next((d for d in digits if d.low == low), None)
        if following is None:
            return False
        low = following.high
        if low is None:
            return True
    return False


@functools.lru_cache(maxsize=1024)
def _initialised(root: Node, name: str, unit: Unit) -> Node | None:
    """The first declaration of a name with a value below a node."""
    word = name.encode()
    for at in word_places(unit.data, word, root.start_byte, root.end_byte):
        node = root.descendant_for_byte_range(at, at + len(word))
        for _ in range(_MAX_POINTERS):
            above = node.parent if node is not None and node != root else None
            if node is None or above is None:
                break
            if above.type == "init_declarator":
                written = unit.data[node.start_byte : node.end_byte]
                if above.child_by_field_name("declarator") == node and written.strip(b" *&") == word:
                    return above
                break
            node = above
    return None


class Reader:
    """Reads indices in one kernel; ``looped`` tells whether a name is the index of a grid-stride loop macro."""

    def __init__(self, unit: Unit, function: Function, looped: Callable[[str], bool] | None = None) -> None:
        self.unit = unit
        self.function = function
        self.looped = looped

    def digit(self, node: Node, steps: int) -> Digit | None:
        """What part of a thread's index an expression is."""
        if steps <= 0:
            return None
        if node.type == "parenthesized_expression" and len(node.named_children) == 1:
            return self.digit(node.named_children[0], steps - 1)
        if node.type == "cast_expression" and (value := node.child_by_field_name("value")) is not None:
            typed = node.child_by_field_name("type")
            integer = typed is not None and kind(self.unit.text(typed)) == "integer"
            return self.digit(value, steps - 1) if integer else None
        if node.type == "identifier":
            name = self.unit.text(node)
            if axes(name, self.unit, self.function) or (self.looped is not None and self.looped(name)):
                return Digit(name, (), None)
            found = declarations.declared(node, name, self.unit)
            value = lasting(node, found, self.function.node, self.unit) if found is not None else None
            return self.digit(value, steps - 1) if value is not None else None
        operator = node.child_by_field_name("operator") if node.type == "binary_expression" else None
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if operator is None or left is None or right is None or operator.type not in ("/", "%"):
            return None
        inner, factors = self.digit(left, steps - 1), self._factors(right)
        if inner is None or factors is None:
            return None
        border = tuple(sorted((*inner.low, *factors)))
        if inner.high is not None and Counter(border) - Counter(inner.high):
            return None
        return (
            Digit(inner.thread, border, inner.high) if operator.type == "/" else Digit(inner.thread, inner.low, border)
        )

    def _factors(self, node: Node) -> tuple[str, ...] | None:
        """The names in a product of values that stay the same in the kernel."""
        text = re.sub(r"[\s()]", "", self.unit.text(node))
        names = text.split("*")
        if not all(re.fullmatch(r"[A-Za-z_]\w*|\d+", n) for n in names):
            return None
        return None if any(assigned(self.function.node, n, self.unit) for n in names) else tuple(names)

    def covered(self, name: str, indices: list[Node]) -> bool:
        """Whether every axis that the kernel mentions is in the thread's index or an index of its own."""
        start, end = self.function.node.start_byte, self.function.node.end_byte
        mentioned = {f"{k}.{a}" for k, a in _AXES.findall(self.unit.data[start:end].decode("utf-8", "replace"))}
        own = {_expanded(index, self.unit, self.function) for index in indices}
        return mentioned <= axes(name, self.unit, self.function) | own


@functools.lru_cache(maxsize=1024)
def axes(name: str, unit: Unit, function: Function) -> frozenset[str]:
    """The axes of the grid whose place a variable determines: empty unless it differs in all threads of them."""
    if unit.data.find(b"threadIdx", function.node.start_byte, function.node.end_byte) < 0:
        return frozenset()
    node = _declared(name, unit, function)
    value = _expanded(node.value, unit, function) if node is not None and node.value is not None else ""
    match = _LINEAR.fullmatch(value)
    if match is None or node is None:
        return frozenset()
    if assigned(function.node, name, unit) and not _strides(node, name, unit, function):
        return frozenset()
    return frozenset(f"{kind}.{axis}" for kind, axis in _AXES.findall(value))


def _strides(found: declarations.Declared, name: str, unit: Unit, function: Function) -> bool:
    """Whether the variable only moves on by the whole grid, in the head of its loop."""
    loop = found.node.parent
    while loop is not None and loop.type not in ("for_statement", "function_definition"):
        loop = loop.parent
    update = loop.child_by_field_name("update") if loop is not None else None
    body = loop.child_by_field_name("body") if loop is not None else None
    step = update.child_by_field_name("right") if update is not None else None
    if update is None or body is None or step is None or "+=" not in unit.text(update):
        return False
    expanded = _expanded(step, unit, function)
    wide = re.fullmatch(r"gridDim\.[xyz]\*blockDim\.[xyz]|blockDim\.[xyz]\*gridDim\.[xyz]", expanded)
    return wide is not None and not assigned(body, name, unit)


def _declared(name: str, unit: Unit, function: Function) -> declarations.Declared | None:
    body = function.node.child_by_field_name("body")
    found = _initialised(body, name, unit) if body is not None else None
    value = found.child_by_field_name("value") if found is not None else None
    return declarations.Declared("", 0, found, value) if found is not None else None


def _expanded(node: Node, unit: Unit, function: Function) -> str:
    """An expression without blanks and parentheses, with local names replaced by what they were set to."""
    text = unit.text(node)
    for _ in range(4):
        found = list(re.findall(r"(?<![\w.])[A-Za-z_]\w*(?!\w*\s*[.(<])", text))
        values = {n: d.value for n in found if (d := _declared(n, unit, function)) is not None and d.value is not None}
        if not values:
            break
        for name, value in values.items():
            text = re.sub(rf"(?<![\w.]){name}\b", lambda _, v=value: unit.text(v), text)  # type: ignore[misc]
        text = text[:500]
    return re.sub(r"[\s()]", "", _CASTS.sub("", text))


def linear(name: str, unit: Unit, function: Function) -> bool:
    """Whether a variable differs in all threads of the grid, as far as the kernel mentions its axes."""
    reader = Reader(unit, function)
    return bool(axes(name, unit, function)) and reader.covered(name, [])


def same_everywhere(address: Node, others: list[Node], unit: Unit) -> bool:
    """Whether all atomics on the base of an address name the same element."""
    base = memory.base(address, unit)
    text = "".join(unit.text(address).split())
    for other in others:
        root = memory.base(other, unit)
        if base is None or root is None:
            return False
        if unit.text(root) == unit.text(base) and "".join(unit.text(other).split()) != text:
            return False
    return True
