"""Operands that are the same whichever thread adds them."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.judging import declarations
from d9mlint.kernels.sites.names import MEMBERS
from d9mlint.kernels.source.lexical import word_places
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
_NAN = re.compile(r"quiet_NaN|signaling_NaN|\bNAN\b|\bnanf?\b|CUDART_NAN|std::nan")
_LIMITS = re.compile(r"numeric_limits|NumTraits|CUDART_INF|\bINFINITY\b")
_SCALARS = ("number_literal", "true", "false", "char_literal", "nullptr", "null", "concatenated_string")
_NULLS = ("NULL", "nullptr", "true", "false")
_ATOMIC = re.compile(rb"(?i:tom)|\bfetch_|\bcompare_exchange_|\bexchange\b")
_KEEPS_BY_ZERO = re.compile(r"(?i:add|sub|xor)|(?:Or|_or)(?:_|\Z)")
"""In the names of atomics that leave a value as it is where 0 is brought."""
_MAX_STEPS = 8
MAX_CALLS = 300
"""A function with more atomics is generated; nothing is proven about how they meet."""


class Constant(NamedTuple):
    """An operand that does not depend on the thread."""

    text: str
    nan: bool = False
    uniform: bool = False
    """It is a scalar parameter of the kernel: the same for all threads of a launch."""


def constant(node: Node | None, unit: Unit, steps: int = _MAX_STEPS) -> Constant | None:
    """What the operand is where every thread has the same one; None where that is not seen."""
    if node is None or steps <= 0:
        return None
    text = " ".join(unit.text(node).split())[:60]
    if node.type in _SCALARS:
        return Constant(text)
    if node.type in ("parenthesized_expression", "initializer_list") and len(node.named_children) == 1:
        return constant(node.named_children[0], unit, steps - 1)
    if node.type in ("unary_expression", "cast_expression", "compound_literal_expression"):
        inner = constant(node.child_by_field_name("argument") or node.child_by_field_name("value"), unit, steps - 1)
        return Constant(text, inner.nan, inner.uniform) if inner is not None else None
    if node.type == "call_expression":
        return _call(node, text, unit, steps)
    if node.type in ("pointer_expression", "subscript_expression"):
        return _loaded(node, text, unit)
    if node.type == "qualified_identifier":
        name = text.rpartition("::")[2]
        return Constant(text) if re.fullmatch(r"k?[A-Z]\w*", name) or _enumerator(name, unit) else None
    return _variable(node, text, unit, steps) if node.type == "identifier" else None


def only_reads(called: str, brought: Sequence[str]) -> bool:
    """Whether an atomic only reads what it is called for, by its name and operands.

    >>> only_reads("atomicAdd", ["0"]), only_reads("atomicCAS", ["x", "x"]), only_reads("atomicExch", ["0"])
    (True, True, False)
    """
    if len(brought) == 2:
        return brought[0] == brought[1]
    return len(brought) == 1 and brought[0].rstrip("uUlL") == "0" and _KEEPS_BY_ZERO.search(called) is not None


def _loaded(node: Node, text: str, unit: Unit) -> Constant | None:
    """``*update`` and ``scale[0]`` of a ``const`` pointer parameter of the kernel: one value for all threads."""
    argument = node.child_by_field_name("argument")
    indices = node.child_by_field_name("indices")
    if argument is None or argument.type != "identifier" or node.children[0].type == "&":
        return None
    if indices is not None and any(c.type != "number_literal" for c in indices.named_children):
        return None
    found = declarations.declared(argument, unit.text(argument), unit)
    owner = unit.function(found.node) if found is not None else None
    if found is None or owner is None or found.kind != "parameter" or "__global__" not in owner.qualifier:
        return None
    fixed = found.depth == 1 and "const" in found.prefix and not assigned(owner.node, unit.text(argument), unit)
    return Constant(text, uniform=True) if fixed else None


def _call(node: Node, text: str, unit: Unit, steps: int) -> Constant | None:
    """``T(1)``, ``static_cast<T>(1)``, ``numeric_limits<T>::quiet_NaN()``."""
    called = node.child_by_field_name("function")
    listed = node.child_by_field_name("arguments")
    given = listed.named_children if listed is not None else []
    name = unit.text(called) if called is not None else ""
    if not given and _NAN.search(name):
        return Constant(text, nan=True)
    if not given and _LIMITS.search(name):
        return Constant(text)
    if len(given) != 1 or (called is not None and called.type == "field_expression"):
        return None
    if _NAN.search(name):
        return Constant(text, nan=True)
    inner = constant(given[0], unit, steps - 1)
    return Constant(text, inner.nan, inner.uniform) if inner is not None else None


def _variable(node: Node, text: str, unit: Unit, steps: int) -> Constant | None:
    if _NAN.search(text):
        return Constant(text, nan=True)
    found = declarations.declared(node, text, unit)
    if found is None:
        return Constant(text) if text in _NULLS or _defined(text, unit) or _enumerator(text, unit) else None
    function = unit.function(node)
    if function is None or assigned(function.node, text, unit):
        return None
    if found.kind == "parameter":
        owner = unit.function(found.node)
        kernel = owner is not None and "__global__" in owner.qualifier and owner.node == function.node
        return Constant(text, uniform=True) if kernel and not found.depth and "&" not in found.type else None
    fixed = "const" in found.prefix or "const" in found.type
    # Without `const` a call could have changed it through a reference.
    if found.kind == "local" and found.value is not None and fixed:
        inner = constant(found.value, unit, steps - 1)
        return Constant(text, inner.nan, inner.uniform) if inner is not None else None
    return Constant(text) if found.kind == "global" and fixed and found.value is not None else None


def _enumerator(name: str, unit: Unit) -> bool:
    """Whether a name is one of an enumeration of this file."""
    wanted = name.encode()
    for at in word_places(unit.data, wanted):
        node = unit.root.descendant_for_byte_range(at, at + len(wanted))
        above = node.parent if node is not None else None
        if above is not None and above.type == "enumerator" and above.child_by_field_name("name") == node:
            return True
    return False


def _defined(name: str, unit: Unit) -> bool:
    """Whether a name is a macro for a number in this file."""
    pattern = rb"^[ \t]*#[ \t]*define[ \t]+" + re.escape(name.encode()) + rb"[ \t]+[-(]*[0-9.][\w.()]*[ \t]*\r?$"
    return re.search(pattern, unit.data, re.M) is not None


@functools.lru_cache(maxsize=1024)
def assigned(root: Node, name: str, unit: Unit) -> bool:
    """Whether a variable is assigned to, counted up or given away by address, below a node."""
    return next(_changes(root, name, unit), None) is not None


def _changes(root: Node, name: str, unit: Unit) -> Iterator[Node]:
    """Where that is: the assignments and the expressions around the variable, in order."""
    word = name.encode()
    for at in word_places(unit.data, word, root.start_byte, root.end_byte):
        node = root.descendant_for_byte_range(at, at + len(word))
        if node is None or node.type != "identifier" or node.start_byte != at or node.end_byte != at + len(word):
            continue
        above = node.parent
        if above is None or node == root:
            continue
        if above.type == "assignment_expression" and above.child_by_field_name("left") == node:
            yield above
        counted = above.type == "update_expression" or (
            above.type == "pointer_expression" and above.children[0].type == "&"
        )
        if counted and above.child_by_field_name("argument") == node:
            yield above


def lasting(place: Node, found: declarations.Declared, root: Node, unit: Unit) -> Node | None:
    """The one value that a local variable has at a place: its first, or that of the only statement that sets it.

    That statement has to stand in a block around the place, before it: ``int x; x = i % n; ... use(x)``.
    """
    declarator = declarations.named(found.node, unit)
    name = declarator[0] if declarator is not None else ""
    if found.kind != "local" or not name:
        return None
    if not assigned(root, name, unit):
        return found.value
    setting = _only_setting(root, name, unit) if found.value is None else None
    statement = setting.parent if setting is not None else None
    block = statement.parent if statement is not None else None
    if setting is None or statement is None or block is None or statement.end_byte > place.start_byte:
        return None
    plain = statement.type == "expression_statement" and block.type == "compound_statement"
    around = block.start_byte <= place.start_byte < block.end_byte
    same = plain and around and declarations.declared(setting, name, unit) == found
    return setting.child_by_field_name("right") if same else None


@functools.lru_cache(maxsize=1024)
def _only_setting(root: Node, name: str, unit: Unit) -> Node | None:
    """The assignment ``name = value`` below a node, where nothing else changes the variable."""
    changes = list(_changes(root, name, unit))
    setting = len(changes) == 1 and changes[0].type == "assignment_expression" and changes[0].children[1].type == "="
    return changes[0] if setting else None


@functools.lru_cache(maxsize=256)
def atomic_calls(root: Node, data: bytes) -> tuple[tuple[Node, ...], ...]:
    """The arguments of the calls below a node that are named like atomics and have any; a member's object first."""
    found: dict[int, tuple[Node, ...]] = {}
    for named in _ATOMIC.finditer(data, root.start_byte, root.end_byte):
        node = root.descendant_for_byte_range(named.start(), named.end())
        while node is not None and node != root:
            above = node.parent
            if above is not None and above.type == "call_expression" and above.child_by_field_name("function") == node:
                listed = above.child_by_field_name("arguments")
                given = tuple(listed.named_children) if listed is not None else ()
                field = node.child_by_field_name("field") if node.type == "field_expression" else None
                of = node.child_by_field_name("argument") if field is not None and _member(field) else None
                found[above.id] = (of, *given) if of is not None else given
            node = above
    return tuple(given for given in found.values() if given)


def _member(field: Node) -> bool:
    return (field.text or b"").decode("utf-8", "replace") in MEMBERS
