"""The data flow of a check: paths -> entries and files -> stories -> findings -> what is shown.

The only module that knows all the others.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from d9mlint import config as configuration
from d9mlint import suppress
from d9mlint.catalogue import Catalogue, load, read_examples
from d9mlint.config import Config
from d9mlint.discover import Discovery, discover, import_roots
from d9mlint.model import (
    CONFIDENCES,
    SEVERITIES,
    Example,
    Finding,
    Report,
    Rule,
    Target,
    Unchecked,
    UsageError,
    fingerprinted,
)
from d9mlint.target import KNOWN, Resolver

if TYPE_CHECKING:
    from d9mlint.python.batch import BatchJob
    from d9mlint.python.reach import Reach


@dataclass(frozen=True, slots=True)
class Options:
    """What the command line asks for; None where the configuration decides."""

    paths: tuple[Path, ...]
    target: tuple[str, ...] = ()
    device: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    fail_on: str | None = None
    min_confidence: str | None = None
    config: Path | None = None
    baseline: Path | None = None
    write_baseline: Path | None = None
    jobs: int = 0
    cache: bool = True
    argv: tuple[str, ...] | None = None
    fix: bool = False
    diff: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """A report and the exit code that it deserves; ``text`` where something else than the report is to be shown."""

    report: Report
    code: int
    text: str | None = None
    note: str = ""
    """What was done besides, for the error stream."""


def check(options: Options) -> Outcome:
    """Checks Python programs; with ``fix`` cures them first, with ``diff`` shows what that would change.

    Raises:
        UsageError, ConfigError, CatalogueError: exit code 2, with a text that names what is wrong.
    """
    if options.fix and options.diff:
        raise UsageError("--fix and --diff exclude each other")
    if options.fix:
        return _fixed(options)
    outcome = _checked(options)
    return _with_diff(options, outcome) if options.diff else outcome


def _fixed(options: Options) -> Outcome:
    """Writes the fixes, then checks what is there now."""
    from d9mlint import fix

    before = _checked(replace(options, write_baseline=None)).report
    cwd = Path.cwd()
    sources = _fixable(options, before)
    done = fix.apply(before.findings, sources)
    refused = dict(done.refused)
    for path, data in sorted(done.sources.items()):
        try:
            fix.write(cwd / path, data, _own_folders(options))
        except fix.CannotWrite as error:
            refused[path] = str(error)
    fixed = sum(not refused.keys() & {e.location.path for x in f.fixes for e in x.edits} for f in done.fixed)
    after = _checked(options)
    unchecked = {*after.report.unchecked, *(Unchecked(path, f"not fixed: {why}") for path, why in refused.items())}
    report = replace(after.report, unchecked=tuple(sorted(unchecked)))
    return Outcome(report, 3 if unchecked else after.code, note=f"fixed {fixed} finding{'' if fixed == 1 else 's'}")


def _with_diff(options: Options, outcome: Outcome) -> Outcome:
    from d9mlint import fix

    sources = _fixable(options, outcome.report)
    done = fix.apply(outcome.report.findings, sources)
    note = "\n".join(f"{path}: not fixed: {why}" for path, why in done.refused)
    return Outcome(outcome.report, outcome.code, fix.unified(sources, done.sources), note)


def _fixable(options: Options, report: Report) -> dict[str, bytes]:
    """The files that fixes of the report's findings would change."""
    from d9mlint.python.reading import CannotRead, disk_reader

    cwd = Path.cwd()
    read = disk_reader(_tree(options, configuration.load(_start(options.paths), options.config)), cwd)
    found: dict[str, bytes] = {}
    for path in sorted({e.location.path for f in report.findings for x in f.fixes if x.safe for e in x.edits}):
        try:
            data = read(path)
        except CannotRead:
            continue
        if data is not None:
            found[path] = data
    return found


def _own_folders(options: Options) -> list[Path]:
    """Where fixes may write: the project, and what the user named."""
    config = configuration.load(_start(options.paths), options.config)
    return [config.root, *(p if p.is_dir() else p.absolute().parent for p in options.paths)]


def _tree(options: Options, config: Config) -> Path:
    """The folder that holds the project and all that the user named; nothing outside of it is read."""
    named = [os.path.realpath(p if p.is_dir() else p.parent) for p in options.paths]
    linked = [os.path.dirname(os.path.realpath(p)) for p in options.paths if p.is_symlink()]  # noqa: PTH120
    try:
        return Path(os.path.commonpath([config.root.resolve(), *named, *linked]))
    except ValueError:  # several drives
        return config.root.resolve()


