"""The libraries of an installed package, a folder, a wheel or one file; nothing is imported from them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.metadata import Distribution, distributions
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from d9mlint.model import UsageError

_LIBRARY = re.compile(r".+\.(?:so(?:\.\d+)*|cubin|fatbin)\Z")
_PATHS = "import json, sys; print(json.dumps([path for path in sys.path if path]))"
_PATIENCE = 60.0
"""Seconds that an interpreter may take to tell where it looks for packages."""
_LARGEST = 16 << 30
"""Bytes of a library in a wheel."""


class Build(NamedTuple):
    """What is to be scanned: its libraries as (path as shown, file)."""

    title: str
    """``tensorflow 2.21.0``, or the path as given."""
    package: str
    version: str
    """Both empty where the libraries are not known to be of a package."""
    libraries: tuple[tuple[str, Path], ...]
    archive: Path | None = None
    """The wheel in which the libraries lie (their files are then names in it)."""


def locate(name: str, python: str | None = None) -> Build:
    """The build that ``name`` means: a path if there is one, else a package (of ``python``'s environment).

    Raises:
        UsageError: there is no such path or package, the interpreter cannot be run, the wheel is none.
    """
    path = Path(name)
    if os.path.lexists(path):
        if path.is_dir():
            return Build(name, "", "", tuple(_below(path)))
        if path.suffix == ".whl":
            return _wheel(path)
        if path.is_file():
            return Build(name, "", "", ((path.as_posix(), path),))
        raise UsageError(f"neither a file nor a folder: {name}")
    if "/" in name or os.sep in name or not re.fullmatch(r"[A-Za-z0-9][\w.-]*", name):
        raise UsageError(f"path not found: {name}")
    return _package(name, python)


def _below(folder: Path) -> Iterator[tuple[str, Path]]:
    for above, folders, files in os.walk(folder):
        folders.sort()
        for file in sorted(files):
            path = Path(above, file)
            if _LIBRARY.match(file) and path.is_file() and not path.is_symlink():
                yield path.as_posix(), path


def _package(name: str, python: str | None) -> Build:
    where = "" if python is None else f" of {python}"
    every = list(distributions() if python is None else distributions(path=_import_paths(python)))
    found = next((one for one in every if _normal(one.metadata["Name"]) == _normal(name)), None)
    found = found or next((one for one in every if _provides(one, name)), None)
    if found is None:
        raise UsageError(f"no package is called {name!r} in the environment{where}, and there is no such path")
    files = [file for file in found.files or () if _LIBRARY.match(file.name)]
    libraries = [(file.as_posix(), Path(str(found.locate_file(file)))) for file in sorted(set(files))]
    package = found.metadata["Name"]
    kept = tuple((shown, path) for shown, path in libraries if path.is_file() and not path.is_symlink())
    return Build(f"{package} {found.version}", _normal(package), found.version, kept)


def _normal(name: str | None) -> str:
    return re.sub(r"[-_.]+", "-", name or "").lower()


def _provides(one: Distribution, name: str) -> bool:
    """Whether a package with libraries installs the module ``name``: ``tensorflow`` comes in several packages."""
    return any(file.parts[0] == name and _LIBRARY.match(file.name) for file in one.files or () if len(file.parts) > 1)


def _import_paths(python: str) -> list[str]:
    """Where an interpreter looks for packages; it is run for that."""
    try:
        done = subprocess.run(
            [python, "-c", _PATHS], capture_output=True, timeout=_PATIENCE, check=True, stdin=subprocess.DEVNULL
        )
        found = json.loads(done.stdout.decode("utf-8").splitlines()[-1])
    except (OSError, subprocess.SubprocessError) as error:
        reason = getattr(error, "strerror", None) or type(error).__name__
        raise UsageError(f"cannot run {python}: {reason}") from None
    except (ValueError, IndexError):
        raise UsageError(f"{python} does not tell where its packages are: is it a Python interpreter?") from None
    return [path for path in found if isinstance(path, str)] if isinstance(found, list) else []


def _wheel(path: Path) -> Build:
    try:
        with zipfile.ZipFile(path) as archive:
            names = sorted(name for name in archive.namelist() if _LIBRARY.match(PurePosixPath(name).name))
    except (OSError, zipfile.BadZipFile) as error:
        raise UsageError(f"{path} is no wheel that can be read: {error}") from None
    package, _, rest = path.name.partition("-")
    version = rest.partition("-")[0]
    return Build(f"{package} {version}", _normal(package), version, tuple((n, Path(n)) for n in names), path)


@contextmanager
def opened(build: Build, file: Path) -> Iterator[Path]:
    """A library as a file of its own; one in a wheel is unpacked for as long as it is needed.

    Raises:
        OSError, ValueError: it cannot be read or unpacked.
    """
    if build.archive is None:
        yield file
        return
    with tempfile.TemporaryDirectory(prefix="d9mlint-") as folder:
        target = Path(folder, "library")
        try:
            with zipfile.ZipFile(build.archive) as archive:
                name = file.as_posix()
                if archive.getinfo(name).file_size > _LARGEST:
                    raise ValueError(f"larger than {_LARGEST:,} bytes")
                with archive.open(name) as source, target.open("wb") as copy:
                    while block := source.read(1 << 22):
                        copy.write(block)
        except (zipfile.BadZipFile, KeyError, NotImplementedError, RuntimeError, EOFError) as error:
            raise ValueError(f"cannot be unpacked: {error}") from None
        yield target
