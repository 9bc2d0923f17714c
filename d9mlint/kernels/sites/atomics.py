"""Every atomic operation of a repository, before judgement."""

from __future__ import annotations

from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.sites import accounting, wrappers
from d9mlint.kernels.sites.names import DEVICE_WORDS, INTRINSICS, TAGGED
from d9mlint.kernels.sites.search import search
from d9mlint.kernels.sites.sightings import Knowledge, Sighting
from d9mlint.kernels.sites.wrappers import Definition
from d9mlint.kernels.source.repository import KERNEL_SUFFIXES, Repository
from d9mlint.kernels.source.unit import Function, Unit
from d9mlint.model import Location


class Atomic(NamedTuple):
    """An atomic operation as it stands in a source.

    ``unit`` and ``node`` are where it can be read: the file and the call; for a macro the parsed body or expansion; for
    PTX the piece of assembler, where ``node`` is None. ``location`` is always in the file the user sees.
    """

    location: Location
    name: str
    """As written, last part only: ``CudaAtomicAdd``."""
    intrinsic: str
    """What it comes down to (``atomicAdd``); empty where that is not known."""
    scope: str
    form: str
    unit: Unit
    node: tree_sitter.Node | None
    function: Function | None
    arguments: tuple[tree_sitter.Node, ...] = ()
    """The arguments, the target first (in ``unit``)."""
    inner: tuple[Atomic, ...] = ()
    """For a wrapper, the atomics in the bodies that bear its name; for a macro use, those of its expansion."""
    assembler: str = ""
    """The PTX instruction."""
    passed_on: bool = False
    """Whether the target comes from a parameter of a device function, so that what it is depends on the callers."""
    targets: tuple[int, ...] = ()
    """For each of ``inner``, which argument of the wrapper leads to its target; empty where it is one for all."""
    called: bool = False
    """Whether that function is called at another site."""
    of_object: bool = False
    """Whether it is a method that works on what its object leads to; the object is the first argument."""


def find(repository: Repository) -> list[Atomic]:
    """All atomics, by place. Files that cannot be read or parsed are named in ``repository.unchecked``."""
    known = search(repository)
    for path, reason in accounting.unread(known).items():
        repository.unchecked.setdefault(path, reason)
    build = _Build(known)
    kept = [s for _, s in sorted(known.sightings.items(), key=lambda item: item[0]) if not _host(known, s)]
    found = [build.atomic(s) for s in kept]
    called = {inner.location for one in found for inner in one.inner}
    marked = (a._replace(called=True) if a.passed_on and a.location in called else a for a in found)
    return sorted(marked, key=lambda a: (a.location, a.name))


def _host(known: Knowledge, found: Sighting) -> bool:
    """Whether this calls a host function that only bears the name of an atomic.

    So it is where the file has no device code and sees a function of this name that is no device function.
    """
    path = found.location.path
    if found.form not in ("direct", "wrapper", "wrapper-def") or found.call is None:
        return False
    holding = {  # whatever macro says where they run
        definition.location.path
        for definition in known.definitions.get(found.name, ())
        if any(one.name in INTRINSICS or one.assembler for one in known.bodies[definition].values())
    }
    plain = [
        where
        for where, qualifier in known.plain.get(found.name, ())
        if "__device__" not in qualifier and where not in holding
    ]
    if not plain or path.endswith(KERNEL_SUFFIXES) or any(w in known.repository.data(path) for w in DEVICE_WORDS):
        return False
    return any(where in known.repository.reachable(path) for where in plain)


