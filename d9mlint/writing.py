"""Files that are written whole or not at all: who reads one meanwhile sees the old content."""

from __future__ import annotations

import os
from pathlib import Path

PRIVATE = 0o600
"""The mode of what only the user is to read and write."""


def replaced(path: Path, data: bytes, mode: int | None = None) -> None:
    """Puts ``data`` in the place of a file; a link stays a link, and a file that was there keeps its mode.

    ``mode`` is that of a file which was not there (default: what the user's mask leaves). A pipe or a device is
    written as it is.

    Raises:
        OSError: it cannot be written; what stood there before still does.
    """
    real = os.path.realpath(path)
    if os.path.exists(real) and not os.path.isfile(real):  # noqa: PTH110, PTH113
        path.write_bytes(data)
        return
    kept = os.stat(real).st_mode & 0o7777 if os.path.exists(real) else None  # noqa: PTH110, PTH116
    folder, name = os.path.split(real)
    draft = os.path.join(folder, f".{name}.{os.urandom(4).hex()}.part")  # noqa: PTH118
    descriptor = os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o666 if mode is None else mode)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
        if kept is not None:
            os.chmod(draft, kept)  # noqa: PTH101
        os.replace(draft, real)  # noqa: PTH105
    except BaseException:
        os.unlink(draft)  # noqa: PTH108
        raise
