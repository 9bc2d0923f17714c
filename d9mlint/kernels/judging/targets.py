"""What an atomic works on: its type with all instantiations, and where it lives."""

from __future__ import annotations

import re
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.judging import declarations, memory
from d9mlint.kernels.judging.known.scalars import element, kind, named_float, named_index, plain, short, underlying
from d9mlint.kernels.judging.known.spelled import Type
from d9mlint.kernels.judging.operands import brought
from d9mlint.kernels.judging.operations import Operation, operation
from d9mlint.kernels.judging.swapping import casloops
from d9mlint.kernels.judging.types.branches import narrowed
from d9mlint.kernels.judging.types.expressions import type_of
from d9mlint.kernels.judging.types.instantiations import Bindings, bound
from d9mlint.kernels.sites.atomics import Atomic
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.unit import Unit

Node = tree_sitter.Node
_MAX_INNER = 60
_MAX_MADE = 8
_BYTES = frozenset(("void", "char", "signed char", "unsigned char", "int8_t", "uint8_t", "byte"))


class Target(NamedTuple):
    """The target of an atomic.

    ``written``: its type as reports show it (``T = float | int``); ``types``: those it may have; ``name``: the
    variable it is reached through; ``memory``: ``global``, ``shared`` or ``unknown``; ``open``: a use of the template
    could not be resolved, so that there may be more types.
    """

    written: str = ""
    types: tuple[str, ...] = ()
    name: str = ""
    memory: str = "unknown"
    open: bool = False

    def of(self, wanted: str) -> tuple[str, ...]:
        """The types of a kind (``float`` or ``integer``)."""
        return tuple(t for t in self.types if (kind(t) or ("float" if named_float(t) else "")) == wanted)


def target(atomic: Atomic, found: Operation, repository: Repository) -> Target:
    """The target of an atomic; its type is empty where it cannot be told."""
    if found.instruction is not None:
        typed = found.instruction.type
        types: tuple[str, ...] = ("float",) if found.instruction.float else ("int",) if typed else ()
        if typed == "tensor":
            typed, types = "elements of the tensor", ("float", "int")
        space, label = found.instruction.memory, ""
        if atomic.arguments:
            named = memory.base(atomic.arguments[0], atomic.unit)
            label = atomic.unit.text(named) if named is not None else ""
            space = space if space != "unknown" else memory.memory(atomic.arguments[0], atomic.unit)
        return Target(typed, types, label, space)
    address = atomic.arguments[0] if atomic.arguments else None
    if address is None:  # of an atomic that an enumerator chooses, the bodies say on what they work
        return _inside(atomic, repository) if atomic.inner else Target()
    host = place(atomic, repository)
    name = memory.base(address, atomic.unit)
    text = atomic.unit.text(name) if name is not None else " ".join(atomic.unit.text(address).split())[:40]
    space = memory.memory(address, atomic.unit)
    if space == "unknown" and host is not None and name is not None:
        seen = declarations.declared(host[1], text, host[0])
        space = memory.memory(_identifier(seen), host[0]) if seen is not None else space
    if atomic.inner and _by_resource(atomic, repository):
        return _inside(atomic, repository)._replace(name=text)
    written, types, more = _typed(atomic, found, repository, host)
    within = _inside(atomic, repository) if atomic.of_object else None
    if within is not None and within.types and not within.open:  # whatever the object is a template of
        return Target(within.written, within.types, text, within.memory)
    if atomic.inner and {kind(t) for t in types} != {"integer"} and (more or not types or "=" in written):
        inner = _inside(atomic, repository)
        if inner.types and not inner.open and {kind(t) for t in inner.types} == {"float"}:
            # Whichever overload is meant: all of them are of floats.
            types = tuple(t for t in types if kind(t) == "float")
            return Target(written, types or inner.types, text, space)
    if not types and atomic.inner:
        space = space if space != "unknown" else inner.memory
        if declarations.template_parameter(address, written, atomic.unit) is not None:
            # It is handed the target itself, of a type that is not known: the bodies show those of all callers.
            return Target(written, (), text, space, more)
        if inner.open and not written and len({(i.location.path, _start(i)) for i in atomic.inner}) > 1:
            return Target("", (), text, space, True)  # one of several overloads, of which some are of any type
        given = _pointers(atomic, inner, repository) if written else []
        if given:
            spaces = {memory.memory(one, atomic.unit) for one in given}
            space = spaces.pop() if len(spaces) == 1 else "unknown"
            text = atomic.unit.text(given[0])
        # What all bodies say is so whatever the type of the address is.
        return Target(inner.written, inner.types, text, space, inner.open or (more and not inner.types))
    return Target(written, types, text, space, more)