class _Build:
    """Turns sightings into atomics, with what is inside of wrappers."""

    def __init__(self, known: Knowledge) -> None:
        self._known = known
        self._made: dict[Definition, tuple[Atomic, ...]] = {}
        self._in_macro: dict[str, tuple[Atomic, ...]] = {}
        self._meant: dict[int, list[Definition]] = {}
        self._reached: dict[Definition, frozenset[Definition]] = {}

    def atomic(self, found: Sighting) -> Atomic:
        """The atomic with its ``inner``."""
        arguments: tuple[tree_sitter.Node, ...] = found.arguments
        targets: tuple[int, ...] = ()
        of_object = False
        if found.form == "macro-use":
            inner = tuple(self.atomic(one) for one in found.inside)
        elif found.form == "macro-def" and found.name.encode() in self._known.macros:
            inner = self._macro(found.name)
        else:
            meant = self._wrappers(found)
            meant = [d for d in meant if not self._recursive(found, d)]
            inner = tuple(a for d in meant for a in self._definition(d))
            several = tuple(one.target for d in meant for one in self._bodies(d))
            if wrappers.OBJECT in several:
                of_object = True
            elif len(set(several)) > 1:
                targets = several
            else:
                arguments = target_first(_untagged(arguments), several[0] if several else 0)
        intrinsic = found.intrinsic or common_intrinsic(inner)
        return Atomic(
            found.location, found.name, intrinsic, found.scope, found.form, found.unit, found.node, found.function,
            arguments, inner, found.assembler, found.owner is not None, targets, of_object=of_object,
        )  # fmt: skip

    def _wrappers(self, found: Sighting) -> list[Definition]:
        """The definitions that a call may mean."""
        tagged = found.name in TAGGED and found.intrinsic
        if found.call is None or (found.name in INTRINSICS and found.call.receiver is None) or tagged:
            return []
        if id(found) not in self._meant:
            known = self._known
            passed = known.functor_calls.get((found.location.path, found.call.start), ())
            meant = passed or wrappers.meant(found.call, found.location.path, known.definitions, known.repository)
            self._meant[id(found)] = sorted(meant, key=lambda d: (d.location, d.name))
        return self._meant[id(found)]

    def _recursive(self, found: Sighting, meant: Definition) -> bool:
        """Whether what is called calls back: a wrapper that uses its own overloads, told once only."""
        return found.owner is not None and found.owner in self._reach(meant)

    def _reach(self, start: Definition) -> frozenset[Definition]:
        """The definition and all those that its body calls, directly or not."""
        if start not in self._reached:
            seen = {start}
            pending = [start]
            while pending:
                for found in self._known.bodies[pending.pop()].values():
                    following = [d for one in (found, *found.inside) for d in self._wrappers(one) if d not in seen]
                    seen.update(following)
                    pending += following
            self._reached[start] = frozenset(seen)
        return self._reached[start]

    def _definition(self, meant: Definition) -> tuple[Atomic, ...]:
        if meant not in self._made:
            self._made[meant] = tuple(self.atomic(found) for found in self._bodies(meant))
        return self._made[meant]

    def _bodies(self, meant: Definition) -> list[Sighting]:
        """What the body of a wrapper holds, by place."""
        return [found for _, found in sorted(self._known.bodies[meant].items(), key=lambda b: b[0])]

    def _macro(self, name: str) -> tuple[Atomic, ...]:
        if name not in self._in_macro:
            self._in_macro[name] = ()  # a macro that names itself ends here
            self._in_macro[name] = tuple(self.atomic(one) for one in self._known.in_macros[name])
        return self._in_macro[name]


def _untagged(passed: tuple[tree_sitter.Node, ...]) -> tuple[tree_sitter.Node, ...]:
    """The arguments without an empty object in front that only chooses an overload: ``atomicAdd(Policy{}, p, x)``."""
    first = passed[0] if len(passed) > 2 else None
    if first is None or first.type != "compound_literal_expression":
        return passed
    value = first.child_by_field_name("value")
    return passed[1:] if value is not None and not value.named_children else passed


def target_first(passed: tuple[tree_sitter.Node, ...], index: int) -> tuple[tree_sitter.Node, ...]:
    """The arguments with one of them in front."""
    return (passed[index], *passed[:index], *passed[index + 1 :]) if 0 < index < len(passed) else passed


def common_intrinsic(inner: tuple[Atomic, ...]) -> str:
    """What several atomics come down to: the one they share, leaving aside CAS loops that stand in for it."""
    names = {one.intrinsic for one in inner} - {""}
    if len(names) > 1:
        names.discard("atomicCAS")
    return next(iter(names)) if len(names) == 1 else ""
