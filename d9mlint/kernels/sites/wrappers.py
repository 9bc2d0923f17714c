"""Functions that pass an atomic on: which function a call makes a wrapper, and which wrappers a call may mean."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.sites.calls import Call
from d9mlint.kernels.sites.names import FOREIGN
from d9mlint.kernels.sites.presence import NEEDLE
from d9mlint.kernels.source import plain
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.unit import Function, Unit, classes, namespaces
from d9mlint.model import Location

_NO_LIMIT = 1_000
_MAX_NODES = 20_000
_MAX_OUTER = 20
_MAX_TEXT = 20_000
_POINTERS = ("pointer_declarator", "reference_declarator", "array_declarator", "abstract_pointer_declarator")
_POINTS = re.compile(rb"[*&]|atomic_ref\b")
_TYPE_PARAMETER = re.compile(rb"\b(?:typename|class)\s+(\w+)")
_NAMESPACE = re.compile(rb"\bnamespace[ \t]+((?:\w+::)*\w+)")
_SYNCHRONISES = re.compile(r"[Bb]arrier|[Ss]emaphore|[Mm]utex")
"""In the name of a class by whose methods threads wait for each other."""
_CUDA = ("min", "max")
"""Functions that CUDA has in the global namespace: without a namespace before it, such a name means these."""
_FIRST_CHILD = {
    "subscript_expression": "argument", "field_expression": "argument", "cast_expression": "value",
    "binary_expression": "left", "assignment_expression": "left", "compound_literal_expression": "value",
}  # fmt: skip


class Definition(NamedTuple):
    """A function whose body applies an atomic to what one of its parameters points to."""

    name: str
    scope: str
    low: int
    high: int
    """How many arguments it takes."""
    location: Location
    holds: bool = False
    """Whether what it changes is only held by members of a constant object that it is given."""
    namespaces: tuple[str, ...] = ()
    refers: bool = False
    """Whether what it changes is an ``atomic_ref`` that it is given by value."""

    def takes(self, count: int) -> bool:
        """Whether a call with so many arguments can mean it."""
        return self.low <= count <= self.high


OBJECT = -1
"""In place of a parameter: the target is reached through the object whose method it is."""


def definition(unit: Unit, function: Function, target: int) -> Definition:
    """The function as a wrapper by one of its parameters (or ``OBJECT``); ``unit`` is the one that holds it."""
    low, high = arity(function.node)
    place = unit.span(*[function.node.start_byte] * 2)
    holds = target != OBJECT and _constant_reference(_parameters(function.node)[target])
    refers = target != OBJECT and b"atomic_ref" in (_parameters(function.node)[target].text or b"")
    return Definition(function.name, function.scope, low, high, place, holds, namespaces(function.node), refers)


def _constant_reference(parameter: tree_sitter.Node) -> bool:
    written = (parameter.text or b"").split(b"=", 1)[0]
    return b"&" in written and b"*" not in written and re.search(rb"\bconst\b", written) is not None


def target_parameter(
    function: Function, target: tree_sitter.Node, by_value: bool = False, counts: bool = False
) -> int | None:
    """Which pointer or reference parameter of a function the target of an atomic is reached through; None for none.

    None for kernels, too: nothing calls them with a target of its own. ``by_value``: a value may be what leads to it
    (the resource of a buffer). ``counts``: it counts, as barriers do in a member.
    """
    if "__global__" in function.qualifier or not function.name or _in_host_lambda(function, target):
        return None
    counts = counts and _SYNCHRONISES.search(function.scope) is not None
    own = OBJECT if function.scope and (counts or NEEDLE in function.name.encode().lower()) else None
    origins = _pointers(function.node, by_value)
    view = _viewed(target)
    if view:  # made of what the function is given, or given itself
        return origins.get(view, own)
    if origins:
        _add_aliases(function.node, origins)
    origins |= _iterators(function.node, target, origins)
    return next((origins[name] for name in _bases(target) if name in origins), own)


def _in_host_lambda(function: Function, node: tree_sitter.Node) -> bool:
    """Whether the node is in a lambda of a host function: the body of a kernel, not of the function."""
    at: tree_sitter.Node | None = node
    while at is not None and at.id != function.node.id:
        if at.type == "lambda_expression":
            return "__device__" not in function.qualifier
        at = at.parent
    return False


def declarator_of(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The ``function_declarator`` of a definition."""
    at = node.child_by_field_name("declarator")
    while at is not None and at.type != "function_declarator":
        inner = at.child_by_field_name("declarator")
        at = inner if inner is not None else next(iter(at.named_children), None)
    return at


