"""What the kernel scanner reports: sites, the ops a user meets them in, library calls."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, NamedTuple

from d9mlint.model.finding import Location

if TYPE_CHECKING:
    from d9mlint.model.report import Report, Unchecked

FORMS = ("direct", "wrapper", "wrapper-def", "macro-def", "macro-use", "ptx", "ptx-string", "sass")
"""How an atomic stands in the source; ``sass``: in the machine code of a built library."""
CLASSES = ("float-accumulate", "commutative-exact", "order-dependent", "cas-loop", "unknown")
"""What kind of operation it is."""
VERDICTS = ("yes", "conditional", "depends", "unknown", "no")
"""Can the result vary from run to run; ``depends``: a wrapper or macro, on its use."""
USES = ("unused", "forwarded", "ticket", "index", "value")
"""What is done with the old value that an atomic returns."""
GUARD_LEVELS = ("none", "unknown", "other-path", "throws")
"""What deterministic mode does on the way to a site, from worst to best; a guard never means "deterministic".

``unknown`` is said of binaries only: they do not show what stands before a launch.
"""


class Step(NamedTuple):
    """One link of the way from a site to the user: a place and what stands there (``kernel X``, ``op Y`` ...)."""

    location: Location
    text: str


class Guard(NamedTuple):
    """What deterministic mode does before the kernel runs, and where that is written.

    ``switch`` is what else makes it take another path: an argument or environment variable of the author's own, with
    the value that does (``deterministic=True``); ``default`` is the value that an argument has where none is given.
    """

    level: str = "none"
    where: Location | None = None
    switch: str = ""
    default: str = ""


UNGUARDED = Guard()


class Site(NamedTuple):
    """One atomic operation in a kernel source, judged."""

    location: Location
    function: str
    """The outermost function around it, with its class where it has one; empty outside of functions."""
    atomic: str
    """The name as written: ``CudaAtomicAdd``, ``atomicAdd_block``, ``red.global.add.f32`` ..."""
    intrinsic: str
    """The CUDA atomic that it comes down to: ``atomicAdd``, ``atomicCAS`` ...; empty where that is not known."""
    form: str
    qualifier: str
    """``__global__``, ``__device__``, ``__host__ __device__`` or empty: of the enclosing function."""
    memory: str
    """``global``, ``shared`` or ``unknown``: where the target lives."""
    target_type: str
    """Type of the target as written and, for a template parameter, its instantiations: ``T = float | double | int``."""
    return_use: str
    class_: str
    verdict: str
    reason: str
    """One plain sentence that names what was seen."""
    scope: str = "device"
    """``block``, ``device`` or ``system``."""
    implements: str = ""
    """What a CAS loop computes: ``add``, ``max`` ...; empty for everything else."""
    guard: Guard = UNGUARDED
    ops: tuple[str, ...] = ()
    by_uses: bool = False
    """Whether the verdict of a wrapper's body is what all its uses say, which are sites and told themselves."""

    @property
    def return_used(self) -> bool:
        """Whether the old value goes anywhere."""
        return self.return_use != "unused"

    @property
    def can_vary(self) -> bool:
        """Whether the site can make a result vary, perhaps under a condition; what its uses say is theirs."""
        return self.verdict in ("yes", "conditional") and not self.by_uses


class KernelOp(NamedTuple):
    """An op that reaches sites; ``chain`` leads from the first site (that can vary, if any can) to the op and Python.

    ``guard`` is the weakest on the ways from these sites.
    """

    name: str
    framework: str
    """``tensorflow``, ``torch`` or empty (a kernel of no framework)."""
    python: tuple[str, ...]
    """Dotted names under which Python meets it; empty where no way was found."""
    direction: str
    """``forward``, ``backward`` (the op computes a gradient) or ``both``."""
    gradient_of: tuple[str, ...] = ()
    """For a gradient op, the ops whose gradient it computes."""
    sites: tuple[Location, ...] = ()
    guard: Guard = UNGUARDED
    chain: tuple[Step, ...] = ()
    chains: tuple[tuple[Location, tuple[Step, ...]], ...] = ()
    """A way from each of the sites."""

    def chain_from(self, site: Location) -> tuple[Step, ...]:
        """The way from a site; ``chain`` where only that is known."""
        return next((chain for at, chain in self.chains if at == site), self.chain)


class Family(NamedTuple):
    """Kernels of a built framework that the same ops launch: one entry of ``rules/builds/*.yaml``."""

    framework: str
    kernels: tuple[str, ...]
    """Identifiers, one of which is part of the kernel's name (its own, or that of a functor in its template)."""
    within: tuple[str, ...]
    """Identifiers that must all be part of it, too."""
    ops: tuple[str, ...]
    direction: str
    python: tuple[str, ...] = ()
    catalogue: tuple[str, ...] = ()
    """Names of the ops of ``rules/ops/`` that they are, which know what deterministic mode does."""
    source: str = ""


class LibraryCall(NamedTuple):
    """A call into a library (cuDNN, cuSPARSE, CUB, Thrust, cuBLAS) whose result is documented to vary, or may."""

    location: Location
    function: str
    name: str
    rule: str
    verdict: str
    reason: str
    guard: Guard = UNGUARDED
    ops: tuple[str, ...] = ()


class KernelScan(NamedTuple):
    """The outcome of ``d9mlint kernels``; everything sorted by place."""

    files: int
    sites: tuple[Site, ...]
    ops: tuple[KernelOp, ...]
    library_calls: tuple[LibraryCall, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    sources: Mapping[str, str] = {}
    """Text of the files that sites and chains point into, for excerpts."""
    skipped: tuple[Unchecked, ...] = ()
    """Files with atomics of a language that is not looked at (Metal, SYCL, OpenCL), which is no failure."""


class KernelReport(NamedTuple):
    """What ``d9mlint kernels`` shows: the scan, and what the rules find in it."""

    scan: KernelScan
    report: Report
    silenced: frozenset[Location] = frozenset()
    """Places of sites and library calls whose finding a comment, the configuration or the baseline takes away."""
    build: str = ""
    """What was scanned where that is a built package: ``tensorflow 2.21.0``; empty for sources."""

    @property
    def open_sites(self) -> tuple[Site, ...]:
        """The sites that can vary, that no guard covers, and that nobody has silenced."""
        return tuple(
            s for s in self.scan.sites
            if s.can_vary and s.guard.level in ("none", "unknown") and s.location not in self.silenced
        )  # fmt: skip
