"""What a compare-and-swap computes: the expression between the assumed value and the swap."""

from __future__ import annotations

import functools
import re
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.judging import declarations
from d9mlint.kernels.judging.around import LOOPS
from d9mlint.kernels.judging.known.scalars import kind, short, words
from d9mlint.kernels.judging.known.spelled import Type
from d9mlint.kernels.judging.swapping import guarded, parts
from d9mlint.kernels.judging.types.expressions import type_of
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
_OPERATORS = {"+": "add", "-": "sub", "*": "mul", "/": "div"}
_COMPOUND = {"+=": "add", "-=": "sub", "*=": "mul", "/=": "div"}
_BITS = {"&": "and", "|": "or", "^": "xor", "&&": "and", "||": "or"}
_FUNCTIONS = {
    "add": words("add __hadd __hadd2 hadd plus __fadd_rn __dadd_rn Add sum atomicAdd"),
    "sub": words("sub __hsub __hsub2 minus Sub"),
    "mul": words("mul __hmul __hmul2 multiplies __fmul_rn Mul"),
    "div": words("div __hdiv hdiv __fdividef divides Div"),
    "min": words("min fmin fminf __hmin hmin safe_min minimum Min fminimum MIN"),
    "max": words("max fmax fmaxf __hmax hmax safe_max maximum Max fmaximum MAX"),
}
_CALLED = {name: word for word, names in _FUNCTIONS.items() for name in names}
_FLOATS = re.compile(
    r"_as_float|_as_double|float_as_|double_as_|half2float|float2half|bfloat16|\b(?:Eigen::)?half\b|\bHalf\b|__half|raw_uint16"
)
_MACRO = re.compile(r"\b([A-Z][A-Z0-9_]*)\(")
_MAX_NODES = 1500
_MAX_DEFINITIONS = 40

CUSTOM = "custom"
"""What is computed is a function that the source hands in (``accumulate(assumed)``) or a formula of its own."""


class Cas(NamedTuple):
    """A compare-and-swap.

    ``implements`` is the operation of a loop that recomputes the new value from the old one; empty for one that stores
    a value of its own: a lock, or first come, first served. ``floats``: values go through float conversions.
    """

    implements: str
    floats: bool
    loop: Node | None
    text: str = ""
    function: str = ""
    """The macro that computes the new value, where it is one: ``OP``."""
    applied: Node | None = None
    """The function object that computes it, where it is one: ``op`` of ``op(old, value)``."""
    part: bool = False
    """Whether it is a compare-and-swap of some bits of the word."""


def cas(call: Node, arguments: tuple[Node, ...], unit: Unit) -> Cas:
    """What ``atomicCAS(address, compare, value)`` does, from the loop around it."""
    around = _loop(call)
    if len(arguments) < 3:
        return Cas("", False, around)
    compare, value = arguments[1], arguments[2]
    loop = around if around is not None else _turn(call, compare, unit)
    assigned = _definitions(loop, call, unit) if loop is not None else {}
    carriers = _carriers(compare, assigned, unit)
    fresh = around is None or _by_reference(call, around, unit) or _renewed(compare, around, unit)
    if loop is None or not carriers or not fresh:
        return Cas("", False, around, unit.text(value))
    depends, operation, floats = _flow(value, assigned, carriers, unit)
    if around is None and operation and not floats and _called(value):
        operation = CUSTOM  # of which type the operands are is up to what converts them
    operation = operation or _bits(value, carriers, unit)
    if not depends:
        stored = _names(value, unit) - set(_CONVERSION_NAMES)
        stored |= {n for name in stored for v in assigned.get(name, []) for n in _names(v, unit)} - carriers
        chosen = guarded.extreme(loop, call, carriers, frozenset(stored - set(_CONVERSION_NAMES)), unit)
        return Cas(chosen, bool(chosen) and through_floats(unit.text(loop)), loop, unit.text(value))
    if operation in ("", CUSTOM) and parts.swapped(loop, call, value, assigned, carriers, unit):
        return Cas("", False, loop, unit.text(value), part=True)
    called = _MACRO.search(unit.text(value)) or _MACRO.search(unit.text(loop)[:_MAX_NODES])
    text = " ".join(unit.text(value).split())[:80]
    applied = (
        None
        if operation and operation != CUSTOM
        else _applied([value, *(v for found in assigned.values() for v in found)], carriers, unit)
    )
    return Cas(operation or CUSTOM, floats, loop, text, called[1] if called is not None else "", applied)


