"""``d9mlint kernels --draft-spec``: a specification of the kernels that can vary, for a person to complete."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from d9mlint.app.kernels.scan import KernelOutcome
from d9mlint.app.options import shown
from d9mlint.catalogue import launchfile
from d9mlint.kernels import tree
from d9mlint.kernels.drafting import drafts
from d9mlint.kernels.listing import listing
from d9mlint.model import KernelReport, KernelScan, UsageError
from d9mlint.report.words import count
from d9mlint.writing import replaced


def written(paths: Sequence[Path], outcome: KernelOutcome, to: Path) -> str:
    """Writes the specification, its sources relative to its folder; returns what to say about it.

    Raises:
        UsageError: what is scanned is not one folder, or the file cannot be written.
    """
    if len(paths) != 1 or not paths[0].is_dir():
        raise UsageError("--draft-spec wants one folder")
    prefix = shown(paths[0], Path.cwd())
    prefix = f"{prefix}/" if prefix else ""
    found = drafts(_inside(outcome.report, prefix), tree.repository(listing(paths[0])))
    folder = to.absolute().parent
    listed = []
    for launch, notes in found:
        source = os.path.relpath(Path.cwd() / (prefix + launch.source), folder).replace(os.sep, "/")
        listed.append((launch._replace(source=source), dict(notes)))
    try:
        replaced(to, launchfile.text(listed).encode("utf-8"))
    except OSError as error:
        raise UsageError(f"cannot write {to}: {error.strerror}") from error
    return f"drafted {count(len(listed), 'kernel')} in {to}: go through the guesses before you run it"


def _inside(report: KernelReport, prefix: str) -> KernelScan:
    """The sites of a scan that nobody has silenced, their paths relative to the folder."""
    kept = (site for site in report.scan.sites if site.location not in report.silenced)
    moved = (s._replace(location=s.location._replace(path=s.location.path.removeprefix(prefix))) for s in kept)
    return KernelScan(0, tuple(moved), ())
