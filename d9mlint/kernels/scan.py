"""The whole scan of a repository: atomics, judged; library calls; the ops that the user meets them in; guards."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING

from d9mlint.kernels.ahead import MARKED
from d9mlint.kernels.asked import asked_for
from d9mlint.kernels.beside import beside, numbers
from d9mlint.kernels.embedded.presence import IN_PYTHON, Embedded
from d9mlint.kernels.flow import Anchor, Way, ops_of, portions, weakest
from d9mlint.kernels.judging.judge import Judgement, judge
from d9mlint.kernels.judging.settled import settled
from d9mlint.kernels.libraries import finding as libraries
from d9mlint.kernels.libraries.finding import Found
from d9mlint.kernels.libraries.presence import LIBRARIES
from d9mlint.kernels.overloads import of_their_types
from d9mlint.kernels.sites.atomics import Atomic, find
from d9mlint.kernels.sites.foreign import FOREIGN
from d9mlint.kernels.sites.tensors import SUMS
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.switches import switch_before
from d9mlint.kernels.tensorflow.presence import is_tensorflow
from d9mlint.kernels.torch.presence import is_bound
from d9mlint.model import Guard, KernelOp, KernelScan, LibraryCall, Location, Site, Unchecked

if TYPE_CHECKING:
    from d9mlint.kernels.source.mentions import Uses
    from d9mlint.kernels.tensorflow.ways import Reached, Search

_MANY = 20
"""So much of one kind is work for a second process."""


def scan(repository: Repository, jobs: int = 0) -> KernelScan:
    """All that there is to say about a repository; everything sorted by place, then name.

    What cannot be read, parsed or judged is in ``unchecked``; the rest is complete. The same for any number of
    processes, ``jobs`` (0: one a processor).
    """
    besides = len(repository.looked(LIBRARIES)) + len(repository.looked(IN_PYTHON))
    with beside(lambda: _besides(repository), jobs if besides >= _MANY else 1) as looking:
        atomics = find(repository)
        calls, inside, uses, called, unchecked = looking()
    repository.unchecked |= unchecked
    jobs = jobs if len(atomics) >= _MANY else 1
    judgements, reached, in_torch = _judged_and_met(repository, atomics, _anchors(calls), uses, jobs)
    judgements = settled(atomics, judgements, repository)
    in_torch = of_their_types(atomics, judgements, asked_for(atomics, judgements, in_torch))
    met = _Met([*_in_tensorflow([*reached, called]), *in_torch])
    sites = [_site(one, judged, met) for one, judged in zip(atomics, judgements, strict=True)]
    sites += [_in_python(site, inside.ops) for site in inside.sites]
    library_calls = [_call(one, met) for one in calls]
    varying = {s.location for s in sites if s.can_vary} | {c.location for c in library_calls if c.verdict == "yes"}
    shown = {s.location.path for s in sites} | {c.location.path for c in library_calls}
    shown |= set(repository.looked(MARKED))
    return KernelScan(
        files=len(repository.sources) + inside.files,
        sites=tuple(sorted(sites, key=lambda s: (s.location, s.atomic, s.form))),
        ops=tuple(sorted([*ops_of(met.ways, varying), *inside.ops], key=lambda op: (op.name, op.framework, op.sites))),
        library_calls=tuple(library_calls),
        unchecked=tuple(Unchecked(path, reason) for path, reason in sorted(repository.unchecked.items())),
        skipped=_skipped(repository, bool(repository.sources or inside.sites)),
        sources={path: repository.data(path).decode("utf-8", "replace") for path in sorted(shown)},
    )


def _skipped(repository: Repository, kernels: bool) -> tuple[Unchecked, ...]:
    """The sources in other languages that hold atomics; beside kernels also those in Python that add by PyTorch."""
    found = repository.looked(FOREIGN)
    sums = repository.looked(SUMS) if kernels else {}
    names = sorted({name for listed in sums.values() for name in listed})
    told = f"sums of PyTorch ({', '.join(f'`{name}`' for name in names)}) are not judged here; `check` tells of them"
    return (
        *(Unchecked(path, f"atomics of {found[path]} are not looked at") for path in sorted(found)),
        *(Unchecked(path, told) for path in sorted(sums)),
    )


def _besides(repository: Repository) -> tuple[list[Found], Embedded, Uses | None, Reached, dict[str, str]]:
    """What else varies besides the atomics of sources; who includes what, for the search for ops; what is unchecked.

    Also what the library calls reach: the sources around them, parsed here, need not be parsed there again.
    """
    calls, uses = libraries.find(repository), _uses(repository)
    anchors = _anchors(calls) if uses is not None else []
    called = _search(repository, uses).reached(anchors) if anchors else []
    return calls, _embedded(repository), uses, called, repository.unchecked


def _anchors(calls: Iterable[Found]) -> list[Anchor]:
    return [one.anchor for one in calls if one.anchor is not None]


# What only some repositories need is imported for those: importing it takes as long as scanning many files.


def _embedded(repository: Repository) -> Embedded:
    """The kernels inside Python files."""
    if not repository.looked(IN_PYTHON):
        return Embedded()
    from d9mlint.kernels.embedded.finding import find

    return find(repository)


def _uses(repository: Repository) -> Uses | None:
    """Who includes what, where that matters."""
    if not is_tensorflow(repository):
        return None
    from d9mlint.kernels.source.mentions import uses_in

    return uses_in(repository)


def _judged_and_met(
    repository: Repository, atomics: list[Atomic], called: list[Anchor], uses: Uses | None, jobs: int
) -> tuple[list[Judgement], list[Reached], list[Way]]:
    """A judgement for each atomic, what they reach in TensorFlow, and the ways of these and of calls in PyTorch.

    A second process judges, and then shares the search for ops: this one begins at its start, that one at its end.
    """
    anchors = [_anchor(one) for one in atomics]
    parts = portions(anchors) if uses is not None else []
    search = cache(lambda: _search(repository, uses))
    with numbers(len(parts)) as left:

        def judging() -> tuple[_Judged, dict[int, Reached]]:
            judged = _judgements(repository, atomics)
            own = (len(parts) - 1 - n for n, _ in enumerate(left))
            return judged, {n: search().reached(parts[n]) for n in own}

        with beside(judging, jobs) as other:
            reached = {n: search().reached(parts[n]) for n, _ in enumerate(left)}
            in_torch = _in_torch(repository, [*anchors, *called])
            (judgements, unchecked, crashes), more = other()
    repository.unchecked |= {**unchecked, **crashes}
    reached |= more
    # What a process took that died is missing.
    every = [reached[n] if n in reached else search().reached(part) for n, part in enumerate(parts)]
    return judgements, every, in_torch


def _search(repository: Repository, uses: Uses | None) -> Search:
    from d9mlint.kernels.tensorflow.ways import Search

    return Search(repository, uses)


def _in_tensorflow(reached: list[Reached]) -> list[Way]:
    if not any(reached):
        return []
    from d9mlint.kernels.tensorflow.ways import ways_of

    return ways_of(reached)


def _in_torch(repository: Repository, anchors: list[Anchor]) -> list[Way]:
    if not anchors or not is_bound(repository):
        return []
    from d9mlint.kernels.torch.ways import ways

    return ways(repository, anchors)


def _anchor(atomic: Atomic) -> Anchor:
    function, inner = atomic.function, tuple(one.location for one in atomic.inner)
    if function is None:
        return Anchor(atomic.location, inner=inner)
    return Anchor(atomic.location, function.name, function.scope, inner)


class _Met:
    """The ops that reach a place, and the weakest guard on the ways to it."""

    def __init__(self, ways: list[Way]) -> None:
        self.ways = ways
        self._at: dict[Location, list[Way]] = {}
        for way in ways:
            self._at.setdefault(way.site, []).append(way)

    def ops(self, place: Location) -> tuple[str, ...]:
        """Names of the ops, sorted."""
        return tuple(sorted({way.op for way in self._at.get(place, ())}))

    def reaches(self, place: Location) -> bool:
        """Whether any op reaches a place."""
        return place in self._at

    def guard(self, place: Location) -> Guard:
        """What protects the place on all ways."""
        return weakest(way.guard for way in self._at.get(place, ()))


def _in_python(site: Site, ops: Iterable[KernelOp]) -> Site:
    """A site inside a Python file, with the ops that launch it."""
    reached = [op for op in ops if site.location in op.sites]
    return site._replace(ops=tuple(op.name for op in reached), guard=weakest(op.guard for op in reached))


def _site(atomic: Atomic, judged: Judgement, met: _Met) -> Site:
    function = atomic.function
    return Site(
        location=atomic.location,
        function=function.label if function is not None else "",
        atomic=atomic.name or atomic.assembler,
        intrinsic=atomic.intrinsic,
        form=atomic.form,
        qualifier=function.qualifier if function is not None else "",
        memory=judged.memory,
        target_type=judged.target_type,
        return_use=judged.return_use,
        class_=judged.class_,
        verdict=judged.verdict,
        reason=judged.reason,
        scope=atomic.scope,
        implements=judged.implements,
        guard=met.guard(atomic.location) if met.reaches(atomic.location) else _switch(atomic),
        ops=met.ops(atomic.location),
        by_uses=judged.by_uses,
    )


def _switch(atomic: Atomic) -> Guard:
    """The author's own switch around an atomic that no op reaches."""
    if atomic.function is None or atomic.node is None:
        return Guard()
    return switch_before(atomic.unit, atomic.function.node, atomic.node.start_byte)


_Judged = tuple[list[Judgement], dict[str, str], dict[str, str]]
"""A judgement for each atomic; what could not be checked; what crashed, which is told before all else."""


def _judgements(repository: Repository, atomics: Iterable[Atomic]) -> _Judged:
    crashes: dict[str, str] = {}
    found = [_judged(one, repository, crashes) for one in atomics]
    return found, repository.unchecked, crashes


def _judged(atomic: Atomic, repository: Repository, crashes: dict[str, str]) -> Judgement:
    """The judgement; a crash on one site is told and takes nothing else down."""
    try:
        return judge(atomic, repository)
    except Exception as error:  # noqa: BLE001 - the other sites still count
        crashes[atomic.location.path] = f"internal-error: {type(error).__name__}: {error}"
        return Judgement("unknown", "unknown", f"`{atomic.name}` could not be judged")


def _call(found: Found, met: _Met) -> LibraryCall:
    call = found.call
    guard = met.guard(call.location)
    if guard.level == "none":
        guard = call.guard
    return call._replace(guard=guard, ops=met.ops(call.location))