def defined_by(unit: Unit, node: tree_sitter.Node) -> Function | None:
    """The function whose definition bears this name."""
    function = unit.function(node)
    declarator = declarator_of(function.node) if function is not None else None
    named = declarator.child_by_field_name("declarator") if declarator is not None else None
    return function if named is not None and named.start_byte <= node.start_byte < named.end_byte else None


def _parameters(node: tree_sitter.Node) -> list[tree_sitter.Node]:
    declarator = declarator_of(node)
    listed = declarator.child_by_field_name("parameters") if declarator is not None else None
    return [p for p in listed.named_children if p.type.endswith("parameter_declaration")] if listed is not None else []


def _text(node: tree_sitter.Node) -> str:
    return (node.text or b"").decode("utf-8", "replace")


def arity(node: tree_sitter.Node) -> tuple[int, int]:
    """How many arguments a function takes, at least and at most."""
    parameters = _parameters(node)
    if (
        len(parameters) == 1
        and parameters[0].child_by_field_name("declarator") is None
        and parameters[0].text == b"void"
    ):
        return 0, 0
    if any(p.type == "variadic_parameter_declaration" for p in parameters):
        return len(parameters) - 1, _NO_LIMIT
    optional = sum(p.type == "optional_parameter_declaration" for p in parameters)
    return len(parameters) - optional, len(parameters)


def _pointers(node: tree_sitter.Node, by_value: bool) -> dict[str, int]:
    """The parameters that are pointers, references (``atomic_ref``, too), arrays or packs: names and positions.

    All of them, where a value may lead to the target (``by_value``).
    """
    found: dict[str, int] = {}
    for index, parameter in enumerate(_parameters(node)):
        declarator = parameter.child_by_field_name("declarator")
        if declarator is None:
            continue
        # The star may be parsed as part of something else: ``float* const MY_RESTRICT p``.
        written = (parameter.text or b"").split(b"=", 1)[0]
        if by_value or declarator.type in _POINTERS or parameter.type.startswith("variadic") or _POINTS.search(written):
            found[_declared_name(declarator)] = index
    found.pop("", None)
    return found


def _iterators(node: tree_sitter.Node, target: tree_sitter.Node, pointers: Mapping[str, int]) -> dict[str, int]:
    """The parameters of a template's own type that a target goes through as ``*x`` or ``x[i]``: iterators by value."""
    head = node.parent
    if head is None or head.type != "template_declaration":
        return {}
    listed = head.child_by_field_name("parameters")
    types = set(_TYPE_PARAMETER.findall(listed.text or b"")) if listed is not None else set()
    found: dict[str, int] = {}
    for index, parameter in enumerate(_parameters(node) if types else ()):
        typed, declarator = (parameter.child_by_field_name(field) for field in ("type", "declarator"))
        if typed is None or declarator is None or declarator.type != "identifier" or typed.text not in types:
            continue
        name = declarator.text or b""
        reached = re.compile(rb"\*\s*" + re.escape(name) + rb"\b|\b" + re.escape(name) + rb"\s*\[")
        if _text(declarator) not in pointers and reached.search(target.text or b"") is not None:
            found[_text(declarator)] = index
    return found


def _declared_name(declarator: tree_sitter.Node) -> str:
    at: tree_sitter.Node | None = declarator
    while at is not None and at.type not in ("identifier", "field_identifier"):
        inner = at.child_by_field_name("declarator")
        at = inner if inner is not None else next((c for c in reversed(at.named_children)), None)
    return _text(at) if at is not None else ""


def _add_aliases(function: tree_sitter.Node, origins: dict[str, int]) -> None:
    """Adds locals made of the addresses that came in, as by ``auto words = reinterpret_cast<unsigned*>(p)``."""
    body = function.child_by_field_name("body")
    pending = [body] if body is not None else []
    for _ in range(_MAX_NODES):
        if not pending:
            break
        node = pending.pop()
        if node.type in ("init_declarator", "assignment_expression"):
            made = node.child_by_field_name("declarator" if node.type == "init_declarator" else "left")
            value = node.child_by_field_name("value" if node.type == "init_declarator" else "right")
            own = node.type == "init_declarator" or (made is not None and _declares(function, made))
            if made is not None and value is not None and own and _keeps_address(made, value):
                origin = next((origins[name] for name in _bases(value) if name in origins), None)
                if origin is not None:
                    origins.setdefault(_declared_name(made), origin)
        if node.type.endswith(("statement", "clause", "declaration", "declarator")) or node.type in _WALKED:
            pending.extend(reversed(node.named_children))


