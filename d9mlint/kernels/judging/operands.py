"""The value that an atomic brings: its type, and whether all threads bring the same."""

from __future__ import annotations

import re

import tree_sitter

from d9mlint.kernels.judging import aliases, declarations, memory
from d9mlint.kernels.judging.constants import MAX_CALLS, Constant, atomic_calls, constant, only_reads
from d9mlint.kernels.judging.known.scalars import kind, named_float, plain, short, words
from d9mlint.kernels.judging.swapping import casloops
from d9mlint.kernels.judging.types.expressions import type_of
from d9mlint.kernels.sites.atomics import Atomic
from d9mlint.kernels.sites.names import INTRINSICS, KNOWN, MEMBERS, QUALIFIED
from d9mlint.kernels.source.repository import Repository

Node = tree_sitter.Node
_FLOAT_NAMES = re.compile(r"_f(?:add|min|max)(?:_|\Z)")
"""As in ``__builtin_amdgcn_global_atomic_fadd_f32``."""
_COUNTS = words("size_t uint64_t") | {"unsigned long long", "unsigned long long int"}
_SCALAR = re.compile(r"(?:\A|_)[Ss]calar(?:[_A-Z]|\Z)|[a-z]Scalar(?:[_A-Z]|\Z)|(?:\A|_)[Cc]oefficient(?:_t(?:ype)?)?\Z")
"""What numeric libraries call the values of matrices, apart from ordinals and sizes (Kokkos Kernels, Eigen)."""
_CAST = re.compile(r"(?:static_cast\s*<\s*)?((?:\w+::)*\w+)\s*(?:>\s*)?[({]")
_ADDRESSES = ("identifier", "pointer_expression", "binary_expression", "field_expression", "cast_expression")
_MAX_LEVELS = 6
_MAX_INNER = 40


def brought(atomic: Atomic, repository: Repository) -> tuple[str, ...]:
    """The types that the call says where that of the target is not visible; none where it says nothing certain.

    A float that is brought, ``fadd`` in a builtin's name, the parameters of a lambda that a CAS helper applies; also
    a variable of 64 bits, declared as such, that a ``cuda::atomic`` gets: a count that no ``float`` would hold.
    """
    if _FLOAT_NAMES.search(atomic.name):
        return ("float",)
    value = _operand(atomic)
    if value is not None and value.type != "number_literal":
        found = type_of(value, atomic.unit, repository)
        if found is not None and not found.depth and (kind(found.name) == "float" or named_float(found.name)):
            return ("float",)
        if _filled_with_floats(value, atomic):
            return ("float",)
        if _counts(value, atomic):
            return ("size_t",)
        if found is not None and not found.depth and kind(found.name) == "integer" and _made_to_fit(value, atomic):
            return (plain(found.name),)
    return next((t for a in atomic.arguments if a.type == "lambda_expression" and (t := _applied(a, atomic))), ())


def scalar(atomic: Atomic) -> str:
    """The name of scalars that the type of the value bears; empty for other names.

    ``scalar_C sum``, ``Scalar(x)``, ``static_cast<scalar_t>(x)``; a cast of an integer says nothing.
    """
    value, unit = _operand(atomic), atomic.unit
    typed = ""
    if value is not None and value.type == "identifier":
        found = declarations.declared(value, unit.text(value), unit)
        typed = found.type if found is not None and not found.depth else ""
    elif value is not None and value.type == "call_expression":
        cast, listed = _CAST.match(unit.text(value)), value.child_by_field_name("arguments")
        given = listed.named_children[0] if listed is not None and listed.named_children else None
        typed = cast[1] if cast is not None and given is not None and not _whole(given, atomic) else ""
    return short(typed) if _SCALAR.search(short(typed)) else ""


def _whole(value: Node, atomic: Atomic) -> bool:
    """Whether a value is a number as written, or a variable that is declared as an integer."""
    found = declarations.declared(value, atomic.unit.text(value), atomic.unit) if value.type == "identifier" else None
    return value.type == "number_literal" or (found is not None and kind(found.type) == "integer")


def _made_to_fit(value: Node, atomic: Atomic) -> bool:
    """Whether a value is written as of a type for a template that takes one of the target's: ``add(&x, size_type{1})``.

    ``template <class T> T add(T* address, T value)`` deduces one type from both.
    """
    written = value.type in ("call_expression", "compound_literal_expression", "cast_expression")
    return written and any(_of_one_type(inner) for inner in atomic.inner)