def _applied(values: list[Node], carriers: frozenset[str], unit: Unit) -> Node | None:
    """The object whose call takes the old value: ``op(old, value)``, ``Op{}(old, value)``."""
    pending = list(values)
    for _ in range(_MAX_NODES):
        if not pending:
            break
        node = pending.pop(0)
        pending.extend(node.named_children)
        called = node.child_by_field_name("function") if node.type == "call_expression" else None
        listed = node.child_by_field_name("arguments")
        if called is None or listed is None or not _names(listed, unit) & carriers:
            continue
        local = called.type == "identifier" and declarations.declared(called, unit.text(called), unit) is not None
        if local or called.type in ("compound_literal_expression", "call_expression"):
            return called
    return None


def of_text(body: str, parameters: tuple[str, ...]) -> str:
    """The operation in the body of a macro of two values: ``Y + X``, ``max(Y, X)``; empty if unclear."""
    body = body.replace("\\\n", " ").strip()
    names = "|".join(re.escape(p) for p in parameters)
    if len(parameters) != 2:
        return ""
    sides = re.fullmatch(rf"\(*\s*(?:{names})\s*\)*\s*([-+*/])\s*\(*\s*(?:{names})\s*\)*", body)
    if sides is not None:
        return _OPERATORS[sides[1]]
    called = re.match(r"\(*\s*(?:\w*::)*(\w+)\s*(?:<[^<>]*>)?\(", body)
    if called is not None and called[1] in _CALLED:
        return _CALLED[called[1]]
    chosen = re.fullmatch(
        r"\(*\s*\(?\(*(\w+)\)*\s*([<>])=?\s*\(*(\w+)\)*\s*\?\s*\(*(\w+)\)*\s*:\s*\(*(\w+)[\s)]*", body
    )
    if chosen is None or {chosen[1], chosen[3]} != {chosen[4], chosen[5]}:
        return ""
    return "min" if (chosen[2] == "<") == (chosen[1] == chosen[4]) else "max"


@functools.lru_cache(maxsize=256)
def of_lambda(node: Node, unit: Unit) -> str:
    """The operation of a lambda or function: ``[v](T a) { return a + v; }`` is an add; empty if unclear."""
    names = {found[0] for p in declarations.parameters(node) for d in p.children_by_field_name("declarator")
             if (found := declarations.named(d, unit)) is not None}  # fmt: skip
    pending = [node]
    returned: set[str] = set()
    while pending:
        at = pending.pop()
        if at.type == "return_statement" and at.named_children:
            given = at.named_children[0]
            returned.add(_operation(given, frozenset(names), unit) or _bits(given, frozenset(names), unit))
        pending.extend(reversed(at.named_children))
    return returned.pop() if len(returned) == 1 else ""


def through_floats(text: str) -> bool:
    """Whether a piece of code converts between floats and the integers that hold their bits."""
    return _FLOATS.search(text[:2000]) is not None


def origin(node: Node | None, unit: Unit, repository: Repository) -> Type | None:
    """The pointer type before an address was reinterpreted: ``float*`` of ``(int*)address``."""
    best: Type | None = None
    at = node
    for _ in range(20):
        if at is None:
            break
        found = type_of(at, unit, repository)
        if found is not None and found.depth:
            best = found if best is None or short(found.name) not in ("char", "void") else best
        at = _source(at, unit)
    return best


def _source(node: Node, unit: Unit) -> Node | None:
    """What an address is made of: through casts, sums and the initial values of variables."""
    if node.type == "identifier":
        found = declarations.declared(node, unit.text(node), unit)
        return found.value if found is not None and found.kind != "parameter" else None
    if node.type in ("cast_expression",):
        return node.child_by_field_name("value")
    if node.type in ("unary_expression", "pointer_expression", "subscript_expression"):
        return node.child_by_field_name("argument")
    if node.type == "binary_expression":
        return node.child_by_field_name("left")
    if node.type == "call_expression":
        listed = node.child_by_field_name("arguments")
        called = node.child_by_field_name("function")
        casts = called is not None and (unit.text(called).endswith(">") or kind(unit.text(called)) != "")
        return listed.named_children[0] if casts and listed is not None and listed.named_children else None
    if node.type in ("parenthesized_expression", "initializer_list", "argument_list"):
        return node.named_children[0] if node.named_children else None
    return None


