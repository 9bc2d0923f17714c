"""The user's settings: ``[tool.d9mlint]`` in a pyproject.toml, or a ``d9mlint.toml``."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from d9mlint.model import CONFIDENCES, SEVERITIES, ConfigError

DEVICES = ("gpu", "cpu", "tpu")
OWN_FILE = "d9mlint.toml"
PYPROJECT = "pyproject.toml"


class Config(NamedTuple):
    """The settings of one run; every path in it is absolute (``shown`` gives the form for messages)."""

    root: Path
    """Folder of the configuration file, else the nearest folder with ``.git``, else where the search began."""
    path: Path | None = None
    """The configuration file; None where there is none."""
    origin: str = "configuration:"
    """How messages about a key begin: ``pyproject.toml: [tool.d9mlint]``."""
    select: tuple[str, ...] = ()
    """Rule names, ids or families to run; empty means all."""
    ignore: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    """gitignore patterns, relative to ``root``; ``!pattern`` checks what is left out by default."""
    entrypoints: tuple[Path, ...] = ()
    roots: tuple[Path, ...] = ()
    target: tuple[str, ...] = ()
    device: str = "gpu"
    fail_on: str = "warning"
    min_confidence: str = "medium"
    per_file_ignores: Mapping[str, tuple[str, ...]] = {}
    catalogues: tuple[Path, ...] = ()
    baseline: Path | None = None
    args: tuple[str, ...] | None = None
    """Script arguments; None where none are set (an empty tuple: the script is run without any)."""


def load(start: Path, explicit: Path | None = None) -> Config:
    """The configuration that holds for ``start``: ``explicit``, else the nearest one in ``start`` or above.

    The search stops at a folder with ``.git``; without one the working directory is the root, when ``start`` lies in
    it. Raises ConfigError, naming file and key, for a file that cannot be
    read or parsed, an unknown key, a wrong type or a bad value.
    """
    if explicit is not None:
        table = _table(explicit.resolve(), str(explicit))
        if table is None:
            raise ConfigError(f"{explicit}: no [tool.d9mlint] table")
        return _config(explicit.resolve(), str(explicit), table)
    here = start.resolve()
    here = here.parent if _is_file(here) else here
    for folder in (here, *here.parents):
        for name in (OWN_FILE, PYPROJECT):
            file = folder / name
            if _is_file(file) and (table := _table(file, shown(file))) is not None:
                return _config(file, shown(file), table)
        if os.path.lexists(folder / ".git"):
            return Config(root=folder)
    cwd = Path.cwd().resolve()  # a tree without marks: what the user stands in is the project, when it holds the start
    return Config(root=cwd if here.is_relative_to(cwd) else here)


def _is_file(path: Path) -> bool:
    return os.path.isfile(path)  # noqa: PTH113 (pathlib's raises where permission is missing)


def _is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112


def shown(path: Path) -> str:
    """``path`` as messages name it: relative to the working directory when one holds the other, ``/``-separated."""
    here = Path.cwd()
    path = Path(os.path.abspath(path))  # noqa: PTH100 (links stay as they are)
    if path.is_relative_to(here) or here.is_relative_to(path.parent):
        path = Path(os.path.relpath(path, here))
    return path.as_posix()


def ignored_in(config: Config, paths: Iterable[Path]) -> dict[Path, tuple[str, ...]]:
    """The names that ``per-file-ignores`` lists for each of ``paths`` (paths without any are left out).

    Raises ConfigError for a pattern that cannot be understood.
    """
    if not config.per_file_ignores:
        return {}
    specs = [(_spec(config, pattern), names) for pattern, names in config.per_file_ignores.items()]
    found: dict[Path, tuple[str, ...]] = {}
    for path in paths:
        absolute = Path(os.path.realpath(path))
        name = (absolute.relative_to(config.root) if absolute.is_relative_to(config.root) else absolute).as_posix()
        names = {name_ for spec, listed in specs if spec.match_file(name.lstrip("/")) for name_ in listed}
        if names:
            found[path] = tuple(sorted(names))
    return found


def _spec(config: Config, pattern: str) -> Any:
    from pathspec import GitIgnoreSpec

    try:
        return GitIgnoreSpec.from_lines([pattern])
    except (ValueError, re.error) as error:
        raise ConfigError(f"{config.origin} per-file-ignores: bad pattern {pattern!r}: {error}") from error


def _table(file: Path, name: str) -> Mapping[str, Any] | None:
    """The settings in ``file``; None for a pyproject.toml without ``[tool.d9mlint]``."""
    try:
        data = file.read_bytes()
    except OSError as error:
        raise ConfigError(f"{name}: cannot be read: {error.strerror}") from error
    if file.name != PYPROJECT:
        return _parse(data, name)
    if b"d9mlint" not in data:  # spares most projects the TOML parser
        return None
    tool = _parse(data, name).get("tool", {})
    table = tool.get("d9mlint") if isinstance(tool, dict) else None
    if table is not None and not isinstance(table, dict):
        raise ConfigError(f"{name}: [tool] d9mlint: expected a table, got {_quote(table)}")
    return table


def _parse(data: bytes, name: str) -> dict[str, Any]:
    import importlib

    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        table: dict[str, Any] = toml.loads(data.decode("utf-8"))
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise ConfigError(f"{name}:{line}: not valid TOML: not UTF-8") from error
    except toml.TOMLDecodeError as error:
        at = re.search(r"at line (\d+)", str(error))
        raise ConfigError(f"{name}{':' + at[1] if at else ''}: not valid TOML: {error}") from error
    except RecursionError as error:
        raise ConfigError(f"{name}: not valid TOML: nested too deeply") from error
    return table


def _config(file: Path, name: str, table: Mapping[str, Any]) -> Config:
    origin = f"{name}: [tool.d9mlint]" if file.name == PYPROJECT else f"{name}:"
    values: dict[str, Any] = {}
    for key, value in table.items():
        if key not in _READERS:
            raise ConfigError(f"{origin} unknown key {key!r}{_did_you_mean(key)}")
        try:
            values[key.replace("-", "_")] = _READERS[key](value, file.parent)
        except _BadValue as error:
            raise ConfigError(f"{origin} {key}: {error}") from error
    return Config(root=file.parent, path=file, origin=origin, **values)


def _did_you_mean(key: str) -> str:
    import difflib

    close = difflib.get_close_matches(key.lower().replace("_", "-"), _READERS, n=1)
    return f"; did you mean {close[0]!r}?" if close else f"; known keys: {', '.join(_READERS)}"


class _BadValue(Exception):
    """What is wrong with a value; ``_config`` adds file and key."""


def _quote(value: object) -> str:
    """A value of a TOML file as messages quote it."""
    if isinstance(value, dict):
        return "a table"
    if isinstance(value, bool):
        return str(value).lower()
    text = repr(value) if isinstance(value, (str, int, float, list)) else str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _strings(value: object, _root: Path) -> tuple[str, ...]:
    if not isinstance(value, list):
        raise _BadValue(f"expected a list of strings, got {_quote(value)}")
    for item in value:
        if not isinstance(item, str):
            raise _BadValue(f"expected a list of strings, got {_quote(item)} in it")
    return tuple(value)


def _names(value: object, root: Path) -> tuple[str, ...]:
    """A list of strings in which an empty one has no meaning."""
    strings = _strings(value, root)
    if any(not item.strip() for item in strings):
        raise _BadValue("an entry is empty")
    return strings


def _choice(allowed: tuple[str, ...]) -> Callable[[object, Path], str]:
    def read(value: object, _root: Path) -> str:
        if not isinstance(value, str) or value not in allowed:
            raise _BadValue(f"expected one of {', '.join(allowed)}, got {_quote(value)}")
        return value

    return read


def _path(value: object, root: Path) -> Path:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise _BadValue(f"expected a path, got {_quote(value)}")
    return Path(os.path.normpath(root / value))


def _paths(kind: str) -> Callable[[object, Path], tuple[Path, ...]]:
    """A list of paths, each of which must exist as a ``kind`` (``file`` or ``folder``)."""

    def read(value: object, root: Path) -> tuple[Path, ...]:
        exists = _is_file if kind == "file" else _is_folder
        texts = _names(value, root)
        paths = tuple(_path(text, root) for text in texts)
        for path, text in zip(paths, texts, strict=True):
            if not exists(path):
                raise _BadValue(f"{kind} not found: {text}")
        return paths

    return read


def _targets(value: object, root: Path) -> tuple[str, ...]:
    from packaging.requirements import InvalidRequirement, Requirement

    for text in _names(value, root):
        try:
            Requirement(text)
        except InvalidRequirement as error:
            raise _BadValue(f"expected requirements like 'tensorflow==2.4.1', got {_quote(text)}") from error
    return _names(value, root)


def _table_of_names(value: object, root: Path) -> dict[str, tuple[str, ...]]:
    if not isinstance(value, dict):
        raise _BadValue(f"expected a table of pattern = [names], got {_quote(value)}")
    found: dict[str, tuple[str, ...]] = {}
    for pattern, names in value.items():
        try:
            found[pattern] = _names(names, root)
        except _BadValue as error:
            raise _BadValue(f"{pattern!r}: {error}") from error
    return found


_READERS: Mapping[str, Callable[[object, Path], Any]] = {
    "select": _names,
    "ignore": _names,
    "exclude": _strings,
    "entrypoints": _paths("file"),
    "roots": _paths("folder"),
    "target": _targets,
    "device": _choice(DEVICES),
    "fail-on": _choice(SEVERITIES),
    "min-confidence": _choice(CONFIDENCES),
    "per-file-ignores": _table_of_names,
    "catalogues": _paths("file"),
    "baseline": _path,
    "args": _strings,
}
