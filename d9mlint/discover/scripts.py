"""Entry points that a project declares: its console scripts."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from d9mlint.discover.settings import Settings, unreadable
from d9mlint.model import Unchecked

METADATA = ("pyproject.toml", "setup.cfg")


def console_scripts(metadata: Mapping[str, Path], config: Settings, unchecked: list[Unchecked]) -> set[str]:
    """Where the console scripts (``pkg.mod:func``) of pyproject.toml and setup.cfg may start: real paths."""
    found: set[str] = set()
    for real, file in sorted(metadata.items()):
        try:
            data = file.read_bytes()
            modules = _modules(file.name, data) if b"scripts" in data else ()
        except OSError as error:
            unchecked.append(unreadable(file, error))
            continue
        except _Broken as error:
            unchecked.append(Unchecked(file.as_posix(), f"console scripts not read: {error}"))
            continue
        folder = Path(real).parent
        for root in (folder, folder / "src", *config.roots):
            for module in modules:
                inner = root.joinpath(*module.split("."))
                found |= {os.path.realpath(f"{inner}.py"), os.path.realpath(inner / "__init__.py")}
    return found


class _Broken(Exception):
    """Project metadata that cannot be parsed."""


def _modules(name: str, data: bytes) -> tuple[str, ...]:
    """The modules of the console scripts in a metadata file, sorted; raises _Broken."""
    references = _cfg_scripts(data) if name == "setup.cfg" else _toml_scripts(data)
    modules = {reference.partition(":")[0].partition("[")[0].strip() for reference in references}
    return tuple(sorted(module for module in modules if all(part.isidentifier() for part in module.split("."))))


def _toml_scripts(data: bytes) -> list[str]:
    import importlib

    toml = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")
    try:
        document: Any = toml.loads(data.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise _Broken(str(error)) from error
    found: list[str] = []
    for keys in (("project", "scripts"), ("project", "gui-scripts"), ("tool", "poetry", "scripts")):
        table: Any = document
        for key in keys:
            table = table.get(key) if isinstance(table, dict) else None
        if isinstance(table, dict):
            found += [reference for reference in table.values() if isinstance(reference, str)]
    return found


def _cfg_scripts(data: bytes) -> list[str]:
    import configparser

    parser = configparser.RawConfigParser()
    try:
        parser.read_string(data.decode("utf-8"))
    except (ValueError, configparser.Error) as error:
        raise _Broken(str(error).partition("\n")[0]) from error
    found: list[str] = []
    for option in ("console_scripts", "gui_scripts"):
        lines = parser.get("options.entry_points", option, fallback="").splitlines()
        found += [line.partition("=")[2].strip() for line in lines if "=" in line]
    return found
