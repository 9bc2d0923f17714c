"""Places in the grid: variables that tell blocks or threads apart, and how far they go.

``i = blockIdx.x`` with ``i += gridDim.x`` tells the block along x, ``j = blockIdx.y * blockDim.x + threadIdx.x`` with
``j += blockDim.x * gridDim.y`` the block along y and the thread along x. With any other step it tells nothing.
"""

from __future__ import annotations

import re
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.judging import declarations
from d9mlint.kernels.judging.constants import assigned
from d9mlint.kernels.judging.known.scalars import kind
from d9mlint.kernels.source.unit import Function, Unit

Node = tree_sitter.Node
Size = tuple[str, ...]
"""A product of names and numbers."""
_STARTS = (
    re.compile(r"(?P<block>blockIdx\.[xyz])\*blockDim\.(?P<axis>[xyz])\+(?P<thread>threadIdx\.(?P=axis))"),
    re.compile(r"blockDim\.(?P<axis>[xyz])\*(?P<block>blockIdx\.[xyz])\+(?P<thread>threadIdx\.(?P=axis))"),
    re.compile(r"(?P<thread>threadIdx\.(?P<axis>[xyz]))\+(?P<block>blockIdx\.[xyz])\*blockDim\.(?P=axis)"),
    re.compile(r"(?P<thread>threadIdx\.(?P<axis>[xyz]))\+blockDim\.(?P=axis)\*(?P<block>blockIdx\.[xyz])"),
    re.compile(r"(?P<thread>threadIdx\.[xyz])(?P<block>)"),
    re.compile(r"(?P<block>blockIdx\.[xyz])(?P<thread>)"),
)
_SIZES = {"threadIdx": "blockDim", "blockIdx": "gridDim"}
_SIZE = re.compile(r"(?:blockDim|gridDim)\.[xyz]")
_FACTOR = re.compile(r"[A-Za-z_]\w*|\d+[uUlL]*|(?:blockDim|gridDim)\.[xyz]")
_WHOLE = r"\b(?:int|unsigned|long|short|\w*size_t|u?int\d+_t|auto)"
"""Types of the values that a template takes."""
_LEAVES = ("continue_statement", "return_statement")
_MAX_STEPS = 10
_MAX_ABOVE = 60


class Place(NamedTuple):
    """A variable whose value tells where in the grid its thread is."""

    axes: tuple[str, ...]
    """``blockIdx.y``, ``threadIdx.x``: what it tells."""
    sizes: tuple[Size, ...]
    """Products that it stays below; each is true."""


