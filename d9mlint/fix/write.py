"""New sources to disk: the old file or the new one, never half of one."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path


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
    temporary = ""
    try:
        if not os.access(real, os.W_OK):
            raise CannotWrite("it is read-only")
        if before is not None and real.read_bytes() != before:
            raise CannotWrite("it has changed in the meantime")
        mode = real.stat().st_mode & 0o7777
        handle, temporary = tempfile.mkstemp(prefix=f".{real.name}.", dir=real.parent)
        with os.fdopen(handle, "wb") as file:
            file.write(data)
        Path(temporary).chmod(mode)
        Path(temporary).replace(real)
    except OSError as error:
        if temporary:
            Path(temporary).unlink(missing_ok=True)
        raise CannotWrite(f"cannot be written: {error.strerror or error}") from error
