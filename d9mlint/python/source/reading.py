"""The bytes of files. Linting reads untrusted code: no path outside the given folder is opened, no giant file read."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

MAX_BYTES = 4_000_000
"""Largest Python source that is parsed; bigger ones are data in disguise."""

MAX_NOTEBOOK = 50_000_000
"""The same for notebooks: the pictures that they hold make them large."""
NOTEBOOK = ".ipynb"

Reader = Callable[[str], "bytes | None"]
"""Bytes of the file with this ``/``-separated path, None where there is none (or where it leads out of the tree).

Of a path that ends in ``/``: what may be modules and packages in that folder, as `listing` tells them.
"""


class CannotRead(Exception):
    """A file that cannot be checked; the text is the reason."""


def as_python(path: str, data: bytes) -> bytes:
    """What is read of a file: of a notebook its cells as one Python text.

    Raises:
        CannotRead: it is called a notebook and is none.
    """
    if not path.endswith(NOTEBOOK):
        return data
    from d9mlint.python.source import notebooks

    return notebooks.python(data)


def listing(names: Iterable[str]) -> bytes:
    """The modules and folders (whose names end in ``/``) among names, without their endings, one a line, in order."""
    kept = {name.removesuffix(".py").rstrip("/") for name in names if name.endswith((".py", "/"))}
    return "\n".join(sorted(name for name in kept if name.isidentifier())).encode("utf-8", "surrogateescape")


def text_reader(data: Mapping[str, bytes]) -> Reader:
    """A reader of files that are given."""

    def read(path: str) -> bytes | None:
        if not path.endswith("/"):
            return data.get(path)
        start = "" if path == "./" else path
        below = [name.removeprefix(start) for name in data if name.startswith(start)]
        return listing(name[: name.index("/") + 1] if "/" in name else name for name in below) if below else None

    return read


def remembering(read: Reader) -> Reader:
    """The same reader; what it found is read only once."""
    known: dict[str, bytes | None] = {}

    def again(path: str) -> bytes | None:
        if path not in known:
            known[path] = read(path)
        return known[path]

    return again


def overlaid(read: Reader, overlay: Mapping[str, bytes]) -> Reader:
    """A reader that has other contents for some files: those that a patch would give them."""
    return (lambda path: as_python(path, overlay[path]) if path in overlay else read(path)) if overlay else read


def disk_reader(top: Path, cwd: Path) -> Reader:
    """A reader of what Python is in real files; otherwise as `content_reader`."""
    content = content_reader(top, cwd)

    def read(path: str) -> bytes | None:
        data = content(path)
        return None if data is None else as_python(path, data)

    return read


def content_reader(top: Path, cwd: Path) -> Reader:
    """A reader of real files below ``top``; paths are relative to ``cwd``. No link that leaves ``top`` is followed."""
    inside = os.path.join(top.resolve(), "")  # noqa: PTH118
    known: dict[str, bool] = {}

    def is_inside(path: str) -> bool:
        return os.path.join(os.path.realpath(path), "").startswith(inside)  # noqa: PTH118

    def read(path: str) -> bytes | None:
        # os instead of pathlib: a tree asks for thousands of files, most of which are not there.
        real = os.path.join(cwd, path)  # noqa: PTH118
        parent = os.path.dirname(real)  # noqa: PTH120
        try:
            if path.endswith("/"):
                return _listed(real) if is_inside(real) else None
            status = os.lstat(real)  # most are not there, which is soon told
            if parent not in known:
                known[parent] = is_inside(parent)
            if not known[parent]:
                return None
            if stat.S_ISLNK(status.st_mode):
                if not is_inside(real):
                    return None
                status = os.stat(real)  # noqa: PTH116
            if not stat.S_ISREG(status.st_mode):
                return None
            most = MAX_NOTEBOOK if path.endswith(NOTEBOOK) else MAX_BYTES
            if status.st_size > most:
                raise CannotRead(f"larger than {most // 1_000_000} MB")
            with open(real, "rb") as file:  # noqa: PTH123
                return file.read()
        except (FileNotFoundError, NotADirectoryError, ValueError):
            return None
        except OSError as error:
            if not is_inside(parent):
                return None
            raise CannotRead(f"cannot be read: {error.strerror or error}") from error

    return read


def _listed(folder: str) -> bytes:
    with os.scandir(folder) as entries:
        return listing(entry.name + "/" * entry.is_dir() for entry in entries)
