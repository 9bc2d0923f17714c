"""Where the imports of an entry start."""

from __future__ import annotations

import os
from pathlib import Path

from d9mlint.discover.scripts import METADATA
from d9mlint.discover.settings import Settings

PROJECT_MARKERS = (*METADATA, "setup.py", "requirements.txt")


def import_roots(entry: Path, config: Settings) -> tuple[Path, ...]:
    """The folders that absolute imports of ``entry`` may start from, in the order in which they are tried.

    The script's own folder (that of the file a link leads to, as Python does); folders above it in which a package
    begins or a project is described; the repository's; the ``src`` of each of these; the configured ones. Relative to
    the working directory when ``entry`` is, else absolute.
    """
    target = os.path.realpath(entry) if entry.is_symlink() else os.path.abspath(entry)  # noqa: PTH100
    own = Path(target).parent
    above = _projects_above(own, config)
    bases = (own, *above)
    sources = [base / "src" for base in bases if os.path.isdir(base / "src")]  # noqa: PTH112
    roots = dict.fromkeys((*bases, *sources, *config.roots))
    if entry.is_absolute():
        return tuple(roots)
    return tuple(dict.fromkeys(Path(os.path.relpath(root)) for root in roots))


def _projects_above(own: Path, config: Settings) -> list[Path]:
    """The folders above ``own`` that look like import roots, nearest first, and at last the repository root."""
    lineage = (own, *own.parents)
    git = next((folder for folder in lineage if _has(folder, ".git")), None)
    home = config.root if config.root in lineage else None
    stop = min((folder for folder in (git, home) if folder), key=lambda folder: len(folder.parts), default=None)
    found: list[Path] = []
    packaged = False
    for folder in lineage:
        is_package = _has(folder, "__init__.py")
        ends_chain = packaged and not is_package
        if ends_chain or folder in (git, home) or (stop is not None and _has(folder, *PROJECT_MARKERS)):
            found.append(folder)
        packaged = is_package
        if folder == stop or (stop is None and not is_package):
            break
    return [folder for folder in found if folder != own]


def _has(folder: Path, *names: str) -> bool:
    return any(os.path.lexists(f"{folder}/{name}") for name in names)
