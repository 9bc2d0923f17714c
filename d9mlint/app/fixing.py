"""What ``d9mlint check`` does besides checking: curing what it finds, or showing what that would change."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from d9mlint import config as configuration
from d9mlint.app.curing import Cure, cure, files
from d9mlint.app.options import Options, Outcome, start
from d9mlint.app.programs import checked
from d9mlint.model import Finding, Report, Unchecked, UsageError
from d9mlint.model.evidence import CONFIRMED
from d9mlint.report.words import count

if TYPE_CHECKING:
    from d9mlint.app.sources import Sources

_SHOWN = 10
_ROUNDS = 3
"""How often it is tried to cure what the first patches have left."""


def check(options: Options) -> Outcome:
    """Checks Python programs; with ``fix`` cures them first, with ``diff`` shows what that would change.

    Raises:
        UsageError, ConfigError, CatalogueError: exit code 2, with a text that names what is wrong.
    """
    if CONFIRMED in (options.fail_on or "").split(",") and not options.evidence:
        raise UsageError("--fail-on confirmed needs --evidence FILE")
    if options.fix and options.diff:
        raise UsageError("--fix and --diff exclude each other")
    if options.unsafe_fixes and not (options.fix or options.diff):
        raise UsageError("--unsafe-fixes needs --fix or --diff")
    if options.since is not None and options.write_baseline is not None:
        raise UsageError(
            "a baseline is written of all findings: --write-baseline excludes --changed-since and --pre-commit"
        )
    if options.fix:
        return _fixed(options)
    outcome = checked(options)
    return _with_diff(options, outcome) if options.diff else outcome


class Patches(NamedTuple):
    """What is found, the patches that are proven to cure it, none of them written, and what they are patches of."""

    before: Report
    cure: Cure
    sources: Sources


def patches(
    options: Options, wanted: Callable[[Finding], bool] = lambda found: True,
    overlay: Mapping[str, bytes] = MappingProxyType({}),
) -> Patches:  # fmt: skip
    """The patches for the findings that are ``wanted``; ``overlay`` are contents that files have in an editor."""
    from d9mlint.app.sources import read

    before = checked(options._replace(write_baseline=None), overlay).report
    sources = read(options, before, overlay)
    return Patches(before, *_cured(options, before, sources, overlay, wanted))


def _cured(
    options: Options, before: Report, sources: Sources, overlay: Mapping[str, bytes] = MappingProxyType({}),
    wanted: Callable[[Finding], bool] = lambda found: True,
) -> tuple[Cure, Sources]:  # fmt: skip
    """The cure, and that of what is left where the first brings something else to be cured; the files before both."""
    from d9mlint.app.sources import read

    done, own = cure(options, before, sources, overlay, wanted), sources.files.own
    for _ in range(_ROUNDS):
        if not done.again or options.fixes:  # (those are edits of what is there now)
            break
        contents = {**overlay, **done.sources}
        report = checked(options._replace(write_baseline=None), contents).report
        patched = read(options, report, contents)
        more = cure(options, report, patched._replace(files=patched.files._replace(own=own)), contents, wanted)
        cured, changing = (*done.cured, *more.cured), (*done.changing, *more.changing)
        done = more._replace(sources={**done.sources, **more.sources}, cured=cured, changing=changing)
        sources = sources._replace(stored={**patched.stored, **sources.stored})
    return done, sources


def cured(options: Options) -> tuple[Report, Report]:
    """What is found, and what would be left after the patches, without writing any."""
    before, done, _ = patches(options)
    return before, checked(options._replace(write_baseline=None), done.sources).report if done.sources else before


def _fixed(options: Options) -> Outcome:
    """Writes the patches, then checks what is there now."""
    from d9mlint import fix

    _, done, sources = patches(options)
    cwd = Path.cwd()
    refused = dict(done.refused)
    for path, data in sorted(done.sources.items()):
        try:
            fix.write(cwd / path, data, _own_folders(options), sources.stored[path])
        except fix.CannotWrite as error:
            refused[path] = str(error)
    fixed = sum(not refused.keys() & files(found, done.sources) for found in done.cured)
    after = checked(options)
    unchecked = {*after.report.unchecked, *(Unchecked(path, f"not fixed: {why}") for path, why in refused.items())}
    told = after.report._replace(unchecked=tuple(sorted(unchecked)))
    return Outcome(told, 3 if unchecked else after.code, note=_note(f"fixed {count(fixed, 'finding')}", done))


def _with_diff(options: Options, outcome: Outcome) -> Outcome:
    from d9mlint import fix
    from d9mlint.app.sources import read

    done, sources = _cured(options, outcome.report, read(options, outcome.report))
    refused = "\n".join(f"{path}: not fixed: {why}" for path, why in done.refused)
    note = _note(f"would fix {count(len(done.cured), 'finding')}", done) if done.cured or done.left else ""
    if options.fixes:
        told = (
            found._replace(fixes=(done.fixes[found],)) if found in done.fixes else found
            for found in outcome.report.findings
        )
        report = outcome.report._replace(findings=tuple(told))
        return Outcome(report, outcome.code, note="\n".join(filter(None, (refused, note))))
    text = fix.unified(sources.stored, done.sources)
    return Outcome(outcome.report, outcome.code, _head(done) + text, "\n".join(filter(None, (refused, note))))


def _head(done: Cure) -> str:
    """The lines before a patch, which `patch` and `git apply` pass over: what it changes besides repeatability."""
    if not done.changing:
        return ""
    told = [f"#   {found.location.file}:{found.location.line} {found.rule}" for found in done.changing]
    return "\n".join(["# The cures of these change the speed, the behaviour or the flags of a program:", *told, ""])


def _note(done: str, cure: Cure) -> str:
    """What was done, what more could be, and what cannot."""
    lines = [done + (f", {cure.unsafe} more with --unsafe-fixes" if cure.unsafe else "")]
    for found, why in cure.left[:_SHOWN]:
        lines.append(f"  not fixed: {found.location.file}:{found.location.line} {found.rule}: {why}")
    if len(cure.left) > _SHOWN:
        lines.append(f"  ... and {len(cure.left) - _SHOWN} more")
    return "\n".join(lines)


def _own_folders(options: Options) -> list[Path]:
    """Where fixes may write: the project, and what the user named."""
    config = configuration.load(start(options.paths), options.config)
    return [config.root, *(p if p.is_dir() else p.absolute().parent for p in options.paths)]
