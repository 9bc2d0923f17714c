"""What to check: the Python files under the given paths, the entry scripts among them, and where imports start."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from d9mlint.discover.beside import MOST, is_beside, near
from d9mlint.discover.patterns import Patterns, compiled, ignored, outer_patterns, read_lines, with_own
from d9mlint.discover.percent import is_percent
from d9mlint.discover.roots import PROJECT_MARKERS, added_roots, import_roots
from d9mlint.discover.scripts import METADATA, console_scripts
from d9mlint.discover.settings import Settings, is_file, unreadable
from d9mlint.discover.tracked import Tracked
from d9mlint.model import Unchecked, UsageError

__all__ = [
    "KERNEL_SOURCES", "PROJECT_MARKERS", "SKIPPED", "SKIPPED_ENDINGS", "Discovery", "added_roots", "discover",
    "has_main_guard", "import_roots", "left_out", "may_hold_kernels",
]  # fmt: skip

PYTHON = (".py", ".ipynb")
"""Scripts, modules and notebooks."""
MAX_FILES = 50_000
"""More Python files than in any training repository: beyond it a wrong folder was named."""
SKIPPED = frozenset(
    {
        *(".git", ".hg", ".svn", ".bzr", ".jj", ".tox", ".nox", ".eggs", ".venv", "venv", ".direnv", "site-packages"),
        *("__pycache__", "__pypackages__", "node_modules", ".ipynb_checkpoints", ".hypothesis"),
        *(".mypy_cache", ".pytest_cache", ".ruff_cache", ".pytype"),
    }
)
"""Folders that hold no code of the user; a ``!name/`` in ``exclude`` has them checked all the same."""
SKIPPED_UNLESS_PACKAGES = frozenset({"build", "dist"})
"""Left out like ``SKIPPED``, but not when they hold an ``__init__.py``: then they are the user's own packages."""
SKIPPED_ENDINGS = (".egg-info", ".egg", ".dist-info")
KERNEL_SOURCES = (
    ".cu", ".cuh", ".cc", ".h", ".hpp", ".cpp", ".cxx", ".c", ".hh", ".hxx", ".inc", ".inl", ".tpp", ".hip", ".mm",
    ".ptx",
)  # fmt: skip
"""What a C++, CUDA or HIP source is called."""
_KERNEL_LANGUAGES = (
    b"triton", b"numba", b" cupy", b"cpp_extension", b"pycuda", b"pallas", b"warp as", b"import warp", b"from warp",
    b"__global__", b"_compile_kernel", b"elementwise(",
)  # fmt: skip
_TOP = 4000
"""Bytes of a file in which its first imports stand."""
MAIN_GUARD = rb"""(?m)^(?:el)?if\b[^\n#]*?(?:__name__\s*==\s*['"]__main__['"]|['"]__main__['"]\s*==\s*__name__)"""


class Discovery(NamedTuple):
    """The files to check, spelled as the user spelled the paths, sorted and each once; the entries are among them."""

    files: tuple[Path, ...]
    entries: tuple[Path, ...]
    unchecked: tuple[Unchecked, ...] = ()
    kernels: tuple[Path, ...] = ()
    """C++ and CUDA sources in the folders (not counted among ``files``), and Python files that may hold kernels."""
    beside: tuple[Path, ...] = ()
    """Files in the folders whose names say that they may start or configure a program."""
    near: tuple[Path, ...] = ()
    """The same beside, and in folders above, what was named: they are asked only who starts it."""


class _File(NamedTuple):
    """A file that was found, and the real path that identifies it."""

    path: Path
    real: str
    link: bool = False
    runs: bool = False
    """Whether it is an entry by itself."""
    kernels: bool = False
    """Whether it may hold GPU kernels."""

    @property
    def rank(self) -> tuple[bool, int, str]:
        """Of several names of one file the smallest counts: no link where the file itself is at hand."""
        return (self.link, len(self.path.parts), str(self.path))


