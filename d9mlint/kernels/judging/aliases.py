"""Whether other code of a kernel may reach the cells of an atomic: through another pointer, or through a call."""

from __future__ import annotations

import functools
import re

import tree_sitter

from d9mlint.kernels.judging import declarations, memory
from d9mlint.kernels.source.unit import Function, Unit

Node = tree_sitter.Node
_MAX_MADE = 8
_OPENING = re.compile(rb"\(")
_POINTING = ("binary_expression", "parenthesized_expression", "cast_expression")
_READS = re.compile(rb"tom|ldg|_cast<|\bmin\b|\bmax\b|sizeof|assert", re.I)


def escapes(base: str, address: Node, unit: Unit, function: Function) -> bool:
    """Whether a pointer is handed to another function than the one that gets ``address``: it may add to the same cells.

    Those that are named like atomics are looked at one by one.
    """
    own: Node | None = address
    while own is not None and own.type != "call_expression":
        own = own.parent
    start = own.start_byte if own is not None else -1
    handed = [at for at in _handed_out(function.node, unit.data).get(base, ()) if at != start]
    return not all(
        _only_reads(at, base, unit) or _other_members(at, base, address, unit) or _spares(at, base, address, unit)
        for at in handed
    )


def other_member(mine: Node, other: Node, unit: Unit) -> bool:
    """Whether two addresses are of different members of one object: ``&bin.count`` and ``bin.bounds``."""
    first, second = _members(mine, unit), _members(other, unit)
    parted = any(one != another for one, another in zip(first[1:], second[1:], strict=False))
    return bool(first and second) and first[0] == second[0] and parted


def _members(address: Node, unit: Unit) -> tuple[str, ...]:
    """The variable and the members behind it; nothing for an address of another form, such as ``bins + 1``."""
    at: Node | None = address
    if at is not None and at.type == "pointer_expression":
        at = at.child_by_field_name("argument") if at.children[0].type == "&" else None
    members: list[str] = []
    while at is not None and at.type in ("field_expression", "subscript_expression"):
        field = at.child_by_field_name("field")
        members += [unit.text(field)] if field is not None else []
        at = at.child_by_field_name("argument")
    return (unit.text(at), *reversed(members)) if at is not None and at.type == "identifier" else ()


def _other_members(at: int, base: str, address: Node, unit: Unit) -> bool:
    """Whether the call at a byte is handed only other members of the object that an address is part of."""
    listed = _call(at, unit)[1]
    given = [one for one in (listed.named_children if listed is not None else []) if _starts(one, base, unit)]
    return bool(given) and all(other_member(address, one, unit) for one in given)


def _call(at: int, unit: Unit) -> tuple[Node | None, Node | None]:
    """What is called at a byte, and the list of arguments."""
    call = unit.root.descendant_for_byte_range(at, at + 1)
    while call is not None and call.type != "call_expression":
        call = call.parent
    if call is None:
        return None, None
    return call.child_by_field_name("function"), call.child_by_field_name("arguments")


def _only_reads(at: int, base: str, unit: Unit) -> bool:
    """Whether all functions of this file that the call at a byte may mean only load through what they are given."""
    given = _given(at, base, unit)
    return bool(given) and all(_loads(function, place, unit) for function, place in given)


def _spares(at: int, base: str, address: Node, unit: Unit) -> bool:
    """Whether these use only other members of the object that an address is part of than that one."""
    members = _members(address, unit)
    given = _given(at, base, unit) if len(members) > 1 else []
    return bool(given) and all(_leaves(function, place, members[1], unit) for function, place in given)


def _given(at: int, base: str, unit: Unit) -> list[tuple[Node, int]]:
    """The functions of this file that the call at a byte may mean, and which of their arguments start from a name."""
    called, listed = _call(at, unit)
    name = unit.text(called).partition("<")[0].rpartition("::")[2].strip() if called is not None else ""
    places = [n for n, given in enumerate(listed.named_children) if _starts(given, base, unit)] if listed else []
    return [(one.node, place) for one in unit.functions() if one.name == name for place in places]


def _starts(given: Node, base: str, unit: Unit) -> bool:
    return re.search(rf"\b{re.escape(base)}\b", unit.text(given)) is not None


def _loads(function: Node, place: int, unit: Unit) -> bool:
    """Whether every mention of a parameter is compared with null, or handed to what says that it loads."""
    return _all_mentions(function, place, rb"\b%s\s*[!=]=|\b(?:__)?ld\w*\s*(?:<[^<>;]*>)?\(\s*%s\b", unit)


def _leaves(function: Node, place: int, member: str, unit: Unit) -> bool:
    """Whether every mention of a parameter is of a member of it, and never of this one."""
    return _all_mentions(function, place, rb"\b%s\s*(?:\.|->)\s*(?!" + member.encode() + rb"\b)\w", unit)


def _all_mentions(function: Node, place: int, told: bytes, unit: Unit) -> bool:
    """Whether every mention of a parameter in the body of a function has a form, in which ``%s`` is its name."""
    declarator = declarations.parameter_at(function, place)
    name = (declarations.named(declarator, unit) or ("",))[0] if declarator is not None else ""
    body = function.child_by_field_name("body")
    if not name or body is None:
        return False
    text = unit.data[body.start_byte : body.end_byte]
    word = re.escape(name.encode())
    mentions = len(re.findall(rb"\b" + word + rb"\b", text))
    return len(re.findall(told.replace(b"%s", word), text)) == mentions


@functools.lru_cache(maxsize=256)
def _handed_out(root: Node, data: bytes) -> dict[str, tuple[int, ...]]:
    """The calls that are no atomics and do more than read, by the names that stand as addresses among the arguments."""
    found: dict[str, tuple[int, ...]] = {}
    for opening in _OPENING.finditer(data, root.start_byte, root.end_byte):
        mark = root.descendant_for_byte_range(opening.start(), opening.end())
        listed = mark.parent if mark is not None else None
        node = listed.parent if listed is not None and listed.type == "argument_list" else None
        called = node.child_by_field_name("function") if node is not None else None
        if listed is None or node is None or node.type != "call_expression":
            continue
        if called is None or _READS.search(data, called.start_byte, called.end_byte):
            continue
        parts = list(listed.named_children)
        while parts:
            at = parts.pop()
            if at.type == "identifier":
                name = data[at.start_byte : at.end_byte].decode("utf-8", "replace")
                found[name] = (*found.get(name, ()), node.start_byte)
            parts.extend(_address_parts(at))
    return found


def _address_parts(node: Node) -> list[Node]:
    """What an address may be reckoned from; nothing for values."""
    if node.type == "pointer_expression":
        inner = node.child_by_field_name("argument") if node.children[0].type == "&" else None
        while inner is not None and inner.type in ("subscript_expression", "field_expression"):
            inner = inner.child_by_field_name("argument")
        return [inner] if inner is not None else []
    return node.named_children if node.type in _POINTING else []


def origin(root: Node, unit: Unit) -> str:
    """The name of the pointer that a pointer is made of, through the first values of local variables."""
    at = root
    for _ in range(_MAX_MADE):
        found = declarations.declared(at, unit.text(at), unit)
        made = memory.base(found.value, unit) if found is not None and found.value is not None else None
        if found is None or found.kind == "parameter" or made is None:
            break
        at = made
    return unit.text(at)


def aliased(base: str, others: list[Node], unit: Unit) -> bool:
    """Whether an address starts from another pointer that is made of the base, or from an unknown one."""
    roots = [memory.base(address, unit) for address in others]
    return any(root is None or (unit.text(root) != base and origin(root, unit) == base) for root in roots)