class Places:
    """Reads the variables of one kernel."""

    def __init__(self, unit: Unit, function: Function) -> None:
        self.unit = unit
        self.function = function

    def place(self, node: Node) -> Place | None:
        """What a variable, or ``threadIdx.x`` itself, tells; None where it tells nothing for certain."""
        if node.type == "field_expression":
            text = "".join(self.unit.text(node).split())
            told = self._told(text, True)
            if told is None:
                return None
            return told._replace(sizes=(*self.limits(node, text, self.function.node), *told.sizes))
        name = self.unit.text(node)
        found = declarations.declared(node, name, self.unit)
        if found is None or found.value is None or found.kind != "local" or found.depth:
            return None
        start = self.spelled(found.value, _MAX_STEPS)
        loop = _own_loop(found.node)
        if loop is None:
            told = None if assigned(self.function.node, name, self.unit) else self._told(start, True)
        else:
            told = self._strided(loop, name, start)
        return told._replace(sizes=(*self.limits(node, name, found.node), *told.sizes)) if told is not None else None

    def _told(self, start: str, fixed: bool) -> Place | None:
        match = next((m for pattern in _STARTS if (m := pattern.fullmatch(start)) is not None), None)
        if match is None:
            return None
        axes = tuple(part for part in (match["block"], match["thread"]) if part)
        return Place(axes, (tuple(_size(axis) for axis in axes),) if fixed else ())

    def _strided(self, loop: Node, name: str, start: str) -> Place | None:
        """The variable of a loop that goes on by the number of places that it starts from."""
        told = self._told(start, False)
        update, body = loop.child_by_field_name("update"), loop.child_by_field_name("body")
        right = update.child_by_field_name("right") if update is not None else None
        if told is None or update is None or body is None or assigned(body, name, self.unit):
            return None
        if right is None or not "".join(self.unit.text(update).split()).startswith(f"{name}+="):
            return None
        step = sorted(self.spelled(right, _MAX_STEPS).split("*"))
        return told if step == sorted(_size(axis) for axis in told.axes) else None

    def spelled(self, node: Node, steps: int) -> str:
        """An expression without blanks and casts, local names that never change replaced by their values."""
        if steps <= 0:
            return "?"
        inner = self.inside(node)
        if inner is not None:
            return self.spelled(inner, steps - 1)
        if node.type == "identifier":
            found = declarations.declared(node, self.unit.text(node), self.unit)
            local = found is not None and found.kind == "local" and not found.depth
            if found is not None and local and found.value is not None and self.fixed(node):
                return self.spelled(found.value, steps - 1)
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if node.type != "binary_expression" or left is None or right is None:
            return "".join(self.unit.text(node).split())
        sign = node.children[1].type
        parts = [self.spelled(side, steps - 1) for side in (left, right)]
        if sign != "+":
            parts = [f"({part})" if re.search(r"[^\w.*]", part) else part for part in parts]
        return sign.join(parts)

    def inside(self, node: Node) -> Node | None:
        """What stands in parentheses, or in a cast to an integer type."""
        if node.type == "parenthesized_expression" and len(node.named_children) == 1:
            return node.named_children[0]
        if node.type == "cast_expression" and (typed := node.child_by_field_name("type")) is not None:
            return node.child_by_field_name("value") if kind(self.unit.text(typed)) == "integer" else None
        called, given = node.child_by_field_name("function"), node.child_by_field_name("arguments")
        if node.type != "call_expression" or called is None or given is None or len(given.named_children) != 1:
            return None
        match = re.fullmatch(r"static_cast<([\w: ]+)>", "".join(self.unit.text(called).strip()))
        return given.named_children[0] if match is not None and kind(match[1]) == "integer" else None

    def fixed(self, node: Node) -> bool:
        """Whether a local variable keeps its first value."""
        return not assigned(self.function.node, self.unit.text(node), self.unit)

    def constant(self, node: Node, name: str) -> bool:
        """Whether a name is one value for all threads: a scalar parameter, a template's value, a number's macro."""
        if name[0].isdigit() or _SIZE.fullmatch(name):
            return True
        found = declarations.declared(node, name, self.unit)
        if found is None:
            return self._of_template(name) or self._macro(name)
        if assigned(self.function.node, name, self.unit) or found.depth or "&" in found.type:
            return False
        number = found.value is not None and found.value.type == "number_literal"
        return found.kind == "parameter" or (number and "const" in f"{found.prefix} {found.type}")

    def _of_template(self, name: str) -> bool:
        above = self.function.node.parent
        head = above.child_by_field_name("parameters") if above is not None else None
        if head is None or above is None or above.type != "template_declaration":
            return False
        return re.search(rf"{_WHOLE}\s+{name}\b", self.unit.text(head)) is not None

    def _macro(self, name: str) -> bool:
        head = rb"^[ \t]*#[ \t]*define[ \t]+" + re.escape(name.encode())
        return re.search(head + rb"[ \t]+\(?\d+[uUlL]*\)?[ \t]*(?://.*)?\r?$", self.unit.data, re.M) is not None

    def limits(self, node: Node, name: str, since: Node) -> tuple[Size, ...]:
        """The products that a variable stays below at a place, by the tests around and before it."""
        found: list[Size] = []
        at, above = node, node.parent
        for _ in range(_MAX_ABOVE):
            if above is None or at.start_byte < since.start_byte:
                break
            condition = above.child_by_field_name("condition")
            held = above.child_by_field_name("body" if above.type == "for_statement" else "consequence")
            if above.type in ("for_statement", "if_statement") and condition is not None and at == held:
                found += self._below(condition, name)
            before = at.prev_named_sibling
            while before is not None and before.start_byte > since.start_byte:
                found += self._left(before, name)
                before = before.prev_named_sibling
            at, above = above, above.parent
        return tuple(dict.fromkeys(found))

    def _below(self, condition: Node, name: str) -> list[Size]:
        text = re.sub(r"\s|//[^\n]*", "", self.unit.text(condition))
        text = text[1:-1] if condition.type in ("condition_clause", "parenthesized_expression") else text
        parts = text.split("&&") if "||" not in text else []
        tests = [part.partition("<")[2] for part in parts if re.match(rf"{re.escape(name)}<[^=<]", part)]
        return [size for test in tests if (size := self.product(condition, test)) is not None]

    def _left(self, node: Node, name: str) -> list[Size]:
        """``if (i >= n) return;``"""
        condition = node.child_by_field_name("condition") if node.type == "if_statement" else None
        body = node.child_by_field_name("consequence")
        if condition is None or body is None:
            return []
        inner = [c for c in body.named_children if c.type != "comment"] if body.type == "compound_statement" else [body]
        text = re.sub(r"\s|//[^\n]*", "", self.unit.text(condition))[1:-1]
        if not inner or inner[-1].type not in _LEAVES or "&&" in text:
            return []
        tests = [part.partition(">=")[2] for part in text.split("||") if part.startswith(f"{name}>=")]
        return [size for test in tests if (size := self.product(condition, test)) is not None]

    def product(self, place: Node, text: str) -> Size | None:
        """The factors of a product of values that are the same for all threads."""
        names = text.strip("()").split("*")
        whole = all(_FACTOR.fullmatch(n) and self.constant(place, n) for n in names)
        return tuple(n.rstrip("uUlL") if n[0].isdigit() else n for n in names) if whole else None


def _size(axis: str) -> str:
    which, _, letter = axis.partition(".")
    return f"{_SIZES[which]}.{letter}"


def _own_loop(declaration: Node) -> Node | None:
    """The loop in whose head a variable is declared."""
    above = declaration.parent
    while above is not None and above.type in ("init_declarator", "declaration", "init_statement"):
        above = above.parent
    body = above.child_by_field_name("body") if above is not None and above.type == "for_statement" else None
    return above if body is not None and declaration.end_byte <= body.start_byte else None