def _by_resource(atomic: Atomic, repository: Repository) -> bool:
    """Whether a wrapper is handed the resource of a buffer by value: the type of that is none of the elements'."""
    at = atomic
    while at.inner:
        at = at.inner[0]
    if ".buffer." not in at.assembler:
        return False
    handed = type_of(atomic.arguments[0], atomic.unit, repository)
    return handed is not None and not handed.depth


def _start(atomic: Atomic) -> int:
    """Where the function around an atomic begins."""
    return atomic.function.node.start_byte if atomic.function is not None else -1


def _pointers(atomic: Atomic, inner: Target, repository: Repository) -> list[Node]:
    """The arguments that point to what the bodies of a wrapper work on, where the first one is a struct of values."""
    first = type_of(atomic.arguments[0], atomic.unit, repository)
    if first is None or first.depth:
        return []
    found = []
    for argument in atomic.arguments[1:]:
        typed = type_of(argument, atomic.unit, repository) if argument.type == "identifier" else None
        if typed is not None and typed.depth == 1 and underlying(typed.name) in inner.types:
            found.append(argument)
    return found


def _inside(atomic: Atomic, repository: Repository) -> Target:
    """The target in the bodies of a wrapper that is handed something else, such as a struct with the pointers."""
    written: dict[str, None] = {}
    types: dict[str, None] = {}
    spaces: set[str] = set()
    pending = list(atomic.inner)
    more = False
    for _ in range(_MAX_INNER):
        if not pending:
            break
        at = pending.pop(0)
        integers = brought(at, repository) if at.inner else ()
        if integers and {kind(t) for t in integers} == {"integer"}:  # what is added says of which type the cell is
            types.update(dict.fromkeys(integers))
            continue
        if at.inner:
            pending.extend(at.inner)
            continue
        found = target(at, operation(at, repository), repository)
        if not found.types and not found.written:
            found = found._replace(types=brought(at, repository))
        # Template parameters mean other types in another call: what is fixed counts, or floats in all calls.
        floats = not found.open and {kind(t) for t in found.types} == {"float"}
        if found.types and ("=" not in found.written or floats):
            written |= {found.written: None} if found.written else {}
            types.update(dict.fromkeys(found.types))
        else:
            more = True
        spaces.add(found.memory)
    space = spaces.pop() if len(spaces) == 1 else "unknown"
    whole = Target(" | ".join(written), tuple(types), memory=space, open=more or bool(pending))
    return (_all_handed(atomic, repository) if whole.open else None) or whole


def _all_handed(atomic: Atomic, repository: Repository) -> Target | None:
    """What the bodies of a wrapper hand on or work on, where the types of all are fixed; else None."""
    found: list[Target] = []
    pending = list(atomic.inner)
    for _ in range(_MAX_INNER):
        if not pending:
            break
        at = pending.pop(0)
        one = _handed(at, repository) if at.inner else target(at, operation(at, repository), repository)
        if one is not None and one.types and not one.open and "=" not in one.written:
            found.append(one)
        elif at.inner:
            pending.extend(at.inner)
        else:
            return None
    types = tuple(dict.fromkeys(t for one in found for t in one.types))
    spaces = {one.memory for one in found}
    space = spaces.pop() if len(spaces) == 1 else "unknown"
    written = " | ".join(dict.fromkeys(one.written for one in found))
    return Target(written, types, memory=space) if found and not pending else None


def _handed(atomic: Atomic, repository: Repository) -> Target | None:
    """What a call in the body of a wrapper hands on, where its type is fixed: ``add(s.sums, x)`` of ``float* sums``.

    Bytes may be of any type behind the call.
    """
    if atomic.targets or atomic.of_object or not atomic.arguments:
        return None
    written, types, more = _typed(atomic, operation(atomic, repository), repository, place(atomic, repository))
    fixed = types and not more and "=" not in written and not {short(t) for t in types} & _BYTES
    return Target(written, types, memory=memory.memory(atomic.arguments[0], atomic.unit)) if fixed else None


def _identifier(found: declarations.Declared) -> Node | None:
    at: Node | None = found.node
    for _ in range(8):
        if at is None or at.type == "identifier":
            return at
        at = at.child_by_field_name("declarator") or next(iter(at.named_children), None)
    return None