def _by_reference(call: Node, loop: Node, unit: Unit) -> bool:
    """Whether a swap gives the compared variable the value that it found, and is tried until it succeeds.

    So do ``compare_exchange_weak`` and ``_strong`` (C++ standard, [atomics.ref.ops]).
    """
    called = call.child_by_field_name("function")
    again = loop.type in ("while_statement", "do_statement") or _within(call, loop.child_by_field_name("condition"))
    return again and called is not None and "compare_exchange" in unit.text(called)


def _within(node: Node, outer: Node | None) -> bool:
    return outer is not None and outer.start_byte <= node.start_byte < outer.end_byte


def _renewed(compare: Node, loop: Node, unit: Unit) -> bool:
    """Whether the loop gives the compared variable a new value: without that it only waits for one."""
    names = _names(compare, unit)
    pending = [loop]
    for _ in range(_MAX_NODES):
        if not pending:
            break
        node = pending.pop()
        target = None
        if node.type == "init_declarator":
            target = node.child_by_field_name("declarator")
        elif node.type == "assignment_expression":
            target = node.child_by_field_name("left")
        if target is not None and _names(target, unit) & names:
            return True
        pending.extend(node.named_children)
    return compare.type == "pointer_expression"


def _loop(call: Node) -> Node | None:
    at = call.parent
    while at is not None and at.type not in ("function_definition", "lambda_expression"):
        if at.type in LOOPS:
            return at
        at = at.parent
    return None


def _turn(call: Node, compare: Node, unit: Unit) -> Node | None:
    """The lambda around a swap whose old value is a parameter of it: one turn of a loop that calls it elsewhere."""
    at = call.parent
    while at is not None and at.type not in ("function_definition", "lambda_expression"):
        at = at.parent
    found = declarations.declared(compare, unit.text(compare), unit) if compare.type == "identifier" else None
    own = at is not None and at.type == "lambda_expression" and found is not None and found.kind == "argument"
    return at if own and found is not None and at is not None and at.start_byte <= found.node.start_byte else None


def _called(node: Node) -> bool:
    """Whether functions are called in an expression."""
    return node.type == "call_expression" or any(_called(child) for child in node.named_children)


def _definitions(loop: Node, call: Node, unit: Unit) -> dict[str, list[Node]]:
    """The values that variables get inside the loop, without the value of the call itself."""
    found: dict[str, list[Node]] = {}
    pending = [loop]
    for _ in range(_MAX_NODES):
        if not pending:
            break
        node = pending.pop()
        pending.extend(reversed(node.named_children))
        target = value = None
        if node.type == "init_declarator":
            target, value = node.child_by_field_name("declarator"), node.child_by_field_name("value")
        elif node.type == "assignment_expression":
            target, value = node.child_by_field_name("left"), node.child_by_field_name("right")
        if target is None or value is None or value.start_byte <= call.start_byte < value.end_byte:
            continue
        name = re.match(r"[*&\s]*(\w+)", unit.text(target))
        if name is not None:
            compound = node.type == "assignment_expression" and node.children[1].type in _COMPOUND
            found.setdefault(name[1], []).append(node if compound else value)
    return found


def _names(node: Node, unit: Unit) -> set[str]:
    found: set[str] = set()
    pending = [node]
    for _ in range(_MAX_NODES):
        if not pending:
            break
        at = pending.pop()
        if at.type == "identifier":
            found.add(unit.text(at))
        pending.extend(at.named_children)
    return found


def _carriers(compare: Node, assigned: dict[str, list[Node]], unit: Unit) -> frozenset[str]:
    """The variables that hold the old value: the compared one, what it was set from, what is made of it."""
    if compare.type in ("number_literal", "true", "false"):
        return frozenset()
    found = _names(compare, unit) - set(_CONVERSION_NAMES)
    for name in list(found):
        for value in assigned.get(name, []):
            if value.type == "identifier":
                found.add(unit.text(value))
    for _ in range(4):
        more = {n for n, values in assigned.items() if any(_names(v, unit) & found for v in values)} - found
        if not more:
            break
        found |= more
    return frozenset(found)


