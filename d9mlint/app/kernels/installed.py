"""The data flow of ``d9mlint kernels --installed``: a build -> its libraries -> scan -> report. Nothing is executed."""

from __future__ import annotations

import os
from pathlib import Path

from d9mlint.app.kernels.scan import KernelOutcome
from d9mlint.app.options import shown
from d9mlint.catalogue import load
from d9mlint.catalogue.schema.builds import read_families
from d9mlint.catalogue.schema.cases import read_cases
from d9mlint.kernels.installed import scan as builds
from d9mlint.kernels.installed.locate import Build, locate
from d9mlint.model import KernelReport, Report, UsageError


def run(name: str, python: str | None = None, cache: bool = True) -> KernelOutcome:
    """Scans the GPU code of a package, folder, wheel or library; there are no findings, only an inventory.

    Exit code 0, or 3 where something could not be read.

    Raises:
        UsageError: nothing of that name, or no GPU code in it.
    """
    build = _relative(locate(name, python))
    if not build.libraries:
        raise UsageError(f"nothing to scan: no library in {build.title}")
    # The ops of the probes (PyTorch) are not part of the catalogue that rules see, but know deterministic mode, too.
    ops = {one.op.name: one.op for one in read_cases()} | {op.name: op for op in load(cache=cache).ops}
    found = builds.scan(build, builds.Known(read_families(), ops))
    if not found.pieces and not found.scan.unchecked:
        raise UsageError(f"nothing to scan: no GPU code in the libraries of {build.title} (a build for the CPU?)")
    scan = found.scan
    report = Report(findings=(), targets={}, files=scan.files, unchecked=scan.unchecked)
    return KernelOutcome(KernelReport(scan, report, build=build.title), 3 if scan.unchecked else 0)


def _relative(build: Build) -> Build:
    """Paths as reports show them."""
    if build.archive is not None or build.package:
        return build
    cwd = Path.cwd()
    libraries = tuple((shown(path, cwd), path) for _, path in build.libraries)
    return build._replace(title=shown(Path(build.title), cwd) or os.curdir, libraries=libraries)
