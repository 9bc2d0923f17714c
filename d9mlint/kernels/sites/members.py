"""Operations of ``cuda::atomic``, ``cuda::atomic_ref`` and SYCL's, found by the declaration of what they work on."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.sites.calls import Call, call_at
from d9mlint.kernels.sites.macros import Macro, defined_around
from d9mlint.kernels.sites.names import MEMBERS, READS, SCOPE_WORDS
from d9mlint.kernels.sites.presence import members_in
from d9mlint.kernels.sites.wrappers import declared_type, of_any_type
from d9mlint.kernels.source.lexical import in_line_comment, word_places
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.unit import Unit

_LIBRARY = r"(?:cuda::(?:std::)?|sycl::(?:ext::oneapi::|ONEAPI::)?)atomic(?:_ref)?\b"
_TYPE = re.compile(rf"\b{_LIBRARY}|\b(?<!std::)(?<!boost::)(?:\w+_)?atomic_ref\b(?=\s*[<(])")
"""The types, those of others (``device_atomic_ref``), and functions that make one (``make_atomic_ref<scope>(x)``)."""
_QUALIFIED = re.compile(r"\A(?:::)?(?!std::|boost::)(?:\w+::)+(?=(?:\w+_)?atomic_ref\b)")
_USING = re.compile(rf"\busing\s+(\w+)\s*=\s*[^;]{{0,40}}?{_LIBRARY}|"
                    rf"\btypedef\s+(?:::)?{_LIBRARY}[^;]{{0,300}}?(\w+)\s*;|"
                    r"\busing\s+(?:cuda|sycl)::(?:std::|ext::oneapi::)?(atomic(?:_ref)?)\s*;")  # fmt: skip
_DECLARED = re.compile(r"[\s&*>]+(?:const\b\s*)?(\w+)\s*[({=;,)\[]")
_BY_AUTO = re.compile(
    r"\bauto\b\s*(?:const\b\s*)?(?:[&*]{1,2}\s*)?(\w+)\s*=\s*"
    r"(?:::|(?:reinterpret|static)_cast\s*<\s*|(?:\w+(?:<[^<>;]*>)?\s*(?:::|->|\.)\s*){1,4})?\Z"
)
_MAKES = re.compile(r"\s*[&*]\s*(\w+)\s*\([^;(){}]{0,400}\)\s*(?:const\s*)?(?:noexcept\s*)?\{")
_SCOPE = re.compile(r"\b(?:thread_scope_|memory_scope::)\w+")
_ONLY_ATOMICS = ("fetch_", "compare_exchange_")
"""How members begin that nothing but an atomic has; ``exchange`` may be of another class."""
_HOST_ATOMIC = re.compile(r"(?<!cuda::)\bstd::atomic(?:_ref)?\b")
_MAX_TYPE = 400
_MAX_FUNCTION = 100_000
_IN_MACROS = re.compile(
    rb"(?:\.|->)\s*(?:" + b"|".join(name.encode() for name in MEMBERS) + rb")\s*\(|" + _TYPE.pattern.encode()
)
OPERATORS = {
    "+=": "atomicAdd", "-=": "atomicSub", "&=": "atomicAnd", "|=": "atomicOr", "^=": "atomicXor",
    "++": "atomicAdd", "--": "atomicSub",
}  # fmt: skip
"""What an operator does to an atomic object."""


class Operation(NamedTuple):
    """One atomic operation: the node, the call where it is one, the arguments with the target first."""

    start: int
    node: tree_sitter.Node
    call: Call | None
    name: str
    intrinsic: str
    scope: str
    arguments: tuple[tree_sitter.Node, ...]


class Variable(NamedTuple):
    """A name declared as an atomic: where, in which function (None outside of all), and what it refers to."""

    name: str
    function: int | None
    scope: str
    target: tree_sitter.Node | None


def operations(unit: Unit, repository: Repository) -> Iterator[Operation]:
    """The atomic operations in a source that names ``cuda::atomic`` or ``cuda::atomic_ref``."""
    text = unit.data.decode("latin-1")
    aliases, makers = _seen(repository, unit.path)
    types = [_TYPE.pattern, *(rf"\b{name}\b(?!\s*=)" for name in aliases)]
    pattern = re.compile("|".join([*types, *(rf"\b{name}(?=\s*\()" for name in sorted(makers))]))
    found = list(variables(unit, text, pattern, aliases))
    found += [Variable(name, None, scope, None) for name, scope in sorted(makers.items())]
    for name, intrinsic in MEMBERS.items():
        word = name.encode()
        for start in word_places(unit.data, word):
            call = None if in_line_comment(unit.data, start) else call_at(unit, start, word)
            if call is not None and call.receiver is not None:
                yield from _member(call, intrinsic, pattern, found)
    yield from _waits(unit, pattern, found)
    for variable in found:
        yield from _by_operator(unit, variable)


def _waits(unit: Unit, pattern: re.Pattern[str], among: list[Variable]) -> Iterator[Operation]:
    """The loads of such objects, seen declared, that end a wait."""
    from d9mlint.kernels.sites import loads  # few sources load so

    word = loads.LOAD.encode()
    for start in word_places(unit.data, word) if b".load" in unit.data or b"->load" in unit.data else ():
        call = None if in_line_comment(unit.data, start) else call_at(unit, start, word)
        if call is not None and call.receiver is not None and loads.waits(call.node):
            yield from (o for o in _member(call, READS, pattern, among, unseen=False) if unit.on_device(o.node))


def named(repository: Repository, path: str) -> tuple[bytes, ...]:
    """The names that a file gives to such types, by which others may use them."""
    return tuple(sorted(name.encode("latin-1") for name in repository.derived(_declares, path)[0]))


def macros(file: Unit) -> list[Macro]:
    """The macros of a file whose bodies name such a type, or a member of one."""
    data = file.data
    if b"define" not in data:
        return []
    places = [m.start() for m in _IN_MACROS.finditer(data)]
    found = (defined_around(file.path, data, at) for at in places)
    return list(dict.fromkeys(macro for macro in found if macro is not None))


def in_body(macro: Macro, body: Unit, repository: Repository) -> Iterator[Operation]:
    """The operations in the body of a macro: on objects of the body, and on what the macro is given."""
    seen = set()
    for one in operations(body, repository):
        seen.add(one.start)
        yield one
    for name, intrinsic in MEMBERS.items():
        for start in word_places(body.data, name.encode()):
            call = call_at(body, start, name.encode()) if start not in seen else None
            receiver = call.receiver if call is not None else None
            if call is not None and receiver is not None and receiver.text in (macro.parameters or ()):
                yield Operation(start, call.node, call, name, intrinsic, "system", (receiver, *call.arguments))


def _seen(repository: Repository, path: str) -> tuple[dict[str, str], dict[str, str]]:
    """What a file sees: names for such types with what they stand for; functions that return one, with the scope."""
    aliases: dict[str, str] = {}
    makers: dict[str, str] = {}
    paths = [p for p in sorted(repository.reachable(path)) if members_in(repository.data(p))]
    for source in paths:
        own, _ = repository.derived(_declares, source)
        aliases.update(own)
    for source in paths:
        makers.update(repository.derived(_declares, source)[1])
        text = repository.data(source).decode("latin-1") if aliases else ""
        for name, written in aliases.items():
            makers.update(dict.fromkeys(_returning(text, rf"\b{name}\b"), _scope(written)) if name in text else ())
    return aliases, makers


def _declares(repository: Repository, path: str) -> tuple[dict[str, str], dict[str, str]]:
    """The names that a file gives to such types, and the functions in it that return one."""
    text = repository.data(path).decode("latin-1")
    aliases: dict[str, str] = {}
    for match in _USING.finditer(text):
        name = match[1] or match[2] or match[3]
        aliases[name] = text[match.start() : text.find(";", match.start(), match.start() + _MAX_TYPE)]
    return aliases, dict.fromkeys(_returning(text, rf"\b{_LIBRARY}"), "system")


def _returning(text: str, typed: str) -> Iterator[str]:
    """The functions with a body whose type is a pointer or reference to one: ``Atomic<T>* scores(int i) const {``."""
    for match in re.finditer(typed, text):
        named = _MAKES.match(text, _after_template(text, match.end()))
        if named is not None:
            yield named[1]


def _member(
    call: Call, intrinsic: str, pattern: re.Pattern[str], among: list[Variable], unseen: bool = True
) -> Iterator[Operation]:
    """The operation that a member is; ``unseen``: also of an object whose declaration is not seen."""
    receiver = call.receiver
    assert receiver is not None
    written = call.unit.text(receiver)
    if pattern.match(written.removeprefix("::")) or pattern.match(_QUALIFIED.sub("", written)):
        made = receiver.child_by_field_name("arguments") or receiver.child_by_field_name("value")
        target = made.named_children[0] if made is not None and made.named_children else receiver
        arguments = (target, *call.arguments)
        yield Operation(call.start, call.node, call, call.name, intrinsic, _scope(written), arguments)
        return
    variable = meant(call.unit, receiver, among)
    if variable is not None:
        target = variable.target if variable.target is not None else receiver
        yield Operation(call.start, call.node, call, call.name, intrinsic, variable.scope, (target, *call.arguments))
    elif unseen and _of_unseen_type(call):
        yield Operation(call.start, call.node, call, call.name, intrinsic, "system", (receiver, *call.arguments))


def _of_unseen_type(call: Call) -> bool:
    """Whether a member is one of an atomic although the declaration of its object is not seen.

    On the device that is told by its name, or by the memory order that it is given.
    """
    named = call.name.startswith(_ONLY_ATOMICS)
    of_class = declared_type(call)
    if of_class and "tomic" not in of_class:  # of the sources, or of a library: its member may do anything
        return call.name.startswith("fetch_") and of_any_type(call)
    if not named and not any("memory_order" in call.unit.text(given) for given in call.arguments[1:]):
        return False
    return _on_device(call) and not of_host(call)


def _on_device(call: Call) -> bool:
    known = call.function is not None and call.function.on_device
    return known or call.unit.on_device(call.node)


def of_host(call: Call) -> bool:
    """Whether the object of a call is a ``std::atomic``: made in the call, or declared in the function around."""
    written = call.unit.text(call.receiver) if call.receiver is not None else ""
    if _HOST_ATOMIC.match(written):
        return True
    text = (call.function.node.text or b"")[:_MAX_FUNCTION].decode("utf-8", "replace") if call.function else ""
    declared = (text[m.end() : m.end() + _MAX_TYPE] for m in _HOST_ATOMIC.finditer(text))
    return any(re.match(rf"[^;(){{}}]{{0,200}}[\s&*>]{re.escape(written)}\b", after) for after in declared)


def meant(unit: Unit, receiver: tree_sitter.Node, among: list[Variable]) -> Variable | None:
    """The variable that a receiver such as ``x``, ``x[i]``, ``p->x`` names, declared in the function or outside."""
    at: tree_sitter.Node | None = receiver
    while at is not None and at.type in ("subscript_expression", "pointer_expression", "parenthesized_expression"):
        at = at.child_by_field_name("argument") or next(iter(at.named_children), None)
    if at is not None and at.type == "call_expression":
        at = at.child_by_field_name("function")
        while at is not None and at.type == "qualified_identifier":
            at = at.child_by_field_name("name")
    if at is not None and at.type == "field_expression":
        at = at.child_by_field_name("field")
    if at is None or at.type not in ("identifier", "field_identifier"):
        return None
    function = function_of(unit, at)
    named = [v for v in among if v.name == unit.text(at) and v.function in (function, None)]
    return next((v for v in named if v.function is not None), named[0] if named else None)


def function_of(unit: Unit, node: tree_sitter.Node) -> int | None:
    function = unit.function(node)
    return function.node.start_byte if function is not None else None


def variables(unit: Unit, text: str, pattern: re.Pattern[str], aliases: Mapping[str, str]) -> Iterator[Variable]:
    """Names declared with an atomic type, or by ``auto`` from a value of one."""
    for match in pattern.finditer(text):
        if in_line_comment(unit.data, match.start()):
            continue
        end = _after_template(text, match.end())
        declared = _DECLARED.match(text, end, end + _MAX_TYPE)
        made = end
        if declared is not None:
            made = declared.end(1)
        else:
            declared = _BY_AUTO.search(text, max(0, match.start() - 120), match.start())
        if declared is None:
            continue
        start, name = declared.start(1), declared[1]
        node = unit.root.descendant_for_byte_range(start, start + len(name))
        if node is None or node.type not in ("identifier", "field_identifier", "type_identifier"):
            continue
        if node.text != name.encode("latin-1"):
            continue
        target = _made_of(unit, made)
        written = aliases.get(match[0], "") + text[match.start() : end]
        yield Variable(name, function_of(unit, node), _scope(written), target)


def _after_template(text: str, at: int) -> int:
    """The place after the template arguments that open here, or this place."""
    opening = re.compile(r"\s*<").match(text, at)
    if opening is None:
        return at
    depth = 0
    for index in range(opening.end() - 1, min(len(text), at + _MAX_TYPE)):
        depth += {"<": 1, ">": -1}.get(text[index], 0)
        if depth == 0:
            return index + 1
    return at


def _made_of(unit: Unit, at: int) -> tree_sitter.Node | None:
    """The expression in the parentheses or braces after a declared name: what an ``atomic_ref`` refers to."""
    opening = re.compile(rb"\s*[({]\s*").match(unit.data, at)
    if opening is None or unit.data[opening.end() : opening.end() + 1] in (b")", b"}", b""):
        return None
    node = unit.root.descendant_for_byte_range(opening.end(), opening.end() + 1)
    while node is not None and node.parent is not None and node.parent.start_byte >= opening.end():
        node = node.parent
    return node


def _scope(written: str) -> str:
    """The scope in the template arguments; without one it is the system."""
    named = _SCOPE.search(written)
    return SCOPE_WORDS.get(named[0], "system") if named is not None else "system"


def _by_operator(unit: Unit, variable: Variable) -> Iterator[Operation]:
    """``x += 1``, ``x++``, ``--x`` on an atomic."""
    for start in word_places(unit.data, variable.name.encode("latin-1")):
        node = unit.root.descendant_for_byte_range(start, start + len(variable.name))
        parent = node.parent if node is not None and node.type == "identifier" else None
        if node is None or parent is None or parent.type not in ("assignment_expression", "update_expression"):
            continue
        operator = parent.child_by_field_name("operator")
        intrinsic = OPERATORS.get(unit.text(operator)) if operator is not None else None
        first = parent.child_by_field_name("left") or parent.child_by_field_name("argument")
        if intrinsic is None or first is None or first.id != node.id or meant(unit, node, [variable]) is None:
            continue
        right = parent.child_by_field_name("right")
        arguments = (variable.target or node, *([right] if right is not None else []))
        yield Operation(
            parent.start_byte, parent, None, unit.text(operator or node), intrinsic, variable.scope, arguments
        )