def place(atomic: Atomic, repository: Repository) -> tuple[Unit, Node] | None:
    """Where the expansion of a macro stands in its file; None for code that stands there itself."""
    if atomic.form != "macro-use":
        return None
    host = repository.unit(atomic.location.path)
    if host is None or host is atomic.unit:
        return None
    point = (atomic.location.line - 1, max(0, atomic.location.column - 1))
    node = host.root.descendant_for_point_range(point, point)
    return (host, node) if node is not None else None


def _typed(
    atomic: Atomic, operated: Operation, repository: Repository, host: tuple[Unit, Node] | None
) -> tuple[str, tuple[str, ...], bool]:
    """The type as written, the types it stands for, and whether there may be more."""
    address, unit = atomic.arguments[0], atomic.unit
    if operated.cas is not None and operated.cas.implements:
        found = casloops.origin(address, unit, repository)
        if operated.cas.floats and (found is None or kind(found.name) == "integer"):
            # The address came as an integer already, but what is stored there are the bits of a float.
            return (found.name if found is not None else ""), ("float",), False
    else:
        found = type_of(_receiver(atomic), unit, repository) if atomic.node is not None else None
        if found is None or not re.search(r"(?:\b|_)atomic(?:_ref)?<", found.name):
            found = type_of(address, unit, repository, host)
    pointee = _pointee(found)
    if pointee is None:
        return "", (), False
    if kind(pointee):
        return plain(pointee), (underlying(pointee),), False
    if pointee.endswith(">") and kind(element(pointee)):
        return plain(pointee), (element(pointee),), False  # of a vector, the elements are added to
    where = (host[1], host[0]) if host is not None else (address, unit)
    seen = narrowed(bound(pointee, *where, repository), short(pointee), *where)
    if not seen.types and named_float(pointee):
        return plain(pointee), (short(pointee),), False
    whole = tuple(t for t in seen.types if kind(t) == "integer") if named_index(pointee) else ()
    if whole or (named_index(pointee) and not seen.types):  # what else a call seems to hand in is misread
        return _listed(pointee, Bindings(whole)), whole or ("int",), False
    return _listed(pointee, seen), seen.types, seen.open


def _receiver(atomic: Atomic) -> Node | None:
    """The object of ``ref.fetch_add(x)``, ``ref += x``: the type of ``atomic_ref<T>`` says more than its argument."""
    if atomic.node is not None and atomic.node.type in ("assignment_expression", "update_expression"):
        return atomic.node.child_by_field_name("left") or atomic.node.child_by_field_name("argument")
    called = atomic.node.child_by_field_name("function") if atomic.node is not None else None
    return called.child_by_field_name("argument") if called is not None and called.type == "field_expression" else None


def _pointee(found: Type | None) -> str | None:
    """What a pointer, array or ``atomic_ref`` refers to; only one level of pointer is a target."""
    if found is None:
        return None
    if found.depth == 0:
        inner = found.pointee()
        if inner is not None:
            return inner.name
        return found.name or None
    return found.name or None


def _listed(name: str, seen: Bindings) -> str:
    name = short(name)
    if not seen.types:
        return name
    return f"{name} = {' | '.join(short(t) if '<' not in t else t for t in seen.types)}"


def of_parameter(atomic: Atomic) -> bool:
    """Whether the target is handed in by a parameter of the function."""
    name = memory.base(atomic.arguments[0], atomic.unit)
    found = declarations.declared(name, atomic.unit.text(name), atomic.unit) if name is not None else None
    return found is not None and found.kind == "parameter"


def handed_in(name: str, host: tuple[Unit, Node] | None) -> bool:
    """Whether a name means a parameter of a function that is no kernel where an expansion stands, or is made of one."""
    if host is None or not name.isidentifier():
        return False
    unit, node = host
    found = declarations.declared(node, name, unit)
    for _ in range(_MAX_MADE):
        made = memory.base(found.value, unit) if found is not None and found.value is not None else None
        if found is None or found.kind == "parameter" or made is None:
            break
        found = declarations.declared(made, unit.text(made), unit)
    function = unit.function(found.node) if found is not None and found.kind == "parameter" else None
    return function is not None and "__global__" not in function.qualifier


def defines(atomic: Atomic, repository: Repository) -> bool:
    """Whether the expansion of a macro stands outside of the bodies of functions."""
    host = place(atomic, repository)
    if host is None:
        return False
    unit, node = host
    function = unit.function(node)
    body = function.node.child_by_field_name("body") if function is not None else None
    return body is None or not body.start_byte <= node.start_byte < body.end_byte
