"""What ``d9mlint check`` does besides checking: curing what it finds, or showing what that would change.

A patch is proven before it is written: the programs are checked again, in memory, with the patched files. What does not
remove its finding, or brings a new one, is tried in the other ways there are and else left out; the report says so.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from d9mlint import config as configuration
from d9mlint.app.causes import ALSO
from d9mlint.app.options import Options, Outcome, start
from d9mlint.app.programs import checked
from d9mlint.model import Finding, Report, Unchecked, UsageError
from d9mlint.model.evidence import CONFIRMED
from d9mlint.report.words import count

if TYPE_CHECKING:
    from d9mlint.app.sources import Sources
    from d9mlint.fix.patches import Part

_TRIES = 12
"""Checks of patched programs at most; what is not proven by then is not written."""
_SHOWN = 10


class _Ways(NamedTuple):
    """How a file is patched: with unsafe parts or without, behind all imports or before those that may draw."""

    unsafe: bool = True
    early: bool = False
    none: bool = False

    def next(self) -> _Ways:
        """The next way: earlier; then safe parts alone; then nothing."""
        if not self.early:
            return self._replace(early=True)
        return _Ways(unsafe=False) if self.unsafe else self._replace(none=True)


class Cure(NamedTuple):
    """Patched files, what they cure, and what is left with the reason."""

    sources: Mapping[str, bytes]
    cured: tuple[Finding, ...]
    left: tuple[tuple[Finding, str], ...]
    unsafe: int
    """Findings for which there is only a patch that changes the speed or behaviour of the program."""
    refused: tuple[tuple[str, str], ...]


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


def cured(options: Options) -> tuple[Report, Report]:
    """What is found, and what would be left after the patches, without writing any."""
    before, done = patches(options)
    return before, checked(options._replace(write_baseline=None), done.sources).report if done.sources else before


def patches(options: Options) -> tuple[Report, Cure]:
    """What is found, and the patches that are proven to cure it, none of them written."""
    from d9mlint.app.sources import read

    before = checked(options._replace(write_baseline=None)).report
    return before, _cure(options, before, read(options, before))


def cure_of(
    options: Options, wanted: Callable[[Finding], bool], overlay: Mapping[str, bytes]
) -> tuple[Cure, Mapping[str, bytes]]:
    """The patch that is proven to cure the findings that are ``wanted``, and the contents that it is a patch of.

    ``overlay`` are contents that files have in an editor.
    """
    from d9mlint.app.sources import read

    before = checked(options, overlay).report
    sources = read(options, before, overlay)
    return _cure(options, before, sources, overlay, wanted), sources.stored


def _fixed(options: Options) -> Outcome:
    """Writes the patches, then checks what is there now."""
    from d9mlint import fix
    from d9mlint.app.sources import read

    before = checked(options._replace(write_baseline=None)).report
    cwd = Path.cwd()
    sources = read(options, before)
    done = _cure(options, before, sources)
    refused = dict(done.refused)
    for path, data in sorted(done.sources.items()):
        try:
            fix.write(cwd / path, data, _own_folders(options), sources.stored[path])
        except fix.CannotWrite as error:
            refused[path] = str(error)
    fixed = sum(not refused.keys() & _files(found, done.sources) for found in done.cured)
    after = checked(options)
    unchecked = {*after.report.unchecked, *(Unchecked(path, f"not fixed: {why}") for path, why in refused.items())}
    told = after.report._replace(unchecked=tuple(sorted(unchecked)))
    return Outcome(told, 3 if unchecked else after.code, note=_note(f"fixed {count(fixed, 'finding')}", done))


def _with_diff(options: Options, outcome: Outcome) -> Outcome:
    from d9mlint import fix
    from d9mlint.app.sources import read

    sources = read(options, outcome.report)
    done = _cure(options, outcome.report, sources)
    refused = "\n".join(f"{path}: not fixed: {why}" for path, why in done.refused)
    note = _note(f"would fix {count(len(done.cured), 'finding')}", done) if done.cured or done.left else ""
    text = fix.unified(sources.stored, done.sources)
    return Outcome(outcome.report, outcome.code, text, "\n".join(filter(None, (refused, note))))


def _note(done: str, cure: Cure) -> str:
    """What was done, what more could be, and what cannot."""
    lines = [done + (f", {cure.unsafe} more with --unsafe-fixes" if cure.unsafe else "")]
    for found, why in cure.left[:_SHOWN]:
        lines.append(f"  not fixed: {found.location.file}:{found.location.line} {found.rule}: {why}")
    if len(cure.left) > _SHOWN:
        lines.append(f"  ... and {len(cure.left) - _SHOWN} more")
    return "\n".join(lines)


def _files(found: Finding, sources: Iterable[str]) -> set[str]:
    """The patched files that a finding may be cured by."""
    return {*found.entries, found.location.path}.intersection(sources)


# -- the patch -----------------------------------------------------------------------------------------------------


def _cure(
    options: Options, before: Report, sources: Sources, overlay: Mapping[str, bytes] = MappingProxyType({}),
    wanted: Callable[[Finding], bool] = lambda found: True,
) -> Cure:  # fmt: skip
    """The patched files that are proven to cure: found by trying the ways that there are for each file."""
    from d9mlint.app.sources import patched as with_parts
    from d9mlint.app.sources import plan

    planned = plan(before._replace(findings=tuple(filter(wanted, before.findings))), sources)
    offered = [part for part in planned.parts if part.safe or options.unsafe_fixes]
    left = dict(planned.without)
    ways = {part.path: _Ways(unsafe=options.unsafe_fixes) for part in offered}
    patched: dict[str, bytes] = {}
    refused: tuple[tuple[str, str], ...] = ()
    parts: list[Part] = []
    for _ in range(_TRIES):
        parts = [p for p in offered if not ways[p.path].none and (p.safe or ways[p.path].unsafe)]
        patched, refused = with_parts(parts, sources, [path for path, way in ways.items() if way.early])
        if not patched:
            break
        report = checked(options._replace(write_baseline=None), {**overlay, **patched}).report
        failing = _failing(parts, before, report, patched)
        if not failing:
            break
        for path in failing:
            ways[path] = ways[path].next()
    else:
        patched = {}
    removed = tuple(dict.fromkeys(part.finding for part in parts if part.path in patched))
    for part in offered:
        if part.finding not in removed and part.finding not in left:
            left[part.finding] = "a patch did not remove it, or brought another finding"
    only_unsafe = {p.finding for p in planned.parts if not p.safe}.difference(removed, left)
    return Cure(patched, removed, tuple(left.items()), len(only_unsafe), refused)


def _failing(parts: Sequence[Part], before: Report, after: Report, patched: Iterable[str]) -> set[str]:
    """The patched files whose findings are still there, or whose programs have findings that were not there."""
    known, now = _told(before), _told(after)
    fresh = [one for one in after.findings if one.severity != "info" and _key(one) not in known]
    failing = {path for one in fresh for path in _files(one, patched)}
    still = {(_slug(one), entry) for one in after.findings for entry in (*one.entries, one.location.path)}
    for part in parts:
        key = _key(part.finding)
        if (part.statements and (_slug(part.finding), part.path) in still) or (part.edits and now[key] >= known[key]):
            failing.add(part.path)
    return failing.intersection(patched)


def _told(report: Report) -> Counter[tuple[str, str, str]]:
    """How often a rule says a text of a file, as lines move: findings, and places of a cause that were such."""
    told = [_key(found) for found in report.findings]
    more = [(one, one.note.partition(" (when ")[0]) for found in report.findings for one in found.related if one.rule]
    return Counter([*told, *((one.rule, one.location.path, _unnumbered(text)) for one, text in more)])


def _key(found: Finding) -> tuple[str, str, str]:
    return found.rule, found.location.path, _unnumbered(found.message.partition(ALSO)[0])


def _slug(found: Finding) -> str:
    return found.cause.rpartition("-")[0]


def _unnumbered(text: str) -> str:
    return re.sub(r"\d+", "#", text)


def _own_folders(options: Options) -> list[Path]:
    """Where fixes may write: the project, and what the user named."""
    config = configuration.load(start(options.paths), options.config)
    return [config.root, *(p if p.is_dir() else p.absolute().parent for p in options.paths)]
