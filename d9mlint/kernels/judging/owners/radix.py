"""Flat addresses that one thread owns: ``out + ((b * N + n) * M + m) * K + k`` with b, m, k the digits of its index.

Such a sum is a number in mixed radix where every variable stays below the factor between its coefficient and the next
one; then all variables can be found again from it, and with the digits the thread. Proven, never guessed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.judging import aliases, declarations, memory
from d9mlint.kernels.judging.constants import MAX_CALLS, assigned, atomic_calls, lasting
from d9mlint.kernels.judging.owners import digits, ownership
from d9mlint.kernels.source.unit import Function, Unit

Node = tree_sitter.Node
_MAX_STEPS = 14
_MAX_TERMS = 24
_NAMES = re.compile(r"[A-Za-z_]\w*|\d+")
_SKIPS = ("continue_statement", "return_statement")
_Term = tuple[str, ...]


def is_sum_or_product(node: Node) -> bool:
    """Whether an expression adds or multiplies two others."""
    sides = (node.child_by_field_name("left"), node.child_by_field_name("right"))
    return node.type == "binary_expression" and None not in sides and node.children[1].type in ("+", "*")


def multiplied_out(node: Node, terms: Callable[[Node], list[_Term] | None]) -> list[_Term] | None:
    """The products of a sum or a product; None where a side cannot be read, or there are too many."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    first = terms(left) if left is not None else None
    second = terms(right) if right is not None and first is not None else None
    if first is None or second is None or len(first) * len(second) > _MAX_TERMS:
        return None
    return first + second if node.children[1].type == "+" else [(*a, *b) for a in first for b in second]


class Owned(NamedTuple):
    """Why only one thread writes an address, and what must hold for it (empty: it is proven)."""

    why: str
    assumed: str = ""


def owner(address: Node, unit: Unit, function: Function | None) -> Owned | None:
    """Whether only one thread writes the address; None where that is not seen."""
    if function is None or "__global__" not in function.qualifier:
        return None
    if len(atomic_calls(function.node, unit.data)) > MAX_CALLS:
        return None
    reader = _Sum(unit, function, address)
    terms = reader.pointer(address, _MAX_STEPS)
    found = [v.digit for v in reader.variables.values() if v.digit is not None]
    names = sorted({d.thread for d in found})
    if terms is None or not reader.base or len(names) != 1 or not reader.unique(names[0]):
        return None
    assumed = ""
    if not _found_again(terms, reader, {}):
        equal = digits.gap(found)
        if equal is None or not _found_again(terms, reader, dict([equal])):
            return None
        assumed = f"if `{equal[0]}` is `{'*'.join(equal[1])}`"
    if any(aliases.escapes(name, address, unit, function) for name in reader.names):
        return None
    if not _same(address, reader.base, unit, function):
        return None
    return Owned(f"its terms tell the thread with this `{names[0]}`, and no other writes the cell", assumed)


def _same(address: Node, base: str, unit: Unit, function: Function) -> bool:
    """Whether all atomics that start from the base, or nobody knows where, name the same element as this one."""
    root = memory.base(address, unit)
    mine = declarations.declared(root, unit.text(root), unit) if root is not None else None
    text = "".join(unit.text(address).split())
    for other in ownership.addresses(function, unit):
        start = memory.base(other, unit)
        if start is None:
            return False
        alike = declarations.declared(start, unit.text(start), unit) == mine
        alike = alike and "".join(unit.text(other).split()) == text
        if not alike and aliases.origin(start, unit) == base:
            return False
    return mine is not None


class _Variable(NamedTuple):
    """What differs between threads or turns of a loop; it stays below the product ``size``, unless that is None."""

    size: tuple[str, ...] | None
    digit: digits.Digit | None = None


