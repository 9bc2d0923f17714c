"""The data flow of a check, in `checked`: paths, what to judge and for which target, findings, what is shown."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from d9mlint import config as configuration
from d9mlint import suppress
from d9mlint.app import backing, results
from d9mlint.app.besides import Besides, judge_commands, judge_configs, named_in, settings_files
from d9mlint.app.changed import Program, limited
from d9mlint.app.configreaders import ConfigReaders
from d9mlint.app.launches import Started, arguments, started
from d9mlint.app.options import Options, Outcome, exit_code, selected, shown, start
from d9mlint.catalogue import Catalogue, load
from d9mlint.config import Config
from d9mlint.discover import Discovery, added_roots, discover, import_roots, is_member, searched_roots
from d9mlint.model import CONFIGS, KERNELS, Changed, Op, Package, Report, Rule, Target, Unchecked, UsageError
from d9mlint.target import Resolver, used

if TYPE_CHECKING:
    from d9mlint.python.batch.run import BatchJob, BatchResult
    from d9mlint.python.project.reach import Reach


_NEWEST = "newest "
"""How the reasons of versions begin that nobody has stated: the newest known, the newest for a Python."""


def tree(options: Options, config: Config) -> Path:
    """The folder that holds the project and all that the user named; nothing outside of it is read."""
    named = [os.path.realpath(p if p.is_dir() else p.parent) for p in options.paths]
    linked = [os.path.dirname(os.path.realpath(p)) for p in options.paths if p.is_symlink()]  # noqa: PTH120
    try:
        return Path(os.path.commonpath([config.root.resolve(), *named, *linked]))
    except ValueError:  # several drives
        return config.root.resolve()


def given(options: Options, cwd: Path) -> dict[str, bytes]:
    """The file that stands on standard input, by its name."""
    return {} if options.stdin is None else {shown(options.paths[0], cwd): options.stdin}


def checked(options: Options, overlay: Mapping[str, bytes] = MappingProxyType({})) -> Outcome:
    """Checks Python programs, and what stands beside them; ``overlay`` are contents that files would have.

    Raises:
        UsageError, ConfigError, CatalogueError: as `check`.
    """
    overlay = {**given(options, Path.cwd()), **overlay}
    config = configuration.load(start(options.paths), options.config)
    catalogue = load(config.catalogues, cache=options.cache)
    records, seen = backing.named(options.evidence, Path.cwd()), backing.traced(options.evidence, Path.cwd())
    rules = selected(catalogue, (*config.select, *options.select), (*config.ignore, *options.ignore))
    reach = reach_of(options, config, overlay)
    launched, every = started(discover(options.paths, config), options, reach.peek, Path.cwd())
    roots = roots_of(config, every, reach)
    found, change = limited(options, config, every, Program(reach, roots, launched), overlay)
    resolver = Resolver(options.target, config.target, config.root, options.device or config.device)
    about_configs = tuple(r for r in rules if r.family == CONFIGS)
    loading = ConfigReaders([shown(path, Path.cwd()) for path in every.entries], roots, reach, cache=options.cache)
    configs = judge_configs(options, resolver, about_configs, found, reach.peek, loading)
    commands = judge_commands(resolver, rules, found, launched.commands, reach.peek)
    anything = (found.files, found.kernels, found.unchecked, configs.sources, configs.unchecked, commands.sources)
    if not any(anything) and change is None:
        named = ", ".join(map(str, options.paths))
        raise UsageError(f"nothing to check: no Python file, no launcher of one, no known config file in {named}")
    if options.argv is not None and len(every.entries) != 1:
        raise UsageError(f"script arguments after -- need exactly one entry script; there are {len(every.entries)}")
    targets = targets_of(found, roots, reach, launched, resolver)
    argv, by_name = _argv(options, config, every, launched), named_in(every, reach.peek)
    job = _job(options, config, catalogue, rules, targets, roots, argv, by_name, every)
    job = replace(job, settings=settings_files(every, reach.peek), overlay=overlay, plan=options.plan)
    judged = _judged(job, found, every, options, reach)
    kernels = _kernels(options, config, tuple(r for r in rules if r.family == KERNELS), found)
    report = _report(options, config, catalogue, job, found, judged, [kernels, configs, commands], reach, change)
    launches = {name: launched.launches[name] for name in report.entries if name in launched.launches}
    report = _told(backing.backed(report._replace(launches=launches), records, seen, catalogue.ops, targets), reach)
    return Outcome(report, exit_code(report, options.fail_on or config.fail_on))


def _told(report: Report, reach: Reach) -> Report:
    """The report with places in notebooks and in scripts in percent format as the user knows them."""
    from d9mlint.discover.percent import is_percent

    paths = {place.path for f in report.findings for place in (f.location, *(r.location for r in f.related))}
    paths |= {one.reached.path for f in report.findings for one in f.programs if one.reached is not None}
    paths |= {one.path for one in report.unchecked}
    paths |= {row.location.path for rows in report.plans.values() for row in rows if row.location is not None}
    paths |= {call.location.path for one in report.coverage.values() for call in one.unfollowed}
    texts = {
        path: (reach.peek(path) or b"").decode("utf-8", "replace")
        for path in sorted(paths)
        if path.endswith(".ipynb") or (path.endswith(".py") and is_percent(reach.peek(path) or b""))
    }
    if not texts:
        return report
    from d9mlint.app.cells import by_cell

    return by_cell(report, texts)


def _kernels(options: Options, config: Config, rules: tuple[Rule, ...], found: Discovery) -> Besides:
    """The findings in kernels, C++ and Python, in the folders that have any; nothing is imported for trees without."""
    if not found.kernels or not rules:
        return Besides()
    from d9mlint.app.kernels.scan import in_check
    from d9mlint.kernels.findings import checks, findings

    cwd = Path.cwd()
    names = {shown(path, cwd) for path in (*found.kernels, *found.files)}
    scan = in_check(options, config, rules, names.__contains__)
    return Besides(tuple(findings(scan, checks(rules))), scan.unchecked, scan.sources, rules)


def reach_of(options: Options, config: Config, overlay: Mapping[str, bytes]) -> Reach:
    """What reads the files of the project, and knows what they import."""
    from d9mlint.python.project.reach import Reach
    from d9mlint.python.source.reading import disk_reader, overlaid

    cwd = Path.cwd()
    return Reach(overlaid(disk_reader(tree(options, config), cwd), overlay), cwd)


def roots_of(config: Config, found: Discovery, reach: Reach) -> dict[str, tuple[str, ...]]:
    """By file, the folders that its imports start from."""
    cwd = Path.cwd()
    roots: dict[str, tuple[str, ...]] = {}
    beside: dict[tuple[Path, bool], tuple[str, ...]] = {}
    known = ((path, reach.peek(shown(path, cwd)) or b"") for path in found.files)
    added = [shown(root, cwd) for root in added_roots(known)]
    scripts = dict.fromkeys((*found.beside, *found.near))
    searched = searched_roots((path, reach.peek(shown(path, cwd)) or b"") for path in scripts)
    for path in {*found.entries, *found.files}:
        folder = path if path.is_symlink() else path.parent  # one look at the folders above for all files of a folder
        name = shown(path, cwd)
        member = is_member(path, reach.peek(name) or b"")
        if (folder, member) not in beside:
            own = import_roots(path, config, searched, member=member)
            beside[folder, member] = tuple(dict.fromkeys([*(shown(root, cwd) for root in own), *added]))
        roots[name] = beside[folder, member]
    return roots


def targets_of(
    found: Discovery, roots: Mapping[str, tuple[str, ...]], reach: Reach, launched: Started, resolver: Resolver
) -> dict[str, Target]:
    """By file, the target that it is judged for."""
    targets: dict[str, Target] = {}
    cwd = Path.cwd()
    # Those with the same roots one after the other: they share what files import.
    paths = {shown(path, cwd): path for path in {*found.entries, *found.files}}
    for name, path in sorted(paths.items(), key=lambda item: roots[item[0]]):
        reached = reach.files(name, roots[name])
        target = resolver.target(path)
        if any(map(_assumed, map(target.packages.get, ("tensorflow", "torch")))):
            target = resolver.target(path, reach.limits(reached))  # nothing says more: perhaps the code does
        targets[name] = launched.target(target._replace(uses=used(reach.packages(reached))), name)
    return targets


def _assumed(package: Package | None) -> bool:
    """Whether nobody has stated a version: it is the newest one, of all or for a Python."""
    return package is not None and package.reason.startswith(_NEWEST)


def _argv(options: Options, config: Config, found: Discovery, launched: Started) -> tuple[str, ...] | None:
    """The arguments that the program is judged with; None for any."""
    if options.launcher is not None and options.argv is None:
        return arguments(options, [shown(path, Path.cwd()) for path in found.entries], launched.launches)
    return options.argv if options.argv is not None else config.args


def _job(
    options: Options, config: Config, catalogue: Catalogue, rules: tuple[Rule, ...], targets: Mapping[str, Target],
    roots: Mapping[str, tuple[str, ...]], argv: tuple[str, ...] | None, named: tuple[tuple[str, str], ...],
    found: Discovery,
) -> BatchJob:  # fmt: skip
    from d9mlint.python.batch.run import BatchJob

    cwd = Path.cwd()
    return BatchJob(
        tree(options, config), cwd, catalogue.digest, catalogue.aliases, catalogue.effects, _ops(catalogue, cwd),
        tuple(r for r in rules if r.family not in (KERNELS, CONFIGS)), targets, roots, argv, options.cache,
        options.timeout, named=named, starts={shown(path, cwd): names for path, names in found.starts.items()},
    )  # fmt: skip


def _judged(job: BatchJob, found: Discovery, every: Discovery, options: Options, reach: Reach) -> BatchResult:
    from d9mlint.python.batch import run

    entries, files, *whole = (
        [shown(path, job.cwd) for path in paths]
        for paths in (found.entries, found.files, every.entries, every.files)
    )  # fmt: skip
    return run.run(job, entries, files, options.jobs, reach, options.watch, run.Whole(*whole))


def _report(
    options: Options, config: Config, catalogue: Catalogue, job: BatchJob, found: Discovery,
    judged: BatchResult, besides: Sequence[Besides], reach: Reach, change: Changed | None,
) -> Report:  # fmt: skip
    unchecked = [Unchecked(path, reason) for path, reason in judged.unchecked]
    targets = list(job.targets.values())
    # With script arguments only a part of a program was judged: what is unused in it may be used in another. So it is
    # where entries are left out.
    partly = job.argv is not None or (change is not None and change.left_out > 0)
    active = set() if partly else {r.name for r in job.rules if any(r.applies(t) for t in targets)}
    active |= {r.name for more in besides for r in more.rules}
    run = results.Run(options, config, job.cwd, (*catalogue.rules.values(), *suppress.RULES), frozenset(active))
    sources = _sources(reach, {f.location.path for f in judged.findings} | set(judged.files))
    told = {one.path for one in (*found.unchecked, *unchecked)}
    report = results.report(
        run,
        [*judged.findings, *(one for more in besides for one in more.findings)],
        [*found.unchecked, *unchecked, *(x for more in besides for x in more.unchecked if x.path not in told)],
        {**{path: text for more in besides for path, text in more.sources.items()}, **sources},
    )
    targeted = {path: job.targets[path] for path in (judged.programs or sorted(job.targets))}
    return report._replace(
        targets=targeted, entries=judged.programs, files=len(judged.files), coverage=judged.coverage,
        plans=judged.plans, changed=change,
    )  # fmt: skip


def _ops(catalogue: Catalogue, cwd: Path) -> tuple[Op, ...]:
    """The ops of the catalogue; where the user's own stand is told as reports tell it."""
    if not any(op.sites for op in catalogue.ops):
        return catalogue.ops  # the same object for each check of a process: what is made of it is kept
    return tuple(
        op._replace(sites=tuple(_shown_place(site, cwd) for site in op.sites)) if op.sites else op
        for op in catalogue.ops
    )


def _shown_place(place: str, cwd: Path) -> str:
    path, _, line = place.rpartition(":")
    return f"{shown(Path(os.path.normpath(path)), cwd)}:{line}"


def _sources(reach: Reach, paths: Iterable[str]) -> dict[str, str]:
    from d9mlint.python.source.reading import CannotRead

    out: dict[str, str] = {}
    for path in sorted(paths):
        try:
            data = reach.read(path)
        except CannotRead:
            continue
        if data is not None:
            out[path] = data.decode("utf-8", "replace").replace("\r\n", "\n")
    return out