def _declares(function: tree_sitter.Node, name: tree_sitter.Node) -> bool:
    """Whether a name that is assigned to is a variable of the function, not a member of its class."""
    declared = re.compile(rb"[\w>][\s*&]+(?:__restrict__\s+)?" + re.escape(name.text or b"") + rb"\b\s*[;=,)\[({]")
    return declared.search((function.text or b"")[:_MAX_TEXT]) is not None


_WALKED = ("assignment_expression", "preproc_if", "preproc_ifdef", "preproc_else", "preproc_elif", "ERROR")


def _keeps_address(made: tree_sitter.Node, value: tree_sitter.Node) -> bool:
    """Whether the new name stands for a place: a value read from memory does not."""
    if made.type in _POINTERS:
        return True
    return made.type == "identifier" and value.type not in ("subscript_expression", "pointer_expression")


def _bases(node: tree_sitter.Node) -> list[str]:
    """The names that an address expression starts from."""
    found: list[str] = []
    pending: list[tree_sitter.Node] = [node]
    for _ in range(200):
        if not pending:
            break
        at = pending.pop()
        if at.type in ("identifier", "this"):
            found.append(_text(at))
        elif at.type in _FIRST_CHILD:
            inner = at.child_by_field_name(_FIRST_CHILD[at.type])
            pending += [inner] if inner is not None else []
        elif at.type == "call_expression":
            pending += _call_bases(at)
        elif at.type == "conditional_expression":
            pending += [n for f in ("alternative", "consequence") if (n := at.child_by_field_name(f)) is not None]
        elif at.type in ("pointer_expression", "comma_expression"):
            pending += at.named_children[-1:]
        elif at.type != "lambda_expression":
            pending += at.named_children[:1]
    return found


def _viewed(target: tree_sitter.Node) -> str:
    """The name of the view in ``&v(i)``: a function that reckons an address gives it without ``&``."""
    at = target.named_children[-1] if target.type == "pointer_expression" and target.named_children else None
    while at is not None and at.type == "parenthesized_expression" and at.named_children:
        at = at.named_children[0]
    named = at.child_by_field_name("function") if at is not None and at.type == "call_expression" else None
    taken = (target.text or b"").startswith(b"&")
    return _text(named) if taken and named is not None and named.type == "identifier" else ""


def _call_bases(call: tree_sitter.Node) -> list[tree_sitter.Node]:
    """``x`` of ``x.data()``; the first argument of a cast or of a function that computes an address."""
    named = call.child_by_field_name("function")
    if named is not None and named.type == "field_expression":
        inner = named.child_by_field_name("argument")
        return [inner] if inner is not None else []
    passed = call.child_by_field_name("arguments")
    return passed.named_children[:1] if passed is not None else []


def meant(call: Call, path: str, table: Mapping[str, Iterable[Definition]], repository: Repository) -> list[Definition]:
    """The wrappers that a call may mean, by name, number of arguments, class and ``#include``; none where in doubt."""
    count = len(call.arguments)
    packed = any(n.type == "parameter_pack_expansion" for n in call.arguments)
    fitting = [d for d in table.get(call.name, ()) if packed or d.takes(count)]
    if not fitting or any(s in FOREIGN for s in call.scopes):
        return []
    distinctive = NEEDLE in call.name.encode().lower()
    chosen = [d for d in fitting if _of_class(call, d, distinctive, repository)]
    seen = [d for d in chosen if visible(repository, path, d.location.path)]
    return _innermost(call, seen) or (chosen if distinctive else [])


def _innermost(call: Call, found: list[Definition]) -> list[Definition]:
    """Of free functions, those in the innermost of the namespaces around an unqualified call: they hide the others.

    ``::f(x)`` means those of no namespace.
    """
    free = [d for d in found if not d.scope]
    if call.scopes or call.function is None or len(free) < 2:
        return found
    if call.unit.data[max(0, call.start - 2) : call.start] == b"::":
        return [d for d in found if not d.namespaces] or found
    here = namespaces(call.function.node)
    depths = [len(d.namespaces) if here[: len(d.namespaces)] == d.namespaces else -1 for d in free]
    nearest = max(depths)
    if nearest < 0:
        return found
    hidden = [d for d, depth in zip(free, depths, strict=True) if 0 <= depth < nearest]
    return [d for d in found if d not in hidden]