def discover(paths: Sequence[Path], config: Settings) -> Discovery:
    """The Python files that ``paths`` stand for; a file that is named is always an entry.

    What cannot be read is listed in ``unchecked``. Raises UsageError for a path that does not exist or when there is
    nothing to check, ConfigError for a bad ``exclude`` pattern.
    """
    folders = sorted({path for path in paths if _is_folder(path)}, key=lambda path: path.parts)
    named, unchecked = _named(path for path in paths if path not in folders)
    asked = [file.path for file in named if is_beside(file.path.name)]
    named = [file for file in named if file.path not in asked]
    found, metadata, kernels, beside = _search(folders, config, unchecked)
    runs = console_scripts(metadata, config, unchecked) if folders else set()
    files = _once([*named, *_inside(config.entrypoints, folders), *_read(found, unchecked)])
    if not files and not unchecked and not kernels and not beside and not asked:
        raise UsageError(f"nothing to check: no Python file in {', '.join(map(str, paths)) or 'no path'}")
    return Discovery(
        files=tuple(file.path for file in files),
        entries=tuple(file.path for file in files if file.runs or file.real in runs),
        unchecked=tuple(sorted(set(unchecked))),
        kernels=tuple(sorted([*kernels, *(file.path for file in files if file.kernels)])),
        beside=tuple(sorted({*beside, *asked})),
        near=_near(paths, folders, config),
    )


