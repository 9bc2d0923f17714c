"""Where the imports of an entry start."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

from d9mlint.discover.scripts import METADATA
from d9mlint.discover.settings import Settings

_ADDED = re.compile(rb"^[^#\n]*\bsys\.path\.(?:append|insert|extend)\(([^\n]*)", re.MULTILINE)
_TEXT = re.compile(rb"""["']([^"'\n]{1,200})["']""")
_UP = re.compile(rb"\bdirname\b|\.parent\b|\.parents\[(\d)\]")
_NAME = re.compile(rb"(?<![\w.\"'])[A-Za-z_]\w*(?![\w\"'])")
_ASSIGNED = re.compile(rb"^[ \t]*([A-Za-z_]\w*)[ \t]*=[ \t]*([^=\n][^\n]*)", re.MULTILINE)
_DEFINED = re.compile(rb"^[ \t]*def[ \t]+(\w+)\([ \t]*(\w+)", re.MULTILINE)
_IMPORTED = re.compile(rb"^[ \t]*(?:from|import)[ \t]+([A-Za-z]\w*)", re.MULTILINE)
_BODY = 400
"""Bytes before a line in which the function around it begins."""
_DEEP, _MANY = 4, 16
"""Names behind each other that are looked up; ways to read an argument, and lines that are looked at."""
_HIGHEST = 4
"""Folders above a file in which a relative path is looked for."""
PROJECT_MARKERS = (*METADATA, "setup.py", "requirements.txt")


def import_roots(
    entry: Path, config: Settings, searched: Iterable[Path] = (), *, member: bool = False
) -> tuple[Path, ...]:  # fmt: skip
    """The folders that absolute imports of ``entry`` may start from, in the order in which they are tried.

    The script's own folder (that of the file a link leads to, as Python does), but not that of a ``member`` of a
    package: a console script, or ``python -m``, starts it. Those of ``searched`` (from ``PYTHONPATH``) that lie in its
    project; folders above it in which a package begins or a project is described; the repository's; the ``src`` of each
    of these; the configured ones. Relative to the working directory when ``entry`` is, else absolute.
    """
    target = os.path.realpath(entry) if entry.is_symlink() else os.path.abspath(entry)  # noqa: PTH100
    own = Path(target).parent
    above = _projects_above(own, config)
    bases = (own, *above)
    sources = [base / "src" for base in bases if os.path.isdir(base / "src")]  # noqa: PTH112
    project = own if not above or _has(own, *PROJECT_MARKERS) else above[0]
    told = (root for root in map(Path.absolute, searched) if root.is_relative_to(project))
    first = [] if above and member else [own]
    roots = dict.fromkeys((*first, *told, *above, *sources, *config.roots))
    if entry.is_absolute():
        return tuple(roots)
    return tuple(dict.fromkeys(Path(os.path.relpath(root)) for root in roots))


def is_member(file: Path, data: bytes) -> bool:
    """Whether a file in a package imports from it by the package's full name, as one does that is started by a name.

    One that imports modules beside it by their bare names is a script all the same.
    """
    imported = {name.decode() for name in _IMPORTED.findall(data)}
    lineage = Path(os.path.abspath(file)).parents  # noqa: PTH100
    top = next((at for at, folder in enumerate(lineage) if not _has(folder, "__init__.py")), 0)
    if not top or lineage[top - 1].name not in imported:
        return False
    return not any(_has(file.parent, f"{name}.py") for name in imported)


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


def added_roots(files: Iterable[tuple[Path, bytes]]) -> tuple[Path, ...]:
    """The folders that the sources of ``files`` put on ``sys.path`` by a constant text, or relative to ``__file__``.

    What a text means relative to where a program is started is looked for beside the file and above it.
    """
    return named_folders(files, b"sys.path", _added)


def named_folders(
    files: Iterable[tuple[Path, bytes]], word: bytes, named: Callable[[Path, bytes], Iterable[Path]]
) -> tuple[Path, ...]:  # fmt: skip
    """The folders that the files which hold a word name, sorted."""
    return tuple(sorted({folder for path, data in files if word in data for folder in named(path, data)}))


def starts_of(path: Path) -> Iterable[Path]:
    """Where a relative path in a file may start: nobody says where the program is started."""
    return (path.parent, *list(path.parent.parents)[:_HIGHEST])


def first_there(starts: Iterable[Path], *parts: str) -> list[Path]:
    """The first folder that is there, of a path below several others."""
    folders = (Path(os.path.normpath(start.joinpath(*parts))) for start in starts)
    return [folder for folder in folders if os.path.isdir(folder)][:1]  # noqa: PTH112


def _added(path: Path, data: bytes) -> Iterator[Path]:
    assigned: dict[bytes, list[bytes]] = {}
    for name, value in _ASSIGNED.findall(data):
        assigned.setdefault(name, []).append(value)
    matches = islice(_ADDED.finditer(data), _MANY)
    for given in (one for match in matches for one in _written_out(match, data, assigned)):
        texts = [text.decode("utf-8", "replace") for text in _TEXT.findall(given)]
        if any(text.startswith("/") for text in texts):
            continue
        if b"__file__" in given:
            ups = sum(int(number or b"0") + 1 for number in _UP.findall(given))
            start = path.parents[min(max(ups - 1, 0), len(path.parents) - 1)]
            starts: Iterable[Path] = (start,)
        else:
            starts = starts_of(path) if texts else ()
        yield from first_there(starts, *texts)


def _written_out(added: re.Match[bytes], data: bytes, assigned: dict[bytes, list[bytes]]) -> list[bytes]:
    """What is added, names replaced by what the file assigns to them, or hands to the function around it.

    ``def add_path(path): sys.path.insert(0, path)`` and ``add_path(osp.join(this_dir, "lib"))``, as in many detectors.
    """
    known = dict(assigned)
    around = _DEFINED.findall(data, max(0, added.start() - _BODY), added.start())
    for function, parameter in around[-1:]:
        calls = re.findall(rb"^[ \t]*" + re.escape(function) + rb"\(([^\n]*)\)", data, re.MULTILINE)
        known[parameter] = [*known.get(parameter, ()), *calls]
    found = [added[1]]
    for _ in range(_DEEP):
        replaced = [more for one in found for more in _replaced(one, known)]
        if replaced == found:
            break
        found = replaced[:_MANY]
    return found


def _replaced(given: bytes, known: dict[bytes, list[bytes]]) -> list[bytes]:
    """The same with the first of its names that is known replaced, by each of its values."""
    for match in _NAME.finditer(given):
        if match[0] in known:
            return [given[: match.start()] + b"(" + value + b")" + given[match.end() :] for value in known[match[0]]]
    return [given]
