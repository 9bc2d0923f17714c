"""The project's own evidence, in words: what ``d9mlint verify --record`` has kept under ``rules/evidence``."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from d9mlint.catalogue.files import rules_folder, shown
from d9mlint.model import CatalogueError

_MODES = {
    "det-mode-fixes": "deterministic mode fixes it",
    "det-mode-leaks": "deterministic mode does not cure it",
    "det-mode-raises": "deterministic mode raises an error",
}


def evidence_folder() -> Path:
    """Where the project keeps its own evidence."""
    return rules_folder() / "evidence"


def observed(op: str, folder: Path) -> list[str]:
    """A line for each verdict on the op, file by file.

    Raises:
        CatalogueError: a file of evidence is damaged.
    """
    lines: list[str] = []
    for path in sorted(folder.glob("*.json")):
        try:
            lines += _lines(json.loads(path.read_text(encoding="utf-8")), op)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise CatalogueError(f"{shown(path)}:1: not a file of evidence: {error}") from None
    return lines


def _lines(data: Mapping[str, Any], op: str) -> Iterator[str]:
    machine = data["environment"]
    for one in data["evidence"]:
        if one["op"] != op or not one["device"]:
            continue
        version = machine[one["framework"]]["versions"][one["framework"]]
        where = machine["cpu"] if one["device"] == "cpu" else ", ".join(machine[one["framework"]]["gpus"])
        what = " ".join(part for part in (one["case"], one["direction"], one["execution"], one["dtype"]) if part)
        runs = f"{one['differing']} of {one['runs']} runs differ"
        mode = f"; {_MODES[one['deterministic_mode']]}" if one["deterministic_mode"] in _MODES else ""
        yield (
            f"{one['device'].upper()} ({where}, {machine['cores']} cores), {one['framework']} {version}, {what}: "
            f"{one['verdict']}, {runs}{mode} ({data['date']})"
        )