_CONVERSION_NAMES = ("__float_as_int", "__float_as_uint", "__double_as_longlong", "__half_as_ushort")


def _flow(value: Node, assigned: dict[str, list[Node]], carriers: frozenset[str], unit: Unit) -> tuple[bool, str, bool]:
    """Whether the new value depends on the old one, by which operation, and whether floats are in between."""
    pending = [value]
    seen: set[str] = set()
    depends = floats = False
    operation = ""
    for _ in range(_MAX_DEFINITIONS):
        if not pending:
            break
        node = pending.pop(0)
        names = _names(node, unit)
        depends = depends or bool(names & carriers)
        floats = floats or bool(_FLOATS.search(unit.text(node)[:2000]))
        operation = operation or _operation(node, carriers, unit)
        for name in sorted(names - seen):
            seen.add(name)
            pending.extend(assigned.get(name, []))
    return depends, operation, floats


def _operation(node: Node, carriers: frozenset[str], unit: Unit) -> str:
    """The first operation, from the outside, that takes an old value; a function of the source only if no other."""
    custom = ""
    pending = [node]
    for _ in range(_MAX_NODES):
        if not pending:
            break
        at = pending.pop(0)
        found = _one(at, carriers, unit)
        if found and found != CUSTOM:
            return found
        custom = custom or found
        pending.extend(at.named_children)
    return custom


def _bits(node: Node, carriers: frozenset[str], unit: Unit) -> str:
    """``assumed | flag``: bit operations count only where they are all there is, else they pack parts of a word."""
    while node.type == "parenthesized_expression" and node.named_children:
        node = node.named_children[0]
    operator = node.child_by_field_name("operator") if node.type == "binary_expression" else None
    sides = [node.child_by_field_name(side) for side in ("left", "right")]
    plain = all(side is not None and side.type in ("identifier", "subscript_expression") for side in sides)
    return _BITS.get(operator.type, "") if operator is not None and plain and _names(node, unit) & carriers else ""


def _one(node: Node, carriers: frozenset[str], unit: Unit) -> str:
    if node.type == "assignment_expression" and node.children[1].type in _COMPOUND:
        return _COMPOUND[node.children[1].type]
    if node.type == "binary_expression":
        return _binary(node, carriers, unit)
    if node.type == "call_expression":
        called = node.child_by_field_name("function")
        listed = node.child_by_field_name("arguments")
        if called is None or listed is None or not _names(listed, unit) & carriers:
            return ""
        text = unit.text(called)
        name = re.sub(r"<[^<>]*>", "", text).replace(".", "::").rpartition("::")[2]
        if name in _CALLED:
            return _CALLED[name]
        plain = called.type == "identifier" and name.isidentifier() and not kind(text)
        local = plain and (declarations.declared(called, name, unit) is not None or name.isupper())
        return CUSTOM if local else ""
    return _extreme(node, carriers, unit) if node.type == "conditional_expression" else ""


def _binary(node: Node, carriers: frozenset[str], unit: Unit) -> str:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    operator = node.child_by_field_name("operator")
    if left is None or right is None or operator is None:
        return ""
    if not (_names(left, unit) | _names(right, unit)) & carriers:
        return ""
    return _OPERATORS.get(operator.type, "")


def _extreme(node: Node, carriers: frozenset[str], unit: Unit) -> str:
    """``a < b ? a : b`` is a min."""
    condition = node.child_by_field_name("condition")
    while condition is not None and condition.type == "parenthesized_expression":
        condition = condition.named_children[0] if condition.named_children else None
    first = node.child_by_field_name("consequence")
    second = node.child_by_field_name("alternative")
    if condition is None or first is None or second is None or condition.type != "binary_expression":
        return ""
    operator = condition.child_by_field_name("operator")
    left, right = condition.child_by_field_name("left"), condition.child_by_field_name("right")
    if operator is None or left is None or right is None or not _names(condition, unit) & carriers:
        return ""
    sides = (unit.text(left), unit.text(right))
    chosen = (unit.text(first), unit.text(second))
    if sides not in (chosen, chosen[::-1]) or operator.type not in ("<", "<=", ">", ">="):
        return ""
    return "min" if (operator.type in ("<", "<=")) == (sides == chosen) else "max"
