"""The config that Hydra composes out of the files of a folder, as their defaults lists say.

Source: hydra.cc/docs/1.3/advanced/defaults_list and .../overriding_packages (since 1.1 a config comes after its
defaults, unless it says `_self_`; before, a package had to be said in a config of a group).
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple, TypeAlias

from d9mlint.python.source import settingsfiles

Read: TypeAlias = Callable[[str], bytes | None]
Tree: TypeAlias = "dict[str, Said | Tree]"
MISSING = "???"
"""What stands in place of a value that the user has to give."""
_ENDINGS = (".yaml", ".yml")
_DEFAULTS, _SELF, _GLOBAL = "defaults", "_self_", "_global_"
_OWN = ("hydra", "hydra/")
"""How groups begin that configure Hydra itself."""
_PACKAGE = re.compile(rb"\A(?:\s|#[^\n]*\n)*?#\s*@package\s+(\S+)")
_OPEN = re.compile(r"\$\{|\?\?\?")
_FLOAT = re.compile(r"[-+]?\d+(?:\.\d*)?[eE][-+]?\d+")
"""A number that OmegaConf reads as one, and YAML 1.1 as a text (omegaconf/_utils.py: ``get_yaml_loader``)."""
_MOST_FILES, _MOST_LEVELS = 64, 8


class Said(NamedTuple):
    """What a config file says under a key, and the name of the file."""

    value: Any
    file: str


class _Entry(NamedTuple):
    """An entry of a defaults list: a config of a group, and the package that its keys come into."""

    group: str
    option: str
    package: str


def composed(read: Read, root: str, name: str) -> Tree | None:
    """What Hydra makes of the config ``name`` in the folder ``root``; None where there is no such file."""
    found: Tree = {}
    return found if _Composer(read, root).add(found, _Entry("", name, ""), 0) else None


class _Composer:
    def __init__(self, read: Read, root: str) -> None:
        self._read, self._root = read, root
        self._files = 0
        self._chosen: dict[str, Any] = {}

    def add(self, tree: Tree, entry: _Entry, level: int) -> bool:
        """Adds a config and those in its defaults list, in order; whether there is such a file."""
        path, data = self._file(posixpath.join(entry.group, entry.option))
        self._files += 1
        if data is None or self._files > _MOST_FILES or level > _MOST_LEVELS:
            return False
        held = settingsfiles.read(path, data) or {}
        given = _PACKAGE.search(data)
        package = entry.package if given is None else _said_package(given[1].decode("utf-8", "replace"), entry)
        listed = held.get(_DEFAULTS)
        entries = list(listed) if isinstance(listed, list) else []
        if not level:
            self._chosen = dict(_overrides(entries))
        for one in entries if _SELF in entries else [*entries, _SELF]:
            if one == _SELF:
                own = {key: value for key, value in held.items() if key != _DEFAULTS}
                _merge(_inside(tree, package), own, posixpath.basename(path))
                continue
            for inner in self._entries(one, entry.group, package):
                self.add(tree, inner, level + 1)
        return True

    def _file(self, name: str) -> tuple[str, bytes | None]:
        base = posixpath.normpath(posixpath.join(self._root, name))
        paths = (base,) if base.endswith(_ENDINGS) else tuple(base + ending for ending in _ENDINGS)
        found = ((path, data) for path in paths if (data := self._read(path)) is not None)
        return next(found, (paths[0], None))

    def _entries(self, entry: object, group: str, package: str) -> Iterator[_Entry]:
        """What an entry names: ``base``, ``db/base@there``, ``{"db": "mysql"}``, ``{"optional db@there": [a, b]}``."""
        if isinstance(entry, str):
            named, _, there = entry.partition("@")
            inner, _, option = named.rpartition("/")
            options: list[object] = [option]
        elif isinstance(entry, dict) and len(entry) == 1:
            key, chosen = next(iter(entry.items()))
            word, _, rest = str(key).strip().rpartition(" ")
            inner, _, there = rest.partition("@")
            options = list(chosen) if isinstance(chosen, list) else [chosen]
            if word == "override" or inner.lstrip("/").startswith(_OWN):
                return
        else:
            return
        whole = inner.lstrip("/") if inner.startswith("/") else posixpath.join(group, inner)
        if whole in self._chosen:
            options = [self._chosen[whole]]
        under = _joined(package, there or inner.strip("/").replace("/", "."))
        for one in options:
            if isinstance(one, (str, int)) and not _OPEN.search(str(one)):
                yield _Entry(whole.rstrip("/"), str(one), under)


def _overrides(entries: list[object]) -> Iterator[tuple[str, Any]]:
    """The options that a defaults list chooses for groups that other configs name: ``override db: mysql``."""
    for entry in entries:
        if isinstance(entry, dict):
            for key, option in entry.items():
                word, _, group = str(key).strip().partition(" ")
                if word == "override":
                    yield group.strip().lstrip("/").partition("@")[0], option


def _said_package(said: str, entry: _Entry) -> str:
    """The package that the head of a config says: ``_global_``, ``_group_`` or names."""
    if said == _GLOBAL:
        return ""
    return said.replace("_group_", entry.group.replace("/", ".")).replace("_name_", entry.option)


def _joined(package: str, inner: str) -> str:
    if inner in ("", "_here_"):
        return package
    if inner.startswith(_GLOBAL):
        return inner.removeprefix(_GLOBAL).lstrip(".")
    return f"{package}.{inner}" if package else inner


def _inside(tree: Tree, package: str) -> Tree:
    """The part of a tree that is a package."""
    for name in package.split(".") if package else ():
        inner = tree.get(name)
        if not isinstance(inner, dict):
            inner = tree[name] = {}
        tree = inner
    return tree


def _merge(tree: Tree, held: dict[str, Any], file: str, level: int = 0) -> None:
    for name, value in held.items():
        if isinstance(value, dict) and level < _MOST_LEVELS and all(isinstance(key, str) for key in value):
            _merge(_inside(tree, name) if "." not in name else tree, value, file, level + 1)
        else:
            number = isinstance(value, str) and _FLOAT.fullmatch(value)
            tree[name] = Said(float(value) if number else value, file)
