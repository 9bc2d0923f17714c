"""Cells of a block's own slice: ``p += blockIdx.x * n``, then ``atomicAdd(&p[j], v)`` with ``j`` below ``n``.

The address is read as a sum of products, a number in mixed radix. Where every variable stays below the step of the next
one, all of them can be found again from the address, and with those that tell blocks and threads apart the thread. So
the threads write different cells if every axis that the kernel uses is among them; what one thread does again comes in
the order of its program. Where only the steps are not seen to be long enough, that is the condition.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.judging import aliases, declarations, memory
from d9mlint.kernels.judging.constants import MAX_CALLS, assigned, atomic_calls
from d9mlint.kernels.judging.owners import ownership, singles
from d9mlint.kernels.judging.owners.places import Places, Size
from d9mlint.kernels.judging.owners.radix import Owned, is_sum_or_product, multiplied_out
from d9mlint.kernels.source.lexical import word_places
from d9mlint.kernels.source.unit import Function, Unit

Node = tree_sitter.Node
_AXES = re.compile(rb"\b(?:(thread|block)Idx|(block|grid)Dim)\s*\.\s*([yz])")
_MAX_STEPS = 16
_Term = tuple[str, ...]
_OPEN: tuple[Size, ...] = ()


class _Variable(NamedTuple):
    sizes: tuple[Size, ...]
    axes: tuple[str, ...] = ()


class _Form(NamedTuple):
    """What all atomics on one base must have in common."""

    base: str
    steps: tuple[tuple[Size, tuple[str, ...]], ...]
    """The factor of each variable, and the axes that the variable tells."""
    offset: tuple[str, ...]


def owner(address: Node, unit: Unit, function: Function | None, space: str) -> Owned | None:
    """Whether each thread writes cells of its own there; None where that is not seen."""
    if function is None or "__global__" not in function.qualifier or space not in ("shared", "global"):
        return None
    if unit.data.find(b"Idx", function.node.start_byte, function.node.end_byte) < 0:
        return None
    if len(atomic_calls(function.node, unit.data)) > MAX_CALLS:
        return None
    reader = _read(address, unit, function)
    form = reader.form() if reader is not None else None
    if reader is None or form is None or not _covered(reader, address, unit, function, space):
        return None
    if any(aliases.escapes(name, address, unit, function) for name in reader.names):
        return None
    others = _alike(form, unit, function, space)
    if others is None:
        return None
    told = sorted({axis for variable in reader.variables.values() for axis in variable.axes})
    why = f"only the thread with this {' and '.join(f'`{axis}`' for axis in told)} writes the cell"
    steps = [one.assumed() for one in (reader, *others) if one.loose()]
    if not steps:
        return Owned(why)
    return Owned(why, f"if {steps[0]} long enough to keep the cells of different threads apart") if all(steps) else None


def _read(address: Node, unit: Unit, function: Function) -> _Sum | None:
    reader = _Sum(unit, function)
    terms = reader.pointer(address, _MAX_STEPS)
    return reader if terms is not None and reader.take(terms) else None


def _alike(form: _Form, unit: Unit, function: Function, space: str) -> list[_Sum] | None:
    """All atomics that start from the same base, if they have the same form; an offset below all steps may differ."""
    found: list[_Sum] = []
    for address in ownership.addresses(function, unit):
        root = memory.base(address, unit)
        if root is None:
            return None
        if aliases.origin(root, unit) != form.base:
            continue
        other = _read(address, unit, function)
        if other is None or other.form() != form or not _covered(other, address, unit, function, space):
            return None
        found.append(other)
    return found


def _covered(reader: _Sum, address: Node, unit: Unit, function: Function, space: str) -> bool:
    """Whether every axis along which the kernel tells its threads apart is in the address."""
    needed = {"threadIdx.x", "blockIdx.x"}
    for match in _AXES.finditer(unit.data, function.node.start_byte, function.node.end_byte):
        block = match[1] == b"block" or match[2] == b"grid"
        needed.add(f"{'blockIdx' if block else 'threadIdx'}.{match[3].decode()}")
    if singles.reached_by_one(address, unit, function):
        needed.discard("threadIdx.x")
    if space == "shared":
        needed = {axis for axis in needed if axis.startswith("thread")}
    told = {axis for variable in reader.variables.values() for axis in variable.axes}
    return bool(told) and needed <= told


class _Sum:
    """Reads an address as a base and a sum of products; variables are marked by ``$``."""

    def __init__(self, unit: Unit, function: Function) -> None:
        self.unit = unit
        self.function = function
        self.places = Places(unit, function)
        self.base = ""
        self.names: set[str] = set()
        self.variables: dict[str, _Variable] = {}
        self.steps: dict[str, Counter[str]] = {}
        self.offset: list[str] = []
        self.number = 0

    def take(self, terms: list[_Term]) -> bool:
        """Notes the step of each variable, and what is added beside."""
        for term in terms:
            names = [n for n in term if n.startswith("$")]
            rest = [n for n in term if not n.startswith("$")]
            if len(names) > 1 or (names and names[0] in self.steps):
                return False
            if names:
                self.steps[names[0]] = Counter(rest)
            elif all(n.isdigit() for n in rest):
                self.number += math.prod(int(n) for n in rest)
            else:
                self.offset.append("*".join(sorted(rest)))
        return bool(self.base) and set(self.steps) == set(self.variables)

    def grain(self) -> Counter[str]:
        """The number that all steps have as a factor: offsets below it reach no other variable's cells."""
        common = set.intersection(*(set(step) for step in self.steps.values())) if self.steps else set()
        numbers = sorted(n for n in common if n.isdigit() and int(n) > 1)
        return Counter(numbers[:1])

    def form(self) -> _Form | None:
        """What is compared with the other atomics on the base."""
        grain = self.grain()
        within = bool(grain) and self.number < math.prod(int(n) for n in grain)
        offset = [*self.offset, *([] if within else [str(self.number)])]
        steps = ((tuple(sorted(s.elements())), self.variables[n].axes) for n, s in self.steps.items())
        return _Form(self.base, tuple(sorted(steps)), tuple(sorted(offset)))

    def loose(self) -> list[Counter[str]]:
        """The steps that are not seen to be longer than what stays below them."""
        left, at = dict(self.steps), self.grain()
        while left:
            name = next((n for n, step in left.items() if step == at), None)
            if name is None:
                break
            del left[name]
            sizes = self.variables[name].sizes
            following = next((s for s in left.values() if any(_reaches(at, size, s) for size in sizes)), None)
            if following is None:
                break
            at = following
        return list(left.values())

    def assumed(self) -> str:
        """What has to hold for that, as words; empty where it cannot hold or a variable goes nobody knows where."""
        steps = {tuple(sorted(step.elements())) for step in self.steps.values()}
        if len(steps) != len(self.steps) or any(not v.sizes and not v.axes for v in self.variables.values()):
            return ""
        numbers = {n: math.prod(int(f) for f in s.elements()) for n, s in self.steps.items() if _numeric(s)}
        for name, step in numbers.items():
            widths = [math.prod(int(f) for f in size) for size in self.variables[name].sizes if _numeric(size)]
            if any(step < other < step * width for width in widths for other in numbers.values()):
                return ""
        named = sorted("*".join(sorted(step.elements())) or "1" for step in self.loose())
        one = len(named) == 1
        return f"the step{'' if one else 's'} {' and '.join(f'`{n}`' for n in named)} {'is' if one else 'are'}"

    def pointer(self, node: Node, steps: int) -> list[_Term] | None:
        """The terms that are added to the base."""
        inner = self.places.inside(node) if node.type == "parenthesized_expression" else None
        if steps <= 0 or inner is not None:
            return self.pointer(inner, steps - 1) if inner is not None and steps > 0 else None
        argument = node.child_by_field_name("argument")
        if node.type == "pointer_expression" and argument is not None and node.children[0].type == "&":
            while argument is not None and argument.type == "parenthesized_expression":
                argument = self.places.inside(argument)
            element = argument is not None and argument.type == "subscript_expression"
            return self._element(argument, steps - 1) if element and argument is not None else None
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if node.type == "binary_expression" and left is not None and node.children[1].type == "+":
            return self._plus(left, right, steps)
        return self._named(node, steps) if node.type == "identifier" else None

    def _element(self, node: Node, steps: int) -> list[_Term] | None:
        array, listed = node.child_by_field_name("argument"), node.child_by_field_name("indices")
        index = listed.named_children[0] if listed is not None and len(listed.named_children) == 1 else None
        return self._plus(array, index, steps) if array is not None else None

    def _plus(self, left: Node, right: Node | None, steps: int) -> list[_Term] | None:
        first = self.pointer(left, steps - 1)
        second = self.terms(right, steps - 1) if right is not None and first is not None else None
        return first + second if first is not None and second is not None else None

    def _named(self, node: Node, steps: int) -> list[_Term] | None:
        """A pointer parameter, also moved on once and for all, a shared array, a local pointer made of one."""
        name = self.unit.text(node)
        self.names.add(name)
        found = declarations.declared(node, name, self.unit)
        if ownership.fixed_pointer(node, self.unit):
            flat = found is not None and (found.kind == "parameter" or found.depth == 1)
            self.base = name if flat else ""
            return [] if flat else None
        if found is None or found.depth != 1:
            return None
        if found.kind == "parameter":
            return self._moved(node, name, steps)
        if found.kind != "local" or found.value is None or assigned(self.function.node, name, self.unit):
            return None
        return self.pointer(found.value, steps - 1)

    def _moved(self, node: Node, name: str, steps: int) -> list[_Term] | None:
        """A parameter that statements of the kernel's own block move on before the address: ``p += blockIdx.x * n;``"""
        body = self.function.node.child_by_field_name("body")
        moves = _moves(self.function.node, name, self.unit)
        if body is None or moves is None:
            return None
        found: list[_Term] = []
        for move in moves:
            statement, value = move.parent, move.child_by_field_name("right")
            once = statement is not None and statement.type == "expression_statement" and statement.parent == body
            terms = self.terms(value, steps - 1) if once and value is not None else None
            if terms is None or move.end_byte > node.start_byte:
                return None
            found += terms
        self.base = name
        return found

    def terms(self, node: Node, steps: int) -> list[_Term] | None:
        """The products of an index."""
        if steps <= 0:
            return None
        inner = self.places.inside(node)
        if inner is not None:
            return self.terms(inner, steps - 1)
        if node.type == "number_literal":
            text = self.unit.text(node).rstrip("uUlL")
            return [] if text == "0" else [()] if text == "1" else [(text,)] if text.isdigit() else None
        if not is_sum_or_product(node):
            return self._variable(node, steps)
        return multiplied_out(node, lambda part: self.terms(part, steps - 1))

    def _variable(self, node: Node, steps: int) -> list[_Term] | None:
        text = "".join(self.unit.text(node).split())
        if node.type in ("identifier", "field_expression"):
            place = self.places.place(node)
            if place is not None:
                return self._noted(text, _Variable(place.sizes, place.axes))
            if self.places.constant(node, text):
                return [(text,)]
        if node.type != "identifier":
            return self._noted(text, _Variable(_OPEN))
        found = declarations.declared(node, text, self.unit)
        if found is not None and found.kind == "local" and found.value is not None and not found.depth:
            inner = self.terms(found.value, steps - 1) if self.places.fixed(node) else None
            if inner is not None:
                return inner
        bound = ownership.bounded(node, self.unit)
        size = self.places.product(node, bound.partition("<")[2]) if bound.startswith(f"{text}<") else None
        return self._noted(text, _Variable((size,) if size is not None else _OPEN))

    def _noted(self, name: str, variable: _Variable) -> list[_Term]:
        self.variables[f"${name}"] = variable
        return [(f"${name}",)]


def _numeric(factors: Size | Counter[str]) -> bool:
    return all(f.isdigit() for f in factors)


def _reaches(at: Counter[str], size: Size, following: Counter[str]) -> bool:
    """Whether steps of ``at``, fewer than ``size``, stay below the step that follows."""
    if at - following:
        return False
    ratio = following - at
    if ratio == Counter(size):
        return True
    numeric = bool(ratio) and _numeric(ratio) and _numeric(size)
    return numeric and math.prod(int(f) for f in ratio.elements()) >= math.prod(int(f) for f in size)


def _moves(root: Node, name: str, unit: Unit) -> list[Node] | None:
    """The ``+=`` on a variable; None where it is changed or given away by address in any other way."""
    word = name.encode()
    found: list[Node] = []
    for at in word_places(unit.data, word, root.start_byte, root.end_byte):
        node = root.descendant_for_byte_range(at, at + len(word))
        above = node.parent if node is not None and node.type == "identifier" else None
        if node is None or above is None:
            continue
        if above.type == "assignment_expression" and above.child_by_field_name("left") == node:
            if above.children[1].type != "+=":
                return None
            found.append(above)
        address = above.type == "pointer_expression" and above.children[0].type == "&"
        if above.type == "update_expression" or address:
            return None
    return found
