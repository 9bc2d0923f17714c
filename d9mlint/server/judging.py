"""From the files that are open to reports about the programs that reach them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from pygls import uris

from d9mlint.app.fixing import patches
from d9mlint.app.options import Options, Outcome, shown
from d9mlint.app.programs import checked
from d9mlint.model import Finding, Report, UsageError
from d9mlint.server.settings import Settings

Watch = Callable[[int, int, str], None]


class Open(NamedTuple):
    """What an editor has open; it does not change while it is judged."""

    folders: tuple[Path, ...]
    """Those of the workspace."""
    files: tuple[Path, ...]
    buffers: Mapping[Path, str]
    """Texts of files that are not what is on disk."""
    settings: Settings


class Run(NamedTuple):
    """One check: its options, the contents that it saw instead of those on disk, and what it found."""

    options: Options
    overlay: Mapping[str, bytes]
    report: Report


def judge(now: Open, watch: Watch) -> tuple[Run, ...]:
    """A check for each folder of the workspace that has a file open; a file outside of all is a program by itself.

    Raises:
        ConfigError, CatalogueError, UsageError: as ``d9mlint check``.
    """
    overlay = contents(now)
    return tuple(
        Run(options, overlay, _checked(options._replace(watch=watch), overlay).report) for options in _runs(now)
    )


def contents(now: Open) -> dict[str, bytes]:
    """The unsaved texts, by path as reports show it."""
    cwd = Path.cwd()
    return {shown(path, cwd): text.encode("utf-8", "surrogatepass") for path, text in sorted(now.buffers.items())}


def _runs(now: Open) -> Iterable[Options]:
    options = now.settings.options()
    homes: dict[Path, list[Path]] = {}
    for path in sorted(now.files):
        home = _home(path, now.folders)
        homes.setdefault(home or path, []).append(path)
    for place, files in sorted(homes.items()):
        yield options._replace(paths=(place,), concerning=() if files == [place] else tuple(files))


def _home(path: Path, folders: Sequence[Path]) -> Path | None:
    """The folder of the workspace that holds a file: of several the innermost."""
    holding = [folder for folder in folders if path.is_relative_to(folder)]
    return max(holding, key=lambda folder: len(folder.parts), default=None)


def _checked(options: Options, overlay: Mapping[str, bytes]) -> Outcome:
    """The check; a folder or file in which there is nothing to check has no findings."""
    place = options.paths[0]
    try:
        return checked(options, overlay)
    except UsageError as error:
        if str(error).startswith("nothing to check") or not place.exists():
            return Outcome(Report((), {}), 0)
        raise


def cured(run: Run, fingerprints: frozenset[str], unsafe: bool) -> tuple[Mapping[str, bytes], Mapping[str, bytes], str]:
    """The files of a run before and after a patch that is proven to cure these findings, and why some are left."""

    def wanted(found: Finding) -> bool:
        return found.fingerprint in fingerprints

    options = run.options._replace(unsafe_fixes=unsafe, watch=None)
    _, cure, sources = patches(options, wanted, run.overlay)
    reasons = [why for found, why in cure.left if wanted(found)] + [why for _, why in cure.refused]
    return {path: sources.stored[path] for path in cure.sources}, cure.sources, "; ".join(dict.fromkeys(reasons))


def absolute(path: str) -> Path:
    """A path of a report, as the editor knows it."""
    return Path(os.path.normpath(Path.cwd() / path))


def path_of(uri: str) -> Path | None:
    """The file of a document; None where it is none (a cell, a buffer without a name)."""
    if not uri.startswith("file:") or "#" in uri:
        return None
    path = uris.to_fs_path(uri)
    return Path(os.path.normpath(path)) if path else None


def stored(path: Path) -> str | None:
    """The text of a file on disk; None where there is none, or none in UTF-8."""
    try:
        return path.read_bytes().decode("utf-8")
    except (OSError, UnicodeDecodeError):
        return None
