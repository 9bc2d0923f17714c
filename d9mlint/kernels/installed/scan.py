"""The scan of a build: its libraries in, sites and ops out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from d9mlint.kernels.flow import weakest
from d9mlint.kernels.installed import library, locate
from d9mlint.kernels.installed.atomic import Instruction
from d9mlint.kernels.installed.families import family_of, guard_of
from d9mlint.kernels.installed.judge import judge
from d9mlint.kernels.installed.locate import Build
from d9mlint.kernels.installed.names import identifiers, readable
from d9mlint.model import Family, Guard, KernelOp, KernelScan, Location, Op, Site, Step, Unchecked

_INTRINSICS = {
    "add": "atomicAdd", "min": "atomicMin", "max": "atomicMax", "inc": "atomicInc", "dec": "atomicDec",
    "and": "atomicAnd", "or": "atomicOr", "xor": "atomicXor", "exch": "atomicExch", "cas": "atomicCAS",
}  # fmt: skip


class Known(NamedTuple):
    """What the catalogue says of kernels."""

    families: tuple[Family, ...]
    ops: Mapping[str, Op]
    """By name."""


class BuildScan(NamedTuple):
    """The scan, and how much GPU code there was."""

    scan: KernelScan
    pieces: int


def scan(build: Build, known: Known) -> BuildScan:
    """All atomics in the GPU code of a build; what cannot be read is in ``unchecked``, the rest is complete."""
    sites: list[tuple[Site, Family | None]] = []
    unchecked: list[Unchecked] = []
    seen: set[bytes] = set()
    pieces = 0
    for shown, file in build.libraries:
        try:
            with locate.opened(build, file) as path:
                contents = library.read(path, seen)
        except (OSError, ValueError) as error:
            unchecked.append(Unchecked(shown, f"cannot be read: {getattr(error, 'strerror', None) or error}"))
            continue
        pieces += contents.pieces
        unchecked += [Unchecked(shown, _times(reason, n)) for reason, n in sorted(contents.reasons.items())]
        for piece, form, found in contents.found:
            place = f"{shown}/{piece}" if piece else shown
            sites += _sites(found, place, form, known, build)
    sites.sort(key=lambda one: one[0].location)
    done = KernelScan(
        files=len(build.libraries), sites=tuple(site for site, _ in sites), ops=tuple(_ops(sites)),
        unchecked=tuple(sorted(unchecked)),
    )  # fmt: skip
    return BuildScan(done, pieces)


def _times(reason: str, number: int) -> str:
    return f"{reason} ({number} pieces of code)" if number > 1 else reason


def _sites(
    found: Sequence[Instruction], path: str, form: str, known: Known, build: Build
) -> list[tuple[Site, Family | None]]:
    names = {one.function: _Kernel.of(one.function, known, build) for one in found}
    return [(_site(one, path, form, names[one.function]), names[one.function].family) for one in found]


class _Kernel(NamedTuple):
    name: str
    family: Family | None
    guard: Guard

    @staticmethod
    def of(mangled: str, known: Known, build: Build) -> _Kernel:
        """What is known of a kernel; deterministic mode is looked up in the catalogue for the build's version."""
        family = family_of(identifiers(mangled), known.families)
        guard = guard_of(family, known.ops, build.version) if family is not None else Guard("unknown")
        return _Kernel(readable(mangled), family, guard)


def _site(one: Instruction, path: str, form: str, kernel: _Kernel) -> Site:
    judged = judge(one)
    return Site(
        location=Location(path, one.line, one.column, one.line, one.column + one.width),
        function=kernel.name, atomic=one.name, intrinsic=_INTRINSICS.get(one.operation, ""), form=form,
        qualifier="__global__" if one.kernel else "__device__", memory=one.memory, target_type=one.type,
        return_use=one.use, class_=judged.class_, verdict=judged.verdict, reason=judged.reason, scope=one.scope,
        implements=judged.implements, guard=kernel.guard,
        ops=kernel.family.ops if kernel.family is not None else (),
    )  # fmt: skip


def _ops(sites: Iterable[tuple[Site, Family | None]]) -> list[KernelOp]:
    """The ops of all families that were met."""
    met: dict[tuple[str, str], list[tuple[Site, Family]]] = {}
    for site, family in sites:
        for name in family.ops if family is not None else ():
            assert family is not None
            met.setdefault((name, family.framework), []).append((site, family))
    return [_op(name, framework, met[name, framework]) for name, framework in sorted(met)]


def _op(name: str, framework: str, reached: Sequence[tuple[Site, Family]]) -> KernelOp:
    families = {family: None for _, family in reached}
    directions = {family.direction for family in families}
    first = next((site for site, _ in reached if site.can_vary), reached[0][0])
    source = next(family.source for site, family in reached if site is first)
    return KernelOp(
        name=name, framework=framework,
        python=tuple(sorted({name for family in families for name in (*family.python, *family.catalogue)})),
        direction=directions.pop() if len(directions) == 1 else "both",
        sites=tuple(site.location for site, _ in reached),
        guard=weakest(site.guard for site, _ in reached if site.can_vary),
        chain=(Step(first.location, f"kernel {first.function}"), Step(first.location, f"launched by {source}")),
    )  # fmt: skip
