"""Which config files Hydra composes for a program: those that its ``hydra.main`` names."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterable, Iterator

from d9mlint.configs.told import Reader

ENDINGS = (".yaml", ".yml")
"""With which ending Hydra looks for a config (``config_loader_impl.py`` adds ``.yaml``; before 1.1 both were read)."""
_MAIN = re.compile(rb"\bhydra\.main\(([^()]*)\)")
_ARGUMENT = re.compile(rb"\b(config_path|config_name)\s*=\s*[\"']([^\"']*)[\"']")


def primary_configs(programs: Iterable[str], read: Reader) -> frozenset[str]:
    """The paths at which the configs lie that programs are started with."""
    return frozenset(path for program in programs for path in _named(program, read(program) or b""))


def _named(program: str, data: bytes) -> Iterator[str]:
    """``config_path`` counts from the program's folder; before Hydra 1.0 it named the file itself.

    Source: https://hydra.cc/docs/upgrades/0.11_to_1.0/config_path_changes
    """
    for found in _MAIN.finditer(data):
        given = {name.decode(): value.decode("utf-8", "replace") for name, value in _ARGUMENT.findall(found[1])}
        folder, name = given.get("config_path", ""), given.get("config_name", "")
        if name or folder.endswith(ENDINGS):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(program), folder, name))
            yield from (path,) if path.endswith(ENDINGS) else (path + ending for ending in ENDINGS)
