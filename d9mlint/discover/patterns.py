"""Ignore files and ``exclude``: which paths are left out."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from d9mlint.discover.settings import Settings, is_file
from d9mlint.discover.tracked import Tracked, repository_of
from d9mlint.model import ConfigError

_SKIPPED = frozenset(
    {
        *(".git", ".hg", ".svn", ".bzr", ".jj", ".tox", ".nox", ".eggs", ".venv", "venv", ".direnv", "site-packages"),
        *("__pycache__", "__pypackages__", "node_modules", ".ipynb_checkpoints", ".hypothesis"),
        *(".mypy_cache", ".pytest_cache", ".ruff_cache", ".pytype"),
    }
)
"""Folders that hold no code of the user; a ``!name/`` in ``exclude`` has them checked all the same."""
SKIPPED_UNLESS_PACKAGES = frozenset({"build", "dist"})
"""Left out like these, but not when they hold an ``__init__.py``: then they are the user's own packages."""
_SKIPPED_ENDINGS = (".egg-info", ".egg", ".dist-info")


def holds_no_code(name: str) -> bool:
    """Whether a folder's name says that it holds no code of the user."""
    return name in _SKIPPED or name.endswith(_SKIPPED_ENDINGS)


class Patterns(NamedTuple):
    """gitignore patterns and the folder (an absolute, real path that ends in ``/``) that they are relative to."""

    base: str
    spec: Any

    def verdict(self, path: str) -> bool | None:
        """True: excluded; False: included by ``!``; None: not mentioned. A folder's ``path`` ends in ``/``."""
        if not path.startswith(self.base) or path == self.base:
            return None
        include: bool | None = self.spec.check_file(path[len(self.base) :]).include
        return include


def with_own(folder: Path, real: str, chain: tuple[Patterns, ...]) -> tuple[Patterns, ...]:
    """The patterns that hold in a folder: those from above and its own."""
    file = folder / ".gitignore"
    return (Patterns(real, compiled(read_lines(file))), *chain) if is_file(file) else chain


def excluded(path: str, patterns: Iterable[Patterns]) -> bool:
    """The first patterns that mention ``path`` decide."""
    return _verdict(path, patterns) is True


def _verdict(path: str, patterns: Iterable[Patterns]) -> bool | None:
    return next((found for one in patterns if (found := one.verdict(path)) is not None), None)


def ignored(path: str, always: Iterable[Patterns], chain: Iterable[Patterns], tracked: Tracked) -> bool:
    """Whether the configuration leaves a path out, or the nearest ignore file and git does not track it all the same.

    Outside of a repository of git its ignore files mean nothing: of an unpacked archive all is wanted.
    """
    verdict = _verdict(path, always)
    if verdict is not None:
        return verdict
    return tracked.repository is not None and excluded(path, chain) and not tracked.holds(path)


def outer_patterns(base: str, config: Settings) -> tuple[tuple[Patterns, ...], tuple[Patterns, ...]]:
    """The configuration's patterns, and those of the .gitignore files above ``base`` (nearest first).

    Patterns that exclude ``base`` itself do not count: the user has named that folder.
    """
    top = Path(base)
    lines = _compile_strictly(config) if config.exclude else None
    home = os.path.realpath(config.root).rstrip("/") + "/"
    always = (Patterns(home if home.startswith(base) or base.startswith(home) else base, lines),) if lines else ()
    repository = repository_of(top) or top
    outer = []
    for folder in top.parents if repository != top else ():
        if is_file(folder / ".gitignore"):
            outer.append(Patterns(str(folder).rstrip("/") + "/", compiled(read_lines(folder / ".gitignore"))))
        if folder == repository:
            break
    parts = [f"{folder}/" for folder in (top, *top.parents) if len(folder.parts) > 1]
    if any(excluded(part, outer) for part in parts):
        outer = []
    if any(excluded(part, always) for part in parts):
        always = ()
    return always, tuple(outer)


def read_lines(file: Path) -> list[str]:
    """The lines of an ignore file."""
    return file.read_text("utf-8", "replace").split("\n")


def compiled(lines: Iterable[str]) -> Any:
    """The patterns of ``lines``; like git, passes over those that mean nothing."""
    import warnings

    from pathspec import GitIgnoreSpec

    # `a/**` leaves `a/` itself in, which only pathspec sees differently; where excluded folders are not entered, `a/*`
    # says the same.
    lines = [line[:-1] if line.endswith("/**") and line[0] != "!" else line for line in map(_trimmed, lines)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)  # `[[` in a pattern
        try:
            return GitIgnoreSpec.from_lines(lines)
        except (ValueError, re.error):
            return GitIgnoreSpec.from_lines([line for line in lines if _error(line) is None])


def _trimmed(line: str) -> str:
    return line.rstrip("\r\n") if line.rstrip().endswith("\\") else line.rstrip()


def _error(line: str) -> Exception | None:
    from pathspec import GitIgnoreSpec

    try:
        GitIgnoreSpec.from_lines([line])
    except (ValueError, re.error) as error:
        return error
    return None


def _compile_strictly(config: Settings) -> Any:
    for pattern in config.exclude:
        if (error := _error(pattern)) is not None:
            raise ConfigError(f"{config.origin} exclude: bad pattern {pattern!r}: {error}") from error
    return compiled(config.exclude)
