"""What is known while the search for atomics goes on: operations seen, functions and macros that carry them."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

import tree_sitter

from d9mlint.kernels.sites import amdgpu, wrappers
from d9mlint.kernels.sites.calls import Call, template_arguments
from d9mlint.kernels.sites.macros import Macro
from d9mlint.kernels.sites.names import (
    BY_TEMPLATE,
    FOREIGN,
    KNOWN,
    PORTABLE,
    QUALIFIED,
    READS,
    SCOPE_WORDS,
    TAGGED,
    TAGS,
    Known,
)
from d9mlint.kernels.sites.wrappers import Definition
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.unit import Function, Unit
from d9mlint.model import Location

if TYPE_CHECKING:
    from d9mlint.kernels.sites.members import Operation

FUNCTOR = "operator()"
_COUNTING = ("atomicAdd", "atomicSub", "atomicInc", "atomicDec")
Key = tuple[str, int]
"""A file and the byte in it where an operation starts."""


class Sighting(NamedTuple):
    """An atomic operation with what is needed to tell, at the end, what is inside of it."""

    location: Location
    name: str
    intrinsic: str
    scope: str
    form: str
    unit: Unit
    node: tree_sitter.Node | None
    function: Function | None
    arguments: tuple[tree_sitter.Node, ...] = ()
    call: Call | None = None
    assembler: str = ""
    owner: Definition | None = None
    """The wrapper whose body this is part of."""
    target: int = 0
    """The parameter of the owner that leads to the target."""
    inside: tuple[Sighting, ...] = ()
    """For a macro use, what its expansion holds."""


@dataclass(slots=True)
class Knowledge:
    """Filled by the search, wave by wave."""

    repository: Repository
    sightings: dict[Key, Sighting] = field(default_factory=dict)
    definitions: dict[str, list[Definition]] = field(default_factory=lambda: defaultdict(list))
    """Wrappers by name."""
    bodies: dict[Definition, dict[tuple[Location, int], Sighting]] = field(default_factory=lambda: defaultdict(dict))
    """What they hold, by place (several have the place of one macro use)."""
    functors: dict[str, list[Definition]] = field(default_factory=lambda: defaultdict(list))
    """Classes whose call operator is a wrapper."""
    functor_calls: dict[Key, list[Definition]] = field(default_factory=lambda: defaultdict(list))
    macros: dict[bytes, list[Macro]] = field(default_factory=lambda: defaultdict(list))
    in_macros: dict[str, list[Sighting]] = field(default_factory=lambda: defaultdict(list))
    """What the bodies of a macro hold, by its name."""
    plain: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))
    """Functions that bear the name of an atomic and are no wrappers: file and qualifier."""
    defined: dict[tuple[str, bytes], bool] = field(default_factory=dict)
    """Whether a file holds a function of a name, as far as it was asked."""
    llvm: dict[str, str] = field(default_factory=dict)
    """Functions that sources declare as an intrinsic of LLVM's."""
    bound: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    """The files that do so."""
    changed: set[bytes] = field(default_factory=set)
    """Names to be looked for in the next wave."""

    def add(self, key: Key, found: Sighting) -> None:
        """Notes an operation, and the wrapper it makes of the function around it."""
        self.sightings[key] = found
        if found.owner is not None:
            self.add_wrapper(found.owner, found)

    def add_wrapper(self, owner: Definition, found: Sighting) -> None:
        """Notes that the body of a function holds an operation on what it is given."""
        self.bodies[owner][found.location, found.node.start_byte if found.node is not None else 0] = found
        if owner in self.definitions[owner.name]:
            return
        self.definitions[owner.name].append(owner)
        if owner.name == FUNCTOR and owner.scope:
            self.functors[owner.scope].append(owner)
            self.changed.add(owner.scope.encode())
        elif owner.name.isidentifier() and (owner.scope or owner.name.encode() not in KNOWN):
            self.changed.add(owner.name.encode())


def owner_of(
    unit: Unit, function: Function | None, target: tree_sitter.Node, by_value: bool = False, intrinsic: str = ""
) -> tuple[Definition | None, int]:
    """The function around an operation as a wrapper, and the parameter that makes it one; ``unit`` holds it."""
    counts = intrinsic in _COUNTING
    index = wrappers.target_parameter(function, target, by_value, counts) if function is not None else None
    return (
        (wrappers.definition(unit, function, index), index) if function is not None and index is not None else (None, 0)
    )