def _of_class(call: Call, wrapper: Definition, distinctive: bool, repository: Repository) -> bool:
    """Whether the way the function is named fits its class, or its having none."""
    last = call.scopes[-1] if call.scopes else ""
    if wrapper.scope == wrapper.name and call.receiver is None:  # an object is made: `arch::global_red<T, 4>(x, p)`
        return not last or last in (wrapper.scope, *wrapper.namespaces)
    if not wrapper.scope:
        # A type in front of the name means a member function, unless the name says what it does.
        typed = re.match(r"[A-Z].*[a-z]", last) is not None
        typed = typed and last.encode() not in repository.derived(_opened, wrapper.location.path)
        free = call.receiver is None and (distinctive or not typed)
        return free and (distinctive or _in_namespace(call, wrapper.namespaces))
    if call.receiver is not None:
        return distinctive or _mentions(call, wrapper.scope) or (not wrapper.holds and of_any_type(call))
    if last:
        return last == wrapper.scope or _stands_for_types(call, last)
    return call.function is not None and wrapper.scope in (call.function.scope, *classes(call.function.node))


def _opened(repository: Repository, path: str) -> frozenset[bytes]:
    """The namespaces that a source opens."""
    return frozenset(part for name in _NAMESPACE.findall(repository.data(path)) for part in name.split(b"::"))


def _in_namespace(call: Call, own: tuple[str, ...]) -> bool:
    """Whether a call can mean a function of a namespace: ``math::max`` is none of ``math::atomic``, nor is ``max``."""
    if call.scopes:
        return call.scopes[-1] not in own[:-1] or call.scopes[-1] == own[-1]
    here = namespaces(call.function.node) if call.function is not None and call.name in _CUDA else own
    return here[: len(own)] == own


def _stands_for_types(call: Call, name: str) -> bool:
    """Whether a class is a parameter of a template around the call, or an alias in it: any class may be meant."""
    node = call.function.node if call.function is not None else None
    word = re.escape(name.encode())
    named = re.compile(rb"\b(?:typename|class)\s+" + word + rb"\b|\busing\s+" + word + rb"\s*=")
    for _ in range(_MAX_OUTER):
        if node is None or node.type == "translation_unit":
            return False
        inside = node.type == "template_declaration" or (call.function is not None and node == call.function.node)
        if inside and named.search((node.text or b"")[:_MAX_TEXT]) is not None:
            return True
        node = node.parent
    return False


def _mentions(call: Call, scope: str) -> bool:
    """Whether the function around the call declares its receiver with this class."""
    if call.function is None or call.receiver is None:
        return False
    receiver = re.escape((call.receiver.text or b"").decode("utf-8", "replace"))
    text = (call.function.node.text or b"")[:200_000].decode("utf-8", "replace")
    return re.search(rf"\b{re.escape(scope)}\b[^;(){{}}]{{0,200}}[\s&*>]{receiver}\b", text) is not None


def of_any_type(call: Call) -> bool:
    """Whether the function around the call declares its receiver with a parameter of a template."""
    written = declared_type(call)
    return bool(written) and _stands_for_types(call, written)


def declared_type(call: Call) -> str:
    """The class that the function around the call declares its receiver with; empty where none is named there."""
    named = call.receiver
    while named is not None and named.type == "subscript_expression":
        named = named.child_by_field_name("argument")
    if call.function is None or named is None or named.type != "identifier":
        return ""
    receiver = re.escape(named.text or b"")
    declared = re.compile(
        rb"[(,;{}]\s*(?:const\s+)?(?!(?:auto|return|else)\b)(\w+)(?:\s+const)?[\s&*]+(?:__restrict__\s+)?"
        + receiver
        + rb"\s*[,;)={]"
    )
    match = declared.search((call.function.node.text or b"")[:_MAX_TEXT])
    return match[1].decode("utf-8", "replace") if match is not None else ""


def visible(repository: Repository, user: str, definer: str) -> bool:
    """Whether a file can see what another defines: it includes it, or is included beside it."""
    return user == definer or user in repository.users(definer) or user in plain.seeing(repository, definer)