def _of_one_type(inner: Atomic) -> bool:
    """Whether target and value of the function around an atomic have the same parameter of a template as type."""
    places = _places(inner)
    if inner.function is None or min(places) < 0:
        return False
    listed = declarations.parameters(inner.function.node)
    typed = [one.child_by_field_name("type") for one in (listed[places[0]], listed[places[1]])]
    names = {plain(inner.unit.text(one)) for one in typed if one is not None}
    name = names.pop() if len(names) == 1 else ""
    return bool(name) and declarations.template_parameter(listed[places[0]], name, inner.unit) is not None


def _counts(value: Node, atomic: Atomic) -> bool:
    """Whether a variable that is declared as a count is added to an atomic object of the template's own type."""
    called = atomic.node.child_by_field_name("function") if atomic.node is not None else None
    receiver = called.child_by_field_name("argument") if called is not None else None
    if value.type != "identifier" or atomic.name not in MEMBERS or receiver != atomic.arguments[0]:
        return False
    found = declarations.declared(value, atomic.unit.text(value), atomic.unit)
    base = memory.base(receiver, atomic.unit)
    cell = declarations.declared(base, atomic.unit.text(base), atomic.unit) if base is not None else None
    if found is None or cell is None or base is None or found.depth or short(found.type) not in _COUNTS:
        return False
    return declarations.template_parameter(base, plain(cell.type), atomic.unit) is not None


def _filled_with_floats(value: Node, atomic: Atomic) -> bool:
    """Whether the array from which a value comes is set to ``0.0`` in the function, and has no type of a template."""
    base = memory.base(value, atomic.unit) if value.type == "subscript_expression" else None
    if base is None or atomic.function is None:
        return False
    found = declarations.declared(base, atomic.unit.text(base), atomic.unit)
    if found is not None and declarations.template_parameter(base, plain(found.type), atomic.unit) is not None:
        return False
    set_to = re.compile(rb"\b" + re.escape(base.text or b"?") + rb"\s*\[[^\];]*\]\s*=\s*-?\d+\.\d*f?\s*;")
    return set_to.search(atomic.unit.data, atomic.function.node.start_byte, atomic.function.node.end_byte) is not None


def _applied(node: Node, atomic: Atomic) -> tuple[str, ...]:
    """The types of the parameters of a lambda: floats if one is; integers only if all are and stay so."""
    unit = atomic.unit
    types = [plain(unit.text(t)) for p in declarations.parameters(node) if (t := p.child_by_field_name("type"))]
    kinds = [kind(t) for t in types]
    if "float" in kinds:
        return tuple(dict.fromkeys(t for t in types if kind(t) == "float"))
    exact = bool(kinds) and all(kinds) and not casloops.through_floats(unit.text(node))
    return tuple(dict.fromkeys(types)) if exact else ()


def _operand(atomic: Atomic) -> Node | None:
    """What is brought; behind it only functions of the compiler and of libraries take more: a scope, an order."""
    more = len(atomic.arguments) > 2 and not atomic.inner and atomic.intrinsic != "atomicCAS"
    plain_ = more and (atomic.name in INTRINSICS or atomic.name in MEMBERS or atomic.name.encode() in QUALIFIED)
    if len(atomic.arguments) == 2 or plain_:
        return atomic.arguments[1]
    return _among_others(atomic) if atomic.inner else None


def _among_others(atomic: Atomic) -> Node | None:
    """The value among more arguments of a wrapper: ``add(worker, &sum, value, scope)``; all bodies have to agree."""
    places = {_places(inner) for inner in atomic.inner}
    target, value = places.pop() if len(places) == 1 else (-1, -1)
    if min(target, value) < 0 or target == value:
        return None
    at = value + 1 if value < target else value  # the target has been put in front of the others
    return atomic.arguments[at] if at < len(atomic.arguments) else None


def _places(inner: Atomic) -> tuple[int, int]:
    """Which parameters of the function around an atomic are its target and its value; -1 for what is none."""
    value = _operand(inner) if not inner.inner else None
    base = memory.base(inner.arguments[0], inner.unit) if inner.arguments else None
    if value is None or base is None or inner.function is None or value.type != "identifier":
        return -1, -1
    function, unit = inner.function.node, inner.unit
    target = declarations.parameter_place(function, unit.text(base), unit)
    return target, declarations.parameter_place(function, unit.text(value), unit)