def _checked(options: Options) -> Outcome:
    config = configuration.load(_start(options.paths), options.config)
    catalogue = load(config.catalogues, cache=options.cache)
    rules = selected(catalogue, (*config.select, *options.select), (*config.ignore, *options.ignore))
    found = discover(options.paths, config)
    if options.argv is not None and len(found.entries) != 1:
        raise UsageError(f"script arguments after -- need exactly one entry script; there are {len(found.entries)}")
    reach = _reach(options, config)
    job = _job(options, config, catalogue, rules, found, reach)
    findings, unchecked, files = _judge_all(job, found, options, reach)
    return _report(options, config, catalogue, job, found, findings, [*found.unchecked, *unchecked], files)


def _start(paths: Sequence[Path]) -> Path:
    first = paths[0]
    return first if first.is_dir() else first.parent


@dataclass(frozen=True, slots=True)
class Job:
    """All that judging an entry needs besides its name; handed to worker processes as a whole."""

    root: Path
    cwd: Path
    catalogue: Catalogue
    rules: tuple[Rule, ...]
    targets: Mapping[str, Target]
    roots: Mapping[str, tuple[str, ...]]
    argv: tuple[str, ...] | None
    cache: bool


def _reach(options: Options, config: Config) -> Reach:
    from d9mlint.python.reach import Reach
    from d9mlint.python.reading import disk_reader

    cwd = Path.cwd()
    return Reach(disk_reader(_tree(options, config), cwd), cwd)


def _job(
    options: Options, config: Config, catalogue: Catalogue, rules: tuple[Rule, ...], found: Discovery, reach: Reach
) -> Job:  # fmt: skip
    cwd = Path.cwd()
    resolver = Resolver(options.target, config.target, config.root, options.device or config.device)
    targets: dict[str, Target] = {}
    roots: dict[str, tuple[str, ...]] = {}
    beside: dict[Path, tuple[str, ...]] = {}
    for path in {*found.entries, *found.files}:
        name = shown(path, cwd)
        folder = path if path.is_symlink() else path.parent  # one look at the folders above for all files of a folder
        if folder not in beside:
            beside[folder] = tuple(dict.fromkeys(shown(r, cwd) for r in import_roots(path, config)))
        roots[name] = beside[folder]
        targets[name] = resolver.target(path)
        if targets[name].version("tensorflow") == KNOWN["tensorflow"][-1]:  # nothing says more: perhaps the code does
            targets[name] = resolver.target(path, reach.limits(reach.files(name, roots[name])))
    argv = options.argv if options.argv is not None else config.args
    return Job(_tree(options, config), cwd, catalogue, rules, targets, roots, argv, options.cache)


def shown(path: Path, cwd: Path) -> str:
    """A path as reports show it: relative to the working directory, ``/``-separated; empty for that directory."""
    text = os.path.relpath(path, cwd).replace(os.sep, "/")
    if text.startswith("../") and path.is_absolute():  # spelled through a link to the working directory, perhaps
        real = Path(os.path.realpath(path.parent)) / path.name
        text = os.path.relpath(real, cwd).replace(os.sep, "/") if real.is_relative_to(cwd) else text
    return "" if text == "." else text


def selected(catalogue: Catalogue, select: Sequence[str], ignore: Sequence[str]) -> tuple[Rule, ...]:
    """The rules to run; names, ids, families and ``all`` can be selected and ignored."""
    known = [*catalogue.rules.values(), *suppress.RULES]
    names = {n for r in known for n in (r.name, r.id, r.family)} | {"all"}
    for name in (*select, *ignore):
        if name not in names:
            raise UsageError(f"no rule, id or family is called {name!r} (see `d9mlint rules list`)")

    return tuple(r for r in catalogue.rules.values() if _is_selected(r, select, ignore))


def _is_selected(rule: Rule, select: Sequence[str], ignore: Sequence[str]) -> bool:
    def meant(wanted: Sequence[str]) -> bool:
        return any(w in ("all", rule.name, rule.id, rule.family) for w in wanted)

    return (not select or meant(select)) and not meant(ignore)


def _judge_all(
    job: Job, found: Discovery, options: Options, reach: Reach
) -> tuple[list[Finding], list[Unchecked], tuple[str, ...]]:
    from d9mlint.python import batch

    entries = [shown(p, job.cwd) for p in found.entries]
    files = [shown(p, job.cwd) for p in found.files]
    result = batch.run(_batch_job(job), entries, files, options.jobs, reach)
    return list(result.findings), [Unchecked(p, r) for p, r in result.unchecked], result.files


