"""Entry points that a project declares: its console scripts."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from d9mlint.discover.settings import Settings, unreadable
from d9mlint.model import Unchecked

METADATA = ("pyproject.toml", "setup.cfg")
SETUP = "setup.py"
_CONSOLE = re.compile(r"(?:console|gui)_scripts\b\W*(.*?)(?:[\[\])}]|\"{3}|'{3}|\Z)", re.DOTALL)
"""In setup.py: the list, or the lines, that name console scripts."""
_SCRIPT = re.compile(r"[\w.-]+\s*=\s*([\w.]+\s*:\s*[\w.]+)")


def console_scripts(
    metadata: Mapping[str, Path], config: Settings, unchecked: list[Unchecked]
) -> dict[str, tuple[str, ...]]:  # fmt: skip
    """Where the console scripts (``pkg.mod:func``) of pyproject.toml, setup.cfg and setup.py may start.

    The functions that they call, by real path.
    """
    found: dict[str, set[str]] = {}
    for real, file in sorted(metadata.items()):
        try:
            data = file.read_bytes()
            scripts = _scripts(file.name, data) if b"scripts" in data else ()
        except OSError as error:
            unchecked.append(unreadable(file, error))
            continue
        except _Broken as error:
            unchecked.append(Unchecked(file.as_posix(), f"console scripts not read: {error}"))
            continue
        folder = Path(real).parent
        for root in (folder, folder / "src", *config.roots):
            for module, function in scripts:
                inner = root.joinpath(*module.split("."))
                for path in (f"{inner}.py", inner / "__init__.py"):
                    found.setdefault(os.path.realpath(path), set()).add(function)
    return {path: tuple(sorted(functions)) for path, functions in found.items()}


class _Broken(Exception):
    """Project metadata that cannot be parsed."""


def _scripts(name: str, data: bytes) -> tuple[tuple[str, str], ...]:
    """Module and function of the console scripts in a metadata file, sorted; raises _Broken."""
    references = _READS[name](data)
    parts = (reference.partition("[")[0].partition(":") for reference in references)
    pairs = {(module.strip(), function.strip()) for module, _, function in parts}
    return tuple(sorted(pair for pair in pairs if all(one.isidentifier() for one in pair[0].split("."))))


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


def _setup_scripts(data: bytes) -> list[str]:
    """Out of the text: setup.py is a program, of which nothing is executed."""
    text = data.decode("utf-8", "replace")
    return [script for found in _CONSOLE.findall(text) for script in _SCRIPT.findall(found)]


_READS = {"pyproject.toml": _toml_scripts, "setup.cfg": _cfg_scripts, SETUP: _setup_scripts}
