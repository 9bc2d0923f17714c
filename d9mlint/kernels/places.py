"""A scan seen from elsewhere: other paths, fewer files, several scans as one."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from d9mlint.model import Guard, KernelOp, KernelScan, Location, Step, Unchecked


def moved(scan: KernelScan, prefix: str) -> KernelScan:
    """The scan with ``prefix`` before each path."""
    if not prefix:
        return scan

    def place(at: Location) -> Location:
        return at._replace(path=prefix + at.path)

    def guard(given: Guard) -> Guard:
        return given._replace(where=place(given.where)) if given.where is not None else given

    return KernelScan(
        files=scan.files,
        sites=tuple(s._replace(location=place(s.location), guard=guard(s.guard)) for s in scan.sites),
        ops=tuple(_op(op, place, guard) for op in scan.ops),
        library_calls=tuple(c._replace(location=place(c.location), guard=guard(c.guard)) for c in scan.library_calls),
        unchecked=tuple(Unchecked(prefix + one.path, one.reason) for one in scan.unchecked),
        skipped=tuple(Unchecked(prefix + one.path, one.reason) for one in scan.skipped),
        sources={prefix + path: text for path, text in scan.sources.items()},
    )


def _op(op: KernelOp, place: Callable[[Location], Location], guard: Callable[[Guard], Guard]) -> KernelOp:
    def steps(chain: tuple[Step, ...]) -> tuple[Step, ...]:
        return tuple(Step(place(step.location), step.text) for step in chain)

    return op._replace(
        sites=tuple(place(at) for at in op.sites),
        guard=guard(op.guard),
        chain=steps(op.chain),
        chains=tuple((place(at), steps(chain)) for at, chain in op.chains),
    )


def limited(scan: KernelScan, shown: Callable[[str], bool]) -> KernelScan:
    """Only what lies in files for which ``shown`` is true; of the ops those that reach it."""
    ops = []
    for op in scan.ops:
        sites = tuple(at for at in op.sites if shown(at.path))
        if sites:
            ops.append(op._replace(sites=sites))
    return scan._replace(
        sites=tuple(s for s in scan.sites if shown(s.location.path)),
        ops=tuple(ops),
        library_calls=tuple(c for c in scan.library_calls if shown(c.location.path)),
        unchecked=tuple(u for u in scan.unchecked if shown(u.path)),
        skipped=tuple(u for u in scan.skipped if shown(u.path)),
        sources={path: text for path, text in scan.sources.items() if shown(path)},
    )


def joined(scans: Iterable[KernelScan]) -> KernelScan:
    """Scans of separate folders as one, sorted."""
    every = list(scans)
    if len(every) == 1:
        return every[0]
    return KernelScan(
        files=sum(s.files for s in every),
        sites=tuple(sorted((x for s in every for x in s.sites), key=lambda x: (x.location, x.atomic, x.form))),
        ops=tuple(sorted((x for s in every for x in s.ops), key=lambda x: (x.name, x.framework, x.sites))),
        library_calls=tuple(
            sorted((x for s in every for x in s.library_calls), key=lambda x: (x.location, x.name))
        ),
        unchecked=tuple(sorted({x for s in every for x in s.unchecked})),
        skipped=tuple(sorted({x for s in every for x in s.skipped})),
        sources={path: text for s in every for path, text in s.sources.items()},
    )  # fmt: skip