def _batch_job(job: Job) -> BatchJob:
    from d9mlint.python.batch import BatchJob

    catalogue = job.catalogue
    return BatchJob(
        job.root, job.cwd, catalogue.digest, catalogue.aliases, catalogue.effects, catalogue.ops, job.rules,
        job.targets, job.roots, job.argv, job.cache,
    )  # fmt: skip


def _report(
    options: Options, config: Config, catalogue: Catalogue, job: Job, found: Discovery,
    findings: list[Finding], unchecked: list[Unchecked], files: tuple[str, ...],
) -> Outcome:  # fmt: skip
    sources = _sources(job, {f.location.path for f in findings} | set(files))
    unchecked = [Unchecked(shown(Path(one.path), job.cwd) or ".", one.reason) for one in unchecked]
    every_rule = [*catalogue.rules.values(), *suppress.RULES]
    kept, suppressed = _unsuppressed(
        options,
        config,
        job,
        with_fingerprints(findings, sources),
        sources,
        every_rule,
        frozenset(one.path for one in unchecked),
    )
    shown_findings = sorted(kept, key=lambda f: f.sort_key)
    least = CONFIDENCES.index(options.min_confidence or config.min_confidence)
    visible = [f for f in shown_findings if CONFIDENCES.index(f.confidence) >= least]
    if options.write_baseline is not None:
        suppress.write_baseline(visible, options.write_baseline)
    baseline = options.baseline or config.baseline
    new, known = suppress.split(visible, suppress.load_baseline(baseline)) if baseline else (tuple(visible), 0)
    entries = tuple(sorted(shown(p, job.cwd) for p in found.entries))
    report = Report(
        findings=tuple(new), targets={p: job.targets[p] for p in (entries or sorted(job.targets))}, entries=entries,
        files=len(files), suppressed=suppressed, baselined=known, hidden=len(shown_findings) - len(visible),
        unchecked=tuple(sorted(set(unchecked))), rules={r.name: r for r in every_rule},
        sources={f.location.path: sources[f.location.path] for f in new if f.location.path in sources},
    )  # fmt: skip
    return Outcome(report, exit_code(report, options.fail_on or config.fail_on))


def _unsuppressed(
    options: Options, config: Config, job: Job, findings: list[Finding], sources: Mapping[str, str],
    every_rule: Sequence[Rule], unchecked: frozenset[str],
) -> tuple[list[Finding], int]:  # fmt: skip
    """The findings that no comment and no ``per-file-ignores`` takes away, those about comments among them.

    A comment is only called unused where its rule was run for the whole program.
    """
    comments = {path: suppress.scan(text) for path, text in sorted(sources.items()) if suppress.MARK in text}
    targets = list(job.targets.values())
    active = {r.name for r in job.rules if any(r.applies(t) for t in targets)} if job.argv is None else set()
    kept, suppressed, extra = suppress.apply(findings, comments, every_rule, active)
    select, ignore = (*config.select, *options.select), (*config.ignore, *options.ignore)
    own = {r.name for r in suppress.RULES if _is_selected(r, select, ignore)}
    extra = tuple(
        f for f in extra
        if f.rule in own and not (f.rule == suppress.UNUSED.name and f.location.path in unchecked)
    )  # fmt: skip
    return _without_ignored([*kept, *extra], config, job.cwd), suppressed


def exit_code(report: Report, fail_on: str) -> int:
    """0, 1 or 3 of the contract (2 is an exception)."""
    if report.unchecked:
        return 3
    worst = SEVERITIES.index(fail_on)
    return int(any(SEVERITIES.index(f.severity) >= worst for f in report.findings))


def _sources(job: Job, paths: Iterable[str]) -> dict[str, str]:
    from d9mlint.python.reading import CannotRead, disk_reader

    read = disk_reader(job.root, job.cwd)
    out: dict[str, str] = {}
    for path in sorted(paths):
        try:
            data = read(path)
        except CannotRead:
            continue
        if data is not None:
            out[path] = data.decode("utf-8", "replace").replace("\r\n", "\n")
    return out


def with_fingerprints(findings: Sequence[Finding], sources: Mapping[str, str]) -> list[Finding]:
    """Findings with the identity that baselines and SARIF use."""
    lines = {path: sources[path].split("\n") for path in {f.location.path for f in findings} & sources.keys()}

    def line_text(found: Finding) -> str:
        text = lines.get(found.location.path, [])
        return text[found.location.line - 1] if 0 < found.location.line <= len(text) else ""

    return fingerprinted(findings, line_text)


