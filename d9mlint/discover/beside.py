"""Files beside the Python ones that may say how programs are started or configured: by their names alone."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from d9mlint.discover.patterns import holds_no_code
from d9mlint.discover.settings import Settings

ENDINGS = (
    ".sh", ".bash", ".zsh", ".ksh", ".csh", ".slurm", ".sbatch", ".job", ".pbs", ".qsub", ".sub", ".mk",
    ".yaml", ".yml", ".json", ".gin", "Dockerfile", "dockerfile", "akefile",
)  # fmt: skip
_BEGINNINGS = ("Dockerfile", "dockerfile")
MOST = 2_000
"""A folder with more such files holds data."""
_NEAR = frozenset(
    {"scripts", "script", "bin", "run", "runs", "launch", "jobs", "slurm", "sbatch", "docker", ".devcontainer"}
    | {"examples", "experiments", "training", "train", "tools", ".github", "workflows"}
)
"""Folders in which launch scripts of a program are looked for that is named by itself."""
_CONFIGS = frozenset(
    {"conf", "confs", "config", "configs", "cfg", "cfgs", "option", "options", "opts", "settings", "hparams", "gin"}
)
"""Folders whose config files, in whatever folders inside, may say what a program is made of."""
_MAX_NEAR = 200
"""Folders that are looked into for them."""
_DEEPEST = 3
"""Folders of config files are looked for so many folders deep, in any folder (``projects/nerf/configs``)."""


def is_beside(name: str) -> bool:
    """Whether a file of this name may start or configure a program."""
    return name.endswith(ENDINGS) or name.startswith(_BEGINNINGS)


def near(paths: Iterable[Path], folders: Sequence[Path], config: Settings) -> list[Path]:
    """Such files in the folders above what was named, and in those folders there that often hold them."""
    found: set[Path] = set()
    seen: set[str] = set()
    starts = dict.fromkeys((path, True) if path in folders else (path.parent, False) for path in paths)
    tops = dict.fromkeys(
        one
        for start, walked in starts  # a folder that was named is walked as a whole
        for one in _above(start, config)
        if not (walked and one == start)
    )
    for top in tops:
        found |= _collected([top], top, seen)
    for top in tops:
        found |= _collected(_config_folders(top), top, seen)
    return sorted(found)


def _collected(stack: list[Path], top: Path, seen: set[str]) -> set[Path]:
    """The files that count in these folders below ``top``, and in those inside whose names say that they hold such."""
    found: set[Path] = set()
    while stack and len(seen) < _MAX_NEAR:
        folder = stack.pop()
        if str(folder) not in seen:
            seen.add(str(folder))
            files, inner = _listed(folder)
            within = not _CONFIGS.isdisjoint(folder.parts[len(top.parts) :])
            found.update(folder / name for name in files)
            stack += [folder / name for name in reversed(inner) if within or name in _NEAR or name in _CONFIGS]
    return found


def _config_folders(top: Path) -> list[Path]:
    """The folders of config files below a folder: not deep, and among a limited number of folders."""
    found: list[Path] = []
    level = [top]
    left = _MAX_NEAR
    for _ in range(_DEEPEST):
        inner = [folder / name for folder in level[:left] for name in _listed(folder)[1] if not holds_no_code(name)]
        left -= len(level)
        found += [folder for folder in inner if folder.name in _CONFIGS]
        level = [folder for folder in inner if folder.name not in _CONFIGS]
        if left <= 0:
            break
    return found[::-1]


def _listed(folder: Path) -> tuple[list[str], list[str]]:
    """The names of the files that count in a folder, and of the folders in it."""
    files: list[str] = []
    folders: list[str] = []
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.name)
                elif is_beside(entry.name) and len(files) <= MOST and entry.is_file(follow_symlinks=False):
                    files.append(entry.name)
    except OSError:  # who cannot be asked starts nothing
        return [], []
    return [] if len(files) > MOST else sorted(files), sorted(folders)


def _above(folder: Path, config: Settings) -> Iterator[Path]:
    """A folder and those above it up to the root of the project, spelled as the user spelled it."""
    root = os.path.realpath(config.root)
    while True:
        yield folder
        real = os.path.realpath(folder)
        if real == root or not real.startswith(root.rstrip("/") + "/"):
            return
        folder = folder.parent if folder.name not in ("", "..") else folder / ".."
