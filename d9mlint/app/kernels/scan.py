"""The data flow of ``d9mlint kernels``: folders -> scan -> findings -> what is shown and written."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from d9mlint.app.options import Options, shown, start
from d9mlint.discover import KERNEL_SOURCES, PROJECT_MARKERS, left_out
from d9mlint.kernels import places, tree
from d9mlint.kernels.listing import Listing
from d9mlint.kernels.listing import listing as listed
from d9mlint.kernels.unusual import is_source
from d9mlint.model import KERNELS, Finding, KernelReport, KernelScan, Location, Report, Rule, UsageError
from d9mlint.writing import replaced

if TYPE_CHECKING:
    from d9mlint.app.results import Run
    from d9mlint.config import Config
    from d9mlint.kernels.findings import Check

# What is only needed once files are looked through is imported there: another process looks through them meanwhile.


class KernelOutcome(NamedTuple):
    """A report and the exit code that it deserves; ``note`` tells what was done besides.

    ``diff`` is what is shown instead of the report, where that was asked for.
    """

    report: KernelReport
    code: int
    note: str = ""
    diff: str | None = None


Meanwhile = Callable[[], object]
_Listed = Callable[[Path], Listing]


def run(
    options: Options, write: Path | None = None, listing: _Listed | None = None, meanwhile: Meanwhile = lambda: None
) -> KernelOutcome:
    """Scans kernel sources; with ``write`` also writes the ops that can vary as an op file.

    ``listing`` gives the files of a folder, where they are known already; ``meanwhile`` is done while files are read.

    Raises:
        UsageError, ConfigError, CatalogueError: exit code 2, with a text that names what is wrong.
    """
    prepared = cache(lambda: _prepared(options, meanwhile))
    found = scanned(options, lambda: prepared()[0].config, listing or listed)
    settings, judges = prepared()
    from d9mlint.app import results
    from d9mlint.app.options import exit_code
    from d9mlint.kernels.findings import findings

    raised = findings(found, judges)
    report = results.report(settings, raised, found.unchecked, found.sources)
    report = report._replace(files=found.files)
    silenced = _silenced(raised, report)
    note = _written(found, silenced, write) if write is not None else ""
    outcome = KernelReport(found._replace(unchecked=report.unchecked), report, silenced)
    return KernelOutcome(outcome, exit_code(report, options.fail_on or settings.config.fail_on), note)


def _prepared(options: Options, meanwhile: Meanwhile) -> tuple[Run, list[Check]]:
    """What decides about findings, and the checks of the rules about kernels that were asked for."""
    from d9mlint import config as configuration
    from d9mlint import suppress
    from d9mlint.app.options import selected
    from d9mlint.app.results import Run
    from d9mlint.catalogue import load
    from d9mlint.kernels.findings import checks

    meanwhile()
    config = configuration.load(start(options.paths), options.config)
    catalogue = load(config.catalogues, cache=options.cache)
    rules = selected(catalogue, (*config.select, *options.select), (*config.ignore, *options.ignore))
    kernel_rules = tuple(rule for rule in rules if rule.family == KERNELS)
    every_rule = (*catalogue.rules.values(), *suppress.RULES)
    active = frozenset(rule.name for rule in kernel_rules)
    return Run(options, config, Path.cwd(), every_rule, active), checks(kernel_rules)


def scanned(options: Options, config: Callable[[], Config], listing: _Listed = listed) -> KernelScan:
    """The scan of all paths, as reports show their files, without what the configuration excludes."""
    cwd = Path.cwd()
    found = [_scan(path, config, cwd, options, listing) for path in _apart(options.paths)]
    if not any(one.files or one.unchecked or one.skipped for one in found):
        named = ", ".join(map(str, options.paths))
        raise UsageError(f"nothing to scan: no C++ or CUDA source, nor a Python file with kernels, in {named}")
    return places.joined(found)


def _apart(paths: Iterable[Path]) -> list[Path]:
    """The paths without those that lie in another one."""
    real = {path: os.path.realpath(path) for path in paths}
    for path in real:
        if not path.exists():
            raise UsageError(f"path not found: {path}")
        if not (path.is_file() or path.is_dir()):
            raise UsageError(f"neither a file nor a folder: {path}")
    folders = {real[path] for path in real if path.is_dir()}
    kept: dict[str, Path] = {}
    for path, where in real.items():
        if not any(str(above) in folders for above in Path(where).parents):
            kept.setdefault(where, path)
    return [kept[where] for where in sorted(kept)]


def _scan(path: Path, config: Callable[[], Config], cwd: Path, options: Options, listing: _Listed) -> KernelScan:
    """A folder; of a file, that one file, read with the project around it (its headers, its way to Python)."""
    folder = path if path.is_dir() else _project(path)
    if folder != path and not (path.name.endswith((*KERNEL_SOURCES, ".py")) or is_source(path.read_bytes())):
        raise UsageError(f"nothing to scan: {path} is no C++, CUDA or Python source")
    files = listing(folder)
    if not files.sources:
        return KernelScan(0, (), (), unchecked=files.unreadable)
    # Asked about nothing, it imports what reads ignore files.
    whole = tree.scan(
        files, cache=options.cache, jobs=options.jobs, meanwhile=lambda: left_out(folder, (), config())
    )  # fmt: skip
    if folder != path:
        name = os.path.relpath(os.path.realpath(path), os.path.realpath(folder)).replace(os.sep, "/")
        whole = places.limited(whole, lambda one: one == name)._replace(files=1)
    out = left_out(folder, named_in(whole), config()) if folder == path else frozenset()  # what is named counts
    prefix = shown(folder, cwd)
    return places.moved(places.limited(whole, lambda one: one not in out), f"{prefix}/" if prefix else "")


def _project(path: Path) -> Path:
    """The nearest folder above a file that looks like a project, else the file's own."""
    from d9mlint.config import OWN_FILE

    folder = path.absolute().parent
    for above in (folder, *folder.parents):
        if any(os.path.lexists(above / mark) for mark in (*PROJECT_MARKERS, ".git", OWN_FILE)):
            return above
    return folder