def _without_ignored(findings: list[Finding], config: Config, cwd: Path) -> list[Finding]:
    if not config.per_file_ignores:
        return findings
    paths = {cwd / f.location.path for f in findings}
    ignored = {shown(p, cwd): names for p, names in configuration.ignored_in(config, paths).items()}
    return [f for f in findings if not {f.rule, f.id} & set(ignored.get(f.location.path, ()))]


# -- examples ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ExampleResult:
    """What an example was expected to report and what it did, as ``(file, line)`` with duplicates."""

    rule: Rule
    example: Example
    expected: tuple[tuple[str, int], ...]
    found: tuple[tuple[str, int], ...]
    others: tuple[Finding, ...]
    problem: str = ""
    """What is wrong besides: with a ``fixed`` text, that the fixes of the bad one do not give it."""

    @property
    def passed(self) -> bool:
        """Whether the example still says the truth (a ``missed`` one: is still missed)."""
        if self.problem:
            return False
        if self.example.kind == "missed":
            return self.expected != self.found
        return self.expected == self.found


def run_examples(rules: Iterable[Rule], catalogue: Catalogue) -> list[ExampleResult]:
    """Runs the examples of rules, in memory; a ``fixed`` text must be what the safe fixes make of the bad one."""
    results: list[ExampleResult] = []
    for rule in rules:
        before: Example | None = None
        for example in read_examples(rule):
            result = run_example(rule, example, catalogue)
            if example.kind == "fixed" and before is not None:
                result = replace(result, problem=_fix_problem(rule, before, example, catalogue))
            results.append(result)
            before = example
    return results


def _fix_problem(rule: Rule, bad: Example, fixed: Example, catalogue: Catalogue) -> str:
    """What is wrong with a bad text and its fixed one; empty where all is well."""
    from d9mlint import fix

    before, after = ({name: text.encode() for name, text in _unmarked(one).items()} for one in (bad, fixed))
    done = fix.apply(_own_findings(rule, bad, catalogue), before)
    if {**before, **done.sources} != after:
        return "the safe fixes of the bad text do not give the fixed one"
    again = fix.apply(_own_findings(rule, fixed, catalogue), after)
    return "a second run of the fixes changes the text again" if again.sources else ""


def _own_findings(rule: Rule, example: Example, catalogue: Catalogue) -> list[Finding]:
    return [f for f in _judge_example(example, catalogue) if f.rule == rule.name]


def run_example(rule: Rule, example: Example, catalogue: Catalogue) -> ExampleResult:
    """Judges one example with all rules; the others' findings come back beside those of ``rule``."""
    from d9mlint.catalogue.examples import MARK

    expected = [
        (name, i)
        for name, text in example.files.items()
        for i, line in enumerate(text.split("\n"), 1)
        if MARK.search(line)
    ]
    findings = _judge_example(example, catalogue)
    least = CONFIDENCES.index(min("medium", rule.confidence, key=CONFIDENCES.index))
    own = [f for f in findings if f.rule == rule.name and CONFIDENCES.index(f.confidence) >= least]
    found = sorted((f.location.path, f.location.line) for f in own)
    others = tuple(f for f in findings if f.rule != rule.name and f.confidence != "low")
    return ExampleResult(rule, example, tuple(sorted(expected)), tuple(found), others)


def _unmarked(example: Example) -> dict[str, str]:
    """The files of an example as a user would have them."""
    from d9mlint.catalogue.examples import MARK

    def clean(line: str) -> str:
        return MARK.sub("", line).rstrip() if MARK.search(line) else line

    return {name: "\n".join(map(clean, text.split("\n"))) for name, text in example.files.items()}


def _judge_example(example: Example, catalogue: Catalogue) -> tuple[Finding, ...]:
    from d9mlint.python.batch import newest_target
    from d9mlint.python.engine import judge
    from d9mlint.python.knowledge import Knowledge
    from d9mlint.python.project import Project

    target = newest_target(example.target, example.device)
    data = {name: text.encode() for name, text in _unmarked(example).items()}
    entry = "train.py" if "train.py" in data else next(iter(data))
    knowledge = Knowledge(catalogue.aliases, catalogue.effects, target)
    argv = None if example.args is None else list(example.args)
    judged = judge(
        Project(data.get), entry, ("", "src"), catalogue.rules.values(), catalogue.ops, knowledge, target, argv
    )
    if judged.unchecked:
        raise AssertionError(f"line {example.line}: {judged.unchecked}")
    return judged.findings


__all__ = ["ExampleResult", "Options", "Outcome", "check", "run_examples", "selected"]
