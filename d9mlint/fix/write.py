"""New sources to disk: the old file or the new one, never half of one."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from d9mlint.writing import replaced


class CannotWrite(Exception):
    """A file that stays as it is; the text is the reason."""


def write(path: Path, data: bytes, within: Sequence[Path], before: bytes | None = None) -> None:
    """Replaces the content of ``path``, keeping its mode; a link stays a link.

    Raises:
        CannotWrite: the file lies (or its link leads) outside of every folder of ``within``, cannot be written, or no
            longer holds what it did ``before``.
    """
    real = Path(os.path.realpath(path))
    if not any(real.is_relative_to(os.path.realpath(folder)) for folder in within):
        raise CannotWrite("it leads out of the tree")
    try:
        if not os.access(real, os.W_OK):
            raise CannotWrite("it is read-only")
        if before is not None and real.read_bytes() != before:
            raise CannotWrite("it has changed in the meantime")
        replaced(real, data)
    except OSError as error:
        raise CannotWrite(f"cannot be written: {error.strerror or error}") from error