def named_in(scan: KernelScan) -> frozenset[str]:
    """The files that a scan says something about."""
    files = {s.location.path for s in scan.sites} | {c.location.path for c in scan.library_calls}
    return frozenset(files | set(scan.sources) | {one.path for one in (*scan.unchecked, *scan.skipped)})


def in_check(options: Options, config: Config, rules: Iterable[Rule], shown_files: Callable[[str], bool]) -> KernelScan:
    """What ``check`` has to say of the kernel sources in its folders; ``shown_files`` are those that it checks."""
    folders = tuple(path for path in options.paths if path.is_dir())
    if not folders or not any(rule.family == KERNELS for rule in rules):
        return KernelScan(0, (), ())
    return places.limited(scanned(options._replace(paths=folders), lambda: config), shown_files)


def _silenced(raised: Iterable[Finding], report: Report) -> frozenset[Location]:
    """The places whose finding is taken away, other than by its confidence alone."""
    left = report.unsure.union((finding.rule, finding.location) for finding in report.findings)
    return frozenset(f.location for f in raised if (f.rule, f.location) not in left)


def _written(found: KernelScan, silenced: frozenset[Location], path: Path) -> str:
    """Writes the op file, its places relative to its folder; returns what to say about it."""
    from d9mlint.catalogue import opfile
    from d9mlint.kernels.ops import own_ops

    folder = path.absolute().parent

    def relative(place: str) -> str:
        return os.path.relpath(Path.cwd() / place, folder).replace(os.sep, "/")

    ops = own_ops(found, silenced)
    ops = [
        op._replace(sites=tuple(map(relative, op.sites)), sources=tuple(map(relative, op.sources))) for op in ops
    ]  # fmt: skip
    try:
        replaced(path, opfile.text(ops).encode("utf-8"))
    except OSError as error:
        raise UsageError(f"cannot write {path}: {error.strerror}") from error
    return f"wrote {len(ops)} op{'' if len(ops) == 1 else 's'} to {path}"