def _near(paths: Sequence[Path], folders: Sequence[Path], config: Settings) -> tuple[Path, ...]:
    """What is near, without what is excluded."""
    found = {os.path.relpath(path, config.root).replace(os.sep, "/"): path for path in near(paths, folders, config)}
    out = left_out(config.root, (name for name in found if not name.startswith("../")), config)
    return tuple(sorted(path for name, path in found.items() if name not in out))


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 (pathlib's raises where permission is missing)


def _named(paths: Iterable[Path]) -> tuple[list[_File], list[Unchecked]]:
    """The files named on the command line; raises UsageError for one that does not exist."""
    named: list[_File] = []
    unchecked: list[Unchecked] = []
    for path in paths:
        try:
            path.stat()
        except PermissionError as error:
            unchecked.append(unreadable(path, error))
            continue
        except (OSError, ValueError) as error:
            raise UsageError(f"path not found: {path}") from error
        if not is_file(path):
            raise UsageError(f"neither a file nor a folder: {path}")
        named.append(_File(path, os.path.realpath(path), path.is_symlink(), runs=True))
    return named, unchecked


def _once(files: Iterable[_File]) -> list[_File]:
    """Each real file once, sorted by path; it is an entry when it is one under any of its names."""
    found: dict[str, _File] = {}
    for file in files:
        other = found.get(file.real, file)
        first = min(file, other, key=lambda one: one.rank)
        found[file.real] = first._replace(runs=file.runs or other.runs, kernels=file.kernels or other.kernels)
    return sorted(found.values(), key=lambda file: file.path.parts)


def _inside(entrypoints: Iterable[Path], folders: Sequence[Path]) -> Iterator[_File]:
    """The configured entry scripts that lie in ``folders``, spelled like these; they count even where excluded."""
    for entrypoint in entrypoints:
        real = Path(os.path.realpath(entrypoint))
        for folder in folders:
            top = os.path.realpath(folder)
            if real.is_relative_to(top):
                yield _File(folder / real.relative_to(top), str(real), runs=True)


def _search(
    folders: Sequence[Path], config: Settings, unchecked: list[Unchecked]
) -> tuple[list[_File], dict[str, Path], list[Path], list[Path]]:
    """The Python files in ``folders``, by real path the metadata that may name console scripts, and the other files.

    These are the C++ sources, and what may start or configure a program.
    """
    files: list[_File] = []
    kernels: list[Path] = []
    beside: list[Path] = []
    metadata = {os.path.realpath(file): file for file in (config.root / name for name in METADATA) if is_file(file)}
    for folder in folders:
        for item in _walk(folder, config):
            if isinstance(item, Unchecked):
                unchecked.append(item)
            elif item.path.name in METADATA:
                metadata[item.real] = item.path
            elif is_beside(item.path.name):
                beside.append(item.path)
            elif item.path.suffix not in PYTHON:
                kernels.append(item.path)
            elif len(files) < MAX_FILES:
                files.append(item)
            else:
                reason = f"stopped after {MAX_FILES:,} Python files; exclude folders or check them one by one"
                unchecked.append(Unchecked(folder.as_posix(), reason))
                break
    return files, metadata, kernels, beside


# --- walking ---------------------------------------------------------------------------------------------------------


_TEST = re.compile(r"test_.*\.py|.*_tests?\.py")
"""Files of tests by pytest's and unittest's naming: in a folder they are no programs whose results anybody compares."""
_TEST_WORDS = re.compile(rb"\b(?:unittest|pytest|absltest|testing|TestCase|tf\.test)\b")
_COMMAND_LINE = re.compile(rb"\b(?:ArgumentParser|sys\.argv|absl|click|typer|fire|hydra|FLAGS)\b")
"""What a program says that reads a command line; one of the words of test frameworks makes it tests all the same."""

_PARSES = re.compile(rb"^\w[\w, ]*=[ \t]*\w+\.parse_(?:known_)?args\(", re.MULTILINE)
"""A module that reads the command line when it is executed is a script, also without a main guard."""


class _Listing(NamedTuple):
    """What matters of one folder; names are sorted."""

    names: frozenset[str]
    """Those of ``.gitignore``, ``pyvenv.cfg``, ``__init__.py``, and of the metadata that are there."""
    files: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    folders: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()


_NOTED = frozenset({".gitignore", "pyvenv.cfg", "__init__.py", *METADATA})


def _list(folder: str) -> _Listing:
    """Raises OSError where the folder cannot be read. Data folders hold millions of files: keep none of their names."""
    noted: set[str] = set()
    files: list[str] = []
    links: list[str] = []
    folders: list[str] = []
    kernels: list[str] = []
    beside: list[str] = []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                folders.append(entry.name)
                continue
            if entry.name in _NOTED:
                noted.add(entry.name)
            if entry.name.endswith(PYTHON):
                if entry.is_symlink():
                    links.append(entry.name)
                elif entry.is_file(follow_symlinks=False):
                    files.append(entry.name)
            elif entry.name.endswith(KERNEL_SOURCES) and entry.is_file(follow_symlinks=False):
                kernels.append(entry.name)
            elif is_beside(entry.name) and len(beside) <= MOST and entry.is_file(follow_symlinks=False):
                beside.append(entry.name)
    if len(beside) > MOST:
        beside = []
    return _Listing(frozenset(noted), *(tuple(sorted(names)) for names in (files, links, folders, kernels, beside)))


def _walk(top: Path, config: Settings) -> Iterator[_File | Unchecked]:
    """Python files and project metadata below ``top``, in a fixed order; linked folders are never entered."""
    base = os.path.realpath(top).rstrip("/") + "/"
    try:
        always, chain = outer_patterns(base, config)
    except OSError as error:  # a .gitignore above
        yield unreadable(top, error)
        return
    stack, tracked = [("", chain)], Tracked(base)
    while stack:
        relative, chain = stack.pop()
        here, real = top / relative, base + relative
        try:
            listing = _list(str(here))
            if ".gitignore" in listing.names:
                chain = (Patterns(real, compiled(read_lines(here / ".gitignore"))), *chain)
        except OSError as error:
            yield unreadable(here, error)
            continue
        if relative and not _is_users_own(real, listing, always):
            continue
        files = [_File(here / name, real + name) for name in listing.files]
        links = (_File(here / name, os.path.realpath(real + name), link=True) for name in listing.links)
        files += [file for file in links if file.real.startswith(base) and is_file(file.real)]
        yield from (file for file in files if not ignored(real + file.path.name, always, chain, tracked))
        yield from (_File(here / name, real + name) for name in METADATA if name in listing.names)
        others = (*listing.kernels, *listing.beside)
        yield from (_File(here / n, real + n) for n in others if not ignored(real + n, always, chain, tracked))
        for name in reversed(listing.folders):
            folder = f"{real}{name}/"
            if not _skipped(folder, always) and not ignored(folder, always, chain, tracked):
                stack.append((f"{relative}{name}/", chain))


def _skipped(folder: str, always: Iterable[Patterns]) -> bool:
    """Whether the folder's name says that it holds no code of the user (unless the configuration says otherwise)."""
    name = folder.rstrip("/").rpartition("/")[2]
    if name not in SKIPPED and not name.endswith(SKIPPED_ENDINGS):
        return False
    return all(patterns.verdict(folder) is not False for patterns in always)


def _is_users_own(folder: str, listing: _Listing, always: Iterable[Patterns]) -> bool:
    """Whether the folder's content speaks against a virtual environment or a build product."""
    name = folder.rstrip("/").rpartition("/")[2]
    product = name in SKIPPED_UNLESS_PACKAGES and "__init__.py" not in listing.names
    if not product and "pyvenv.cfg" not in listing.names:
        return True
    return any(patterns.verdict(folder) is False for patterns in always)


def left_out(top: Path, paths: Iterable[str], config: Settings) -> frozenset[str]:
    """Those of ``paths`` (relative to the folder ``top``) that the configuration or a .gitignore excludes.

    For who has found files by other means and asks only about a few of them.
    """
    base = os.path.realpath(top).rstrip("/") + "/"
    always, outer = outer_patterns(base, config)
    tracked = Tracked(base)
    chains: dict[str, tuple[Patterns, ...] | None] = {"": with_own(top, base, outer)}

    def chain(folder: str) -> tuple[Patterns, ...] | None:
        """The patterns that hold in a folder; None where the folder is excluded as a whole."""
        if folder not in chains:
            above = chain(folder.rpartition("/")[0])
            out = above is None or ignored(f"{base}{folder}/", always, above, tracked)
            chains[folder] = None if out or above is None else with_own(top / folder, f"{base}{folder}/", above)
        return chains[folder]

    found = set()
    for path in paths:
        here = chain(path.rpartition("/")[0])
        if here is None or ignored(base + path, always, here, tracked):
            found.add(path)
    return frozenset(found)


# --- entries ---------------------------------------------------------------------------------------------------------


def _read(files: Iterable[_File], unchecked: list[Unchecked]) -> Iterator[_File]:
    """The readable ones of ``files``, each with whether it runs by itself."""
    for file in files:
        try:
            if file.path.name.endswith(".ipynb"):  # runs by itself; a large one is not read for that
                yield file._replace(runs=True)
                continue
            data = file.path.read_bytes()
        except OSError as error:
            unchecked.append(unreadable(file.path, error))
        else:
            by_itself = has_main_guard(data) or is_percent(data) or _PARSES.search(data) is not None
            runs = file.path.name == "__main__.py" or (by_itself and not _holds_tests(file.path.name, data))
            yield file._replace(runs=runs, kernels=may_hold_kernels(data))


def _holds_tests(name: str, data: bytes) -> bool:
    """Whether a file holds tests by its name and what it says: a program that tests a policy reads a command line."""
    return _TEST.fullmatch(name) is not None and (
        _COMMAND_LINE.search(data) is None or _TEST_WORDS.search(data) is not None
    )


def may_hold_kernels(data: bytes) -> bool:
    """Whether a Python file may hold GPU kernels with atomics: Triton, Numba, CuPy, Pallas, Warp, CUDA in strings.

    A screen by bytes: what it turns down holds none, what it lets through has to be read.
    """
    # `cupyx.scatter_add` and `cupy.add.at` do not say "atomic".
    if b"atomic" not in data and data.find(b" cupy", 0, _TOP) < 0:
        return False
    return any(word in data for word in _KERNEL_LANGUAGES)


def has_main_guard(data: bytes) -> bool:
    """Whether a line of the source begins ``if __name__ == "__main__"``, in whatever spelling."""
    return b"__main__" in data and re.search(MAIN_GUARD, data.removeprefix(b"\xef\xbb\xbf")) is not None


# --- import roots ----------------------------------------------------------------------------------------------------