def handed_on(atomic: Atomic, place: int, level: int = 0) -> bool:
    """Whether a wrapper gives its argument (0: target, 1: value) to the atomics in its body as it is.

    A body may add to the cells beside the target, or the value times something of the thread.
    """
    if atomic.of_object:
        return False
    if atomic.name.encode() in KNOWN or (atomic.name.encode() in QUALIFIED and not atomic.inner) or level > _MAX_LEVELS:
        return level <= _MAX_LEVELS
    for inner in atomic.inner:
        given = inner.arguments[place] if place < len(inner.arguments) else None
        if given is None or given.type != "identifier" or not handed_on(inner, place, level + 1):
            return False
    return True


def lone_constant(atomic: Atomic) -> Constant | None:
    """The constant that an atomic brings, if no other atomic of the function brings another value to that base."""
    if atomic.inner and not handed_on(atomic, 1):
        return _of_bodies(atomic)
    if atomic.assembler:
        from d9mlint.kernels.judging.opcodes import literals  # few repositories hold assembler

        written = literals(atomic.assembler)
        if len(written) == 1:
            return Constant(written[0])
    value = _operand(atomic)
    found = constant(value, atomic.unit) if value is not None and handed_on(atomic, 1) else None
    if found is None or found.nan or atomic.function is None:
        return found
    base = memory.base(atomic.arguments[0], atomic.unit)
    if base is None:
        return None
    name = aliases.origin(base, atomic.unit)
    calls = atomic_calls(atomic.function.node, atomic.unit.data)
    handed = aliases.escapes(atomic.unit.text(base), atomic.arguments[0], atomic.unit, atomic.function)
    if len(calls) > MAX_CALLS or handed or any(_takes(given, name, atomic) for given in calls):
        return None
    for address, other in (given[:2] for given in calls if len(given) >= 2):
        root = memory.base(address, atomic.unit)
        same = root is None or aliases.origin(root, atomic.unit) == name
        same = same and not _apart(_element(atomic.arguments[0], atomic), _element(address, atomic))
        same = same and not aliases.other_member(atomic.arguments[0], address, atomic.unit)
        called = _called(address, atomic)
        same = same and not only_reads(called, [atomic.unit.text(other)])
        if same and (constant(other, atomic.unit) != found or called not in ("", atomic.name)):
            return None
    return found


def _takes(given: tuple[Node, ...], pointer: str, atomic: Atomic) -> bool:
    """Whether another call named like an atomic gets a pointer behind its first argument: ``atomic_mean(x, sum, n)``.

    It may add something else to the same cells.
    """
    called = given[0].parent.parent if given[0].parent is not None else None
    own = called is not None and atomic.node is not None and called.start_byte == atomic.node.start_byte
    roots = [memory.base(one, atomic.unit) for one in given[1:] if one.type in _ADDRESSES] if not own else []
    return any(root is not None and aliases.origin(root, atomic.unit) == pointer for root in roots)


def _element(address: Node, atomic: Atomic) -> tuple[str, str]:
    """The array and the constant index of ``&sums[i][0]``; nothing for an address of another form."""
    inner = address.child_by_field_name("argument") if address.type == "pointer_expression" else None
    if inner is None or inner.type != "subscript_expression" or address.children[0].type != "&":
        return "", ""
    array, index = inner.child_by_field_name("argument"), inner.child_by_field_name("indices")
    text = atomic.unit.text(index).strip("[] \t") if index is not None else ""
    return ("".join(atomic.unit.text(array).split()), text) if array is not None and text.isdigit() else ("", "")


def _apart(mine: tuple[str, str], other: tuple[str, str]) -> bool:
    """Whether two elements of one array are certainly not the same."""
    return bool(mine[0]) and mine[0] == other[0] and mine[1] != other[1]


def _of_bodies(atomic: Atomic) -> Constant | None:
    """The constant that all bodies of a wrapper bring, whatever they are handed."""
    found: set[Constant | None] = set()
    pending = list(atomic.inner)
    for _ in range(_MAX_INNER):
        if not pending or len(found) > 1:
            break
        inner = pending.pop()
        pending.extend(inner.inner)
        if not inner.inner:
            found.add(lone_constant(inner))
    alone = found.pop() if len(found) == 1 and not pending else None
    return alone if alone is not None and not alone.uniform and not alone.nan else None


def _called(address: Node, atomic: Atomic) -> str:
    """The name of the function that is given an address: adding and subtracting the same do not commute exactly."""
    listed = address.parent
    if listed is not None and listed.type == "field_expression":
        named = listed.child_by_field_name("field")
        return atomic.unit.text(named) if named is not None else ""
    called = listed.parent.child_by_field_name("function") if listed is not None and listed.parent is not None else None
    return atomic.unit.text(called).partition("<")[0].rpartition("::")[2] if called is not None else ""
