"""The data flow of ``d9mlint verify --kernels``: scan -> probes and specified kernels -> evidence on sites."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple, Protocol

from d9mlint import config as configuration
from d9mlint.app.kernels.scan import scanned
from d9mlint.app.machine import machine
from d9mlint.app.options import Options, start
from d9mlint.app.verify.plan import VerifyOptions
from d9mlint.catalogue.schema.launches import read_launches
from d9mlint.kernels.source.device import device_text, quoted_includes
from d9mlint.model import OUTCOMES, Evidence, EvidenceReport, KernelScan, Site, Unexecuted, UsageError
from d9mlint.model.emulation import KernelEvidence, PtxAtomics, SiteEvidence
from d9mlint.model.kernel_launch import KernelLaunch
from d9mlint.verify.kernels import ptx
from d9mlint.verify.kernels.execute import Settings, executed
from d9mlint.verify.kernels.mirror import Reader
from d9mlint.verify.kernels.probes import PROBES, probe_of

_READER = Reader(device_text, quoted_includes)
_PTX_SECONDS = 60.0
_COMPILED = (".cu", ".cu.cc")


class KernelPlan(NamedTuple):
    """The probes and the user's kernels to be run, and the scan that they are evidence on."""

    probes: tuple[KernelLaunch, ...]
    launches: tuple[KernelLaunch, ...]
    scan: KernelScan
    include: tuple[str, ...] = ()


@dataclass(slots=True)
class VerifyingKernels:
    """What has been seen so far, so that an interruption leaves a partial report."""

    plan: KernelPlan
    found: list[Evidence] = field(default_factory=list)
    ptx: list[PtxAtomics] = field(default_factory=list)
    stopped: str = ""

    def left(self) -> list[str]:
        """The names of those that were not come to."""
        done = {one.case.op for one in self.found}
        return [one.name for one in (*self.plan.launches, *self.plan.probes) if one.name not in done]

    def report(self, stopped: str = "") -> KernelEvidence:
        """The report: gravest first, and what was not come to; ``stopped`` is why, where it is not over yet."""
        plan, stopped = self.plan, stopped or self.stopped
        ordered = sorted(self.found, key=lambda one: (OUTCOMES.index(one.verdict), one.case.op))
        unfinished = tuple(Unexecuted(name, stopped) for name in self.left()) if stopped else ()
        evidence = EvidenceReport(tuple(ordered), machine(), (), plan.scan.unchecked, unfinished, stopped)
        sites = tuple(_about(site, plan.launches) for site in plan.scan.sites)
        return KernelEvidence(evidence, tuple(one.name for one in plan.probes), sites, tuple(self.ptx))


def planned(options: VerifyOptions, spec: Path | None, include: Sequence[str]) -> KernelPlan:
    """What is to be run: the probes of the kinds that a scan finds (without sources: all), and the specified kernels.

    Raises:
        UsageError: a path is not found, nothing is there to scan, options that do not go together.
        CatalogueError: the specification is wrong.
    """
    if options.ops or options.all or options.framework:
        raise UsageError("--kernels goes with a source and --spec, not with --op, --all or --framework")
    launches = read_launches(spec) if spec is not None else ()
    launches = tuple(one._replace(include=(*one.include, *include)) for one in launches)
    probes = read_launches(PROBES)
    taken = {one.name for one in probes}
    for one in launches:
        if one.name in taken:
            raise UsageError(f"{spec}: `{one.name}` is the name of a probe; give the kernel another one with `name`")
    if options.path is None:
        return KernelPlan(() if launches else probes, launches, KernelScan(0, (), ()))
    config = configuration.load(start((options.path,)), options.config)
    scan = scanned(Options((options.path,), config=options.config), lambda: config)
    wanted = {probe_of(site) for site in scan.sites}
    return KernelPlan(tuple(one for one in probes if one.name in wanted), launches, scan, tuple(include))


def announcement(plan: KernelPlan, options: VerifyOptions) -> str:
    """What is about to be compiled and executed."""
    own = f"{len(plan.launches)} kernel{'s' * (len(plan.launches) != 1)} of yours ({_names(plan.launches)})"
    probes = f"{len(plan.probes)} probe{'s' * (len(plan.probes) != 1)} of d9mlint's"
    what = " and ".join(text for text, some in ((own, plan.launches), (probes, plan.probes)) if some)
    code = "this executes code from the sources that the specification names" if plan.launches else ""
    return (
        f"will compile and execute {what} in child processes, on made-up inputs, up to {options.runs} runs of each; "
        f"{code or 'no code from the sources is run'}"
    )


def _names(launches: Sequence[KernelLaunch]) -> str:
    names = [one.name for one in launches[:5]]
    return ", ".join(names) + (", ..." if len(launches) > len(names) else "")


class Watch(Protocol):
    """Is told where the run is."""

    def now(self, name: str) -> None:
        """The kernel is about to be run."""

    def end(self) -> None:
        """It was."""


def verify(state: VerifyingKernels, options: VerifyOptions, watch: Watch | None = None) -> VerifyingKernels:
    """Runs the plan, then looks at the PTX of flagged files; Ctrl-C leaves what was seen until then."""
    plan = state.plan
    settings = Settings(
        options.device, options.python or sys.executable, options.runs, timeout=options.timeout,
        memory=int(options.memory * 2**30),
    )  # fmt: skip
    end = None if options.time is None else time.monotonic() + options.time
    try:
        _begin(state, watch)
        for one in executed((*plan.launches, *plan.probes), _READER, settings):
            state.found.append(_placed(one, plan))
            if watch is not None:
                watch.end()
            _begin(state, watch)
            if end is not None and time.monotonic() > end:
                break
        for source, folders, names in _flagged(plan):
            if end is None or time.monotonic() < end:
                state.ptx.append(ptx.compiled(source, folders, names, _PTX_SECONDS))
    except KeyboardInterrupt:
        state.stopped = "interrupted"
    if not state.stopped and state.left():
        state.stopped = f"the time of {options.time:g} s was over"
    return state


def _begin(state: VerifyingKernels, watch: Watch | None) -> None:
    left = state.left()
    if watch is not None:
        watch.now(left[0] if left else "the PTX of the sources")


def _placed(one: Evidence, plan: KernelPlan) -> Evidence:
    """With the sites that the evidence is on."""
    named = next((launch for launch in plan.launches if launch.name == one.case.op), None)
    if named is None:
        return one
    sites = [site for site in plan.scan.sites if _stands_in(site, named)]
    return one._replace(findings=tuple(f"{s.location.path}:{s.location.line} {s.class_}: {s.verdict}" for s in sites))


def _about(site: Site, launches: Sequence[KernelLaunch]) -> SiteEvidence:
    return SiteEvidence(site, probe_of(site), tuple(one.name for one in launches if _stands_in(site, one)))


def _stands_in(site: Site, launch: KernelLaunch) -> bool:
    """Whether the site is written in the kernel itself; what it calls is not followed."""
    same = os.path.realpath(site.location.path) == os.path.realpath(launch.source)
    return same and site.function.split("::")[-1] == launch.kernel.split("::")[-1]


def _flagged(plan: KernelPlan) -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    """The CUDA files in which something can vary, each with the folders and definitions of its specification."""
    if not ptx.at_hand():
        return []
    given = {os.path.realpath(one.source): (one.include, one.define) for one in plan.launches}
    files = sorted({s.location.path for s in plan.scan.sites if s.can_vary or s.by_uses or s.verdict == "depends"})
    files = [path for path in files if path.endswith(_COMPILED)]
    return [(path, *given.get(os.path.realpath(path), (plan.include, ()))) for path in files]