def of_call(known: Knowledge, call: Call, unit: Unit, path: str) -> Sighting | None:
    """The atomic that a call is; None for other calls. ``unit`` holds the function around it."""
    intrinsic = amdgpu.intrinsic(call.name, known.llvm) if call.receiver is None else ""
    if intrinsic:
        return _of_llvm(intrinsic, call, unit)
    name = _named(call) if call.receiver is None else None  # a method may bear the name of an atomic
    places = {0}
    arguments = call.arguments
    if not arguments:
        return None
    if name is not None:
        if any(s in FOREIGN for s in call.scopes) and not PORTABLE.intersection(call.scopes):
            return None
        intrinsic, scope, form = name.intrinsic, scope_word(call, name.scope), "wrapper" if name.wrapper else "direct"
    else:
        meant = wrappers.meant(call, path, known.definitions, known.repository)
        if not meant:
            return None
        intrinsic, scope, form = "", "device", "wrapper"
        places = {one.target for definition in meant for one in known.bodies[definition].values()}
    if wrappers.OBJECT in places:
        arguments = (call.receiver, *arguments) if call.receiver is not None else arguments
        places = {0}
    # The target of a wrapper need not come first.
    given = [arguments[at] for at in sorted(places) if at < len(arguments)] or list(arguments)
    taken = (a for a in given if name is not None or len(given) == 1 or _is_address(a))
    owners = (owner_of(unit, call.function, a, intrinsic=intrinsic) for a in taken)
    owner, target = next((o for o in owners if o[0] is not None), (None, 0))
    form = "wrapper-def" if owner is not None else form
    return Sighting(
        call.unit.location(call.node), call.name, intrinsic, scope, form, call.unit, call.node, call.function,
        arguments, call, owner=owner, target=target,
    )  # fmt: skip


def _of_llvm(text: str, call: Call, unit: Unit) -> Sighting | None:
    """The call of an intrinsic of LLVM's; what leads to the buffer of one may be handed in by value."""
    given = amdgpu.target_first(text, call.arguments)
    if not given:
        return None
    owner, target = owner_of(unit, call.function, given[0], by_value=".buffer." in text)
    form = "wrapper-def" if owner is not None else "direct"
    return Sighting(
        call.unit.location(call.node), call.name, amdgpu.of_cuda(text), "device", form, call.unit, call.node,
        call.function, given, call, text, owner, target,
    )  # fmt: skip


def of_functor(call: Call, unit: Unit) -> Sighting:
    """The call of an object that changes its first argument atomically; ``unit`` holds the function around it."""
    owner, target = owner_of(unit, call.function, call.arguments[0])
    form = "wrapper-def" if owner is not None else "wrapper"
    return Sighting(
        unit.location(call.node), call.name, "", "device", form, unit, call.node, call.function, call.arguments,
        call, owner=owner, target=target,
    )  # fmt: skip


def of_object(one: Operation, unit: Unit) -> Sighting:
    """The atomic that an operation on an atomic object is; ``unit`` holds the function around it."""
    function = unit.function(one.node) if one.call is None else one.call.function
    owner, target = (
        owner_of(unit, function, one.arguments[0], intrinsic=one.intrinsic) if one.intrinsic != READS else (None, 0)
    )
    form = "wrapper-def" if owner is not None else "direct"
    holder = one.call.unit if one.call is not None else unit
    return Sighting(
        holder.location(one.node), one.name, one.intrinsic, one.scope, form, holder, one.node, function,
        one.arguments, None, owner=owner, target=target,
    )  # fmt: skip


def _named(call: Call) -> Known | None:
    """The atomic that a name means by itself, or by the namespace before it (``Kokkos::atomic_add``)."""
    word = call.name.encode()
    known = QUALIFIED.get(word) if PORTABLE.intersection(call.scopes) or call.name in TAGGED else KNOWN.get(word)
    if known is None or known.intrinsic != BY_TEMPLATE:
        return known
    tags = (given.rpartition("::")[2].strip() for given in template_arguments(call))
    return next((known._replace(intrinsic=TAGS[tag]) for tag in tags if tag in TAGS), None)


def _is_address(node: tree_sitter.Node) -> bool:
    return node.type in ("identifier", "pointer_expression", "binary_expression", "cast_expression", "call_expression")


def scope_word(call: Call, default: str) -> str:
    """The scope that an argument names (``__HIP_MEMORY_SCOPE_AGENT``), else the default."""
    words = (SCOPE_WORDS.get(call.unit.text(n).rsplit("::", 1)[-1].strip()) for n in call.arguments[2:])
    return next((w for w in words if w is not None), default)


def of_assembler(unit: Unit, start: int, word: bytes, loose: bool = False) -> list[Sighting]:
    """The atomic instructions of the inline assembler whose keyword stands here; ``loose`` for the body of a macro."""
    from d9mlint.kernels.sites import ptx  # few repositories hold assembler

    node = ptx.statement(unit, start, word)
    if node is None:
        return []
    found: list[Sighting] = []
    function = unit.function(node)
    for one in ptx.instructions(ptx.template(unit, node), loose):
        passed = ptx.operands(node, one.text)
        owner, target = owner_of(unit, function, passed[0]) if passed else (None, 0)
        sighting = Sighting(
            unit.location(node), one.name, one.intrinsic, one.scope, "ptx", unit, None, function, passed,
            assembler=one.text, owner=owner, target=target,
        )  # fmt: skip
        found.append(sighting)
    return found
