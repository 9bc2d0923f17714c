"""What ``d9mlint check`` does besides checking: curing what it finds, or showing what that would change."""

from __future__ import annotations

from pathlib import Path

from d9mlint import config as configuration
from d9mlint.app.options import Options, Outcome, start
from d9mlint.app.programs import checked, tree
from d9mlint.model import Report, Unchecked, UsageError
from d9mlint.model.evidence import CONFIRMED


def check(options: Options) -> Outcome:
    """Checks Python programs; with ``fix`` cures them first, with ``diff`` shows what that would change.

    Raises:
        UsageError, ConfigError, CatalogueError: exit code 2, with a text that names what is wrong.
    """
    if CONFIRMED in (options.fail_on or "").split(",") and not options.evidence:
        raise UsageError("--fail-on confirmed needs --evidence FILE")
    if options.fix and options.diff:
        raise UsageError("--fix and --diff exclude each other")
    if options.fix:
        return _fixed(options)
    outcome = checked(options)
    return _with_diff(options, outcome) if options.diff else outcome


def _fixed(options: Options) -> Outcome:
    """Writes the fixes, then checks what is there now."""
    from d9mlint import fix

    before = checked(options._replace(write_baseline=None)).report
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
    after = checked(options)
    unchecked = {*after.report.unchecked, *(Unchecked(path, f"not fixed: {why}") for path, why in refused.items())}
    told = after.report._replace(unchecked=tuple(sorted(unchecked)))
    return Outcome(told, 3 if unchecked else after.code, note=f"fixed {fixed} finding{'' if fixed == 1 else 's'}")


def _with_diff(options: Options, outcome: Outcome) -> Outcome:
    from d9mlint import fix

    sources = _fixable(options, outcome.report)
    done = fix.apply(outcome.report.findings, sources)
    note = "\n".join(f"{path}: not fixed: {why}" for path, why in done.refused)
    return Outcome(outcome.report, outcome.code, fix.unified(sources, done.sources), note)


def _fixable(options: Options, found: Report) -> dict[str, bytes]:
    """The files that fixes of the report's findings would change."""
    from d9mlint.python.source.reading import CannotRead, disk_reader

    cwd = Path.cwd()
    read = disk_reader(tree(options, configuration.load(start(options.paths), options.config)), cwd)
    sources: dict[str, bytes] = {}
    for path in sorted({e.location.path for f in found.findings for x in f.fixes if x.safe for e in x.edits}):
        try:
            data = read(path)
        except CannotRead:
            continue
        if data is not None:
            sources[path] = data
    return sources


def _own_folders(options: Options) -> list[Path]:
    """Where fixes may write: the project, and what the user named."""
    config = configuration.load(start(options.paths), options.config)
    return [config.root, *(p if p.is_dir() else p.absolute().parent for p in options.paths)]