class _Sum:
    """Reads an address as a sum of products; each product is a tuple of names and numbers."""

    def __init__(self, unit: Unit, function: Function, place: Node) -> None:
        self.unit = unit
        self.function = function
        self.place = place
        self.base = ""
        self.names: set[str] = set()
        """The base, and the pointers that are made of it on the way to the address."""
        self.variables: dict[str, _Variable] = {}

    def unique(self, name: str) -> bool:
        """Whether the index differs in all threads of the grid."""
        if digits.linear(name, self.unit, self.function):
            return True
        return self._looped(name) and not ownership.other_axes(self.function, self.unit)

    def _looped(self, name: str) -> bool:
        return ownership.looped(self.place, name, self.unit)

    def pointer(self, node: Node, steps: int) -> list[tuple[str, ...]] | None:
        """The terms that are added to the base."""
        if steps <= 0:
            return None
        if node.type == "parenthesized_expression" and len(node.named_children) == 1:
            return self.pointer(node.named_children[0], steps - 1)
        argument = node.child_by_field_name("argument")
        if node.type == "pointer_expression" and argument is not None and node.children[0].type == "&":
            return self.pointer(argument, steps - 1)
        if node.type == "subscript_expression" and argument is not None:
            listed = node.child_by_field_name("indices")
            index = listed.named_children[0] if listed is not None and len(listed.named_children) == 1 else None
            return self._plus(argument, index, steps)
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        if node.type == "binary_expression" and left is not None and node.children[1].type == "+":
            return self._plus(left, right, steps)
        return self._named(node, steps) if node.type == "identifier" else None

    def _plus(self, left: Node, right: Node | None, steps: int) -> list[tuple[str, ...]] | None:
        first = self.pointer(left, steps - 1)
        second = self.terms(right, steps - 1) if right is not None and first is not None else None
        return first + second if first is not None and second is not None else None

    def _named(self, node: Node, steps: int) -> list[tuple[str, ...]] | None:
        """A pointer parameter, or a local pointer made of one."""
        name = self.unit.text(node)
        self.names.add(name)
        if ownership.fixed_pointer(node, self.unit):
            self.base = name
            return []
        found = declarations.declared(node, name, self.unit)
        local = found is not None and found.kind == "local" and found.depth == 1
        if found is None or not local or found.value is None or assigned(self.function.node, name, self.unit):
            return None
        return self.pointer(found.value, steps - 1)

    def terms(self, node: Node, steps: int) -> list[tuple[str, ...]] | None:
        """The products of an index expression."""
        if steps <= 0:
            return None
        if node.type == "number_literal":
            text = self.unit.text(node).rstrip("uUlL")
            return [] if text == "0" else [()] if text == "1" else [(text,)] if text.isdigit() else None
        if node.type == "identifier":
            return self._variable(node, steps)
        if node.type == "parenthesized_expression" and len(node.named_children) == 1:
            return self.terms(node.named_children[0], steps - 1)
        return multiplied_out(node, lambda part: self.terms(part, steps - 1)) if is_sum_or_product(node) else None

    def _variable(self, node: Node, steps: int) -> list[tuple[str, ...]] | None:
        name = self.unit.text(node)
        found = declarations.declared(node, name, self.unit)
        constant = found is not None and found.kind == "parameter" and not found.depth
        if (constant and not assigned(self.function.node, name, self.unit)) or self._setting(found, name):
            return [(name,)]
        digit = digits.Reader(self.unit, self.function, self._looped).digit(node, _MAX_STEPS)
        if digit is not None:
            size = None if digit.high is None else tuple((Counter(digit.high) - Counter(digit.low)).elements())
            return self._noted(name, _Variable(size, digit))
        value = lasting(node, found, self.function.node, self.unit) if found is not None else None
        inner = self.terms(value, steps - 1) if value is not None else None
        return inner if inner is not None else self._noted(name, _Variable(self._bound(node, name)))

    def _setting(self, found: declarations.Declared | None, name: str) -> bool:
        """Whether a name is a macro that the build sets, ``-DN=64``: nothing here declares or defines it."""
        return found is None and name.isupper() and re.search(rb"#\s*define\s+" + name.encode(), self.unit.data) is None

    def _noted(self, name: str, variable: _Variable) -> list[tuple[str, ...]] | None:
        """The term of a variable; only one may be without a bound."""
        self.variables[f"${name}"] = variable
        unbounded = [v for v in self.variables.values() if v.size is None]
        return [(f"${name}",)] if len(unbounded) <= 1 else None

    def _bound(self, node: Node, name: str) -> tuple[str, ...] | None:
        """The product that a variable stays below: of its loop, or of a test that skips all others."""
        text = ownership.bounded(node, self.unit)
        if text.startswith(f"{name}<"):
            return self._product(text.partition("<")[2])
        at: Node | None = node
        while at is not None and at.type != "function_definition":
            before = at.prev_named_sibling
            while before is not None:
                limit = self._skipped(before, name)
                if limit is not None:
                    return limit
                before = before.prev_named_sibling
            at = at.parent
        return None

    def _skipped(self, node: Node, name: str) -> tuple[str, ...] | None:
        """``if (v >= N || v < 0) continue;``"""
        condition = node.child_by_field_name("condition") if node.type == "if_statement" else None
        body = node.child_by_field_name("consequence")
        if condition is None or body is None or assigned(self.function.node, name, self.unit):
            return None
        inner = [c for c in body.named_children if c.type != "comment"] if body.type == "compound_statement" else [body]
        if not inner or inner[-1].type not in _SKIPS:
            return None
        tests = re.sub(r"[\s()]|//[^\n]*", "", self.unit.text(condition)).split("||")
        limits = [t.partition(">=")[2] for t in tests if t.startswith(f"{name}>=")]
        return self._product(limits[0]) if len(limits) == 1 and f"{name}<0" in tests else None

    def _product(self, text: str) -> tuple[str, ...] | None:
        names = re.sub(r"[()]", "", text).split("*")
        fixed = all(_NAMES.fullmatch(n) and not assigned(self.function.node, n, self.unit) for n in names)
        return tuple(names) if fixed else None


def _found_again(terms: list[_Term], reader: _Sum, meant: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether the thread's index can be found again from the address, by the digits of it that are told."""
    known = {
        name: _Variable(
            digits.with_factors(v.size, meant) if v.size is not None else None,
            v.digit._replace(
                low=digits.with_factors(v.digit.low, meant),
                high=digits.with_factors(v.digit.high, meant) if v.digit.high is not None else None,
            )
            if v.digit is not None
            else None,
        )
        for name, v in reader.variables.items()
    }
    found = [v.digit for v in known.values() if v.digit is not None]
    return digits.complete(found) and _mixed_radix([digits.with_factors(t, meant) for t in terms], known)


def _mixed_radix(terms: list[_Term], variables: Mapping[str, _Variable]) -> bool:
    """Whether every variable stays below the factor from its coefficient to the next one."""
    coefficients: dict[str, Counter[str]] = {}
    for term in terms:
        names = [n for n in term if n in variables]
        if len(names) != 1 or names[0] in coefficients:
            return False
        coefficients[names[0]] = Counter(n for n in term if n not in variables)
    if set(coefficients) != set(variables):
        return False
    at: Counter[str] = Counter()
    while coefficients:
        name = next((n for n, c in coefficients.items() if c == at), None)
        if name is None:
            return False
        del coefficients[name]
        size = variables[name].size
        if size is None:
            return not coefficients
        at = at + Counter(size)
    return True
