"""From all that rules say to a report: comments, configuration and baseline take their part, the rest is sorted."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from d9mlint import config as configuration
from d9mlint import suppress
from d9mlint.app.causes import by_cause
from d9mlint.app.options import Options, is_selected, shown
from d9mlint.config import Config
from d9mlint.model import CONFIDENCES, Finding, Report, Rule, Unchecked, fingerprinted


class Run(NamedTuple):
    """What deciding about findings needs besides these."""

    options: Options
    config: Config
    cwd: Path
    rules: tuple[Rule, ...]
    """All rules that there are, those about suppressions among them."""
    active: frozenset[str]
    """Names of the rules that were run for all of the program: only their comments can be called unused."""


def report(run: Run, findings: Sequence[Finding], unchecked: Iterable[Unchecked], sources: Mapping[str, str]) -> Report:
    """The report about ``findings``; ``sources`` are the texts of all files that were checked."""
    cwd = run.cwd
    failed = tuple(sorted({Unchecked(shown(Path(one.path), cwd) or ".", one.reason) for one in unchecked}))
    kept, suppressed = _unsuppressed(run, with_fingerprints(findings, sources), sources, {one.path for one in failed})
    ordered = sorted(kept, key=lambda f: f.sort_key)
    least = CONFIDENCES.index(run.options.min_confidence or run.config.min_confidence)
    visible = [f for f in ordered if CONFIDENCES.index(f.confidence) >= least]
    unsure = [f for f in ordered if CONFIDENCES.index(f.confidence) < least]
    if run.options.write_baseline is not None:
        suppress.write_baseline(visible, run.options.write_baseline)
    baseline = run.options.baseline or run.config.baseline
    new, known = suppress.split(visible, suppress.load_baseline(baseline)) if baseline else (tuple(visible), 0)
    return Report(
        findings=tuple(by_cause(new, sources)), targets={}, suppressed=suppressed, baselined=known,
        hidden=len(unsure), unsure=frozenset((f.rule, f.location) for f in unsure), unchecked=failed,
        rules={r.name: r for r in run.rules},
        sources={f.location.path: sources[f.location.path] for f in new if f.location.path in sources},
    )  # fmt: skip


def _unsuppressed(
    run: Run, findings: list[Finding], sources: Mapping[str, str], unchecked: set[str]
) -> tuple[list[Finding], int]:
    """The findings that no comment and no ``per-file-ignores`` takes away, those about comments among them."""
    comments = {path: suppress.scan(text, path) for path, text in sorted(sources.items()) if suppress.MARK in text}
    kept, suppressed, extra = suppress.apply(findings, comments, run.rules, run.active)
    select, ignore = (*run.config.select, *run.options.select), (*run.config.ignore, *run.options.ignore)
    own = {r.name for r in suppress.RULES if is_selected(r, select, ignore)}
    extra = tuple(
        f for f in extra
        if f.rule in own and not (f.rule == suppress.UNUSED.name and f.location.path in unchecked)
    )  # fmt: skip
    return _without_ignored([*kept, *extra], run.config, run.cwd), suppressed


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
