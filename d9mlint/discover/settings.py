"""What discovery needs to know of the configuration, and of files."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Protocol

from d9mlint.model import Unchecked


class Settings(Protocol):
    """The part of the configuration that discovery needs."""

    @property
    def root(self) -> Path: ...
    @property
    def origin(self) -> str: ...
    @property
    def exclude(self) -> tuple[str, ...]: ...
    @property
    def entrypoints(self) -> tuple[Path, ...]: ...
    @property
    def roots(self) -> tuple[Path, ...]: ...


def is_file(path: str | Path) -> bool:
    """Whether a regular file is there; links are followed."""
    return os.path.isfile(path)  # noqa: PTH113


def unreadable(path: Path, error: OSError) -> Unchecked:
    """A path that cannot be read, and why."""
    return Unchecked(path.as_posix(), f"cannot be read: {error.strerror or type(error).__name__}")
