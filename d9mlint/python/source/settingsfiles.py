"""Files of settings that a program reads while it runs: JSON and YAML, as their own readers read them."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

MAX_BYTES = 16_000
"""A larger one holds data."""
_YAML = (".yaml", ".yml")


def read(path: str, data: bytes) -> dict[str, Any] | None:
    """The settings in a file; None where it cannot be read, or holds something else. Nobody changes what it gives."""
    return _read(path[path.rfind(".") :], data) if len(data) <= MAX_BYTES else None


@lru_cache(maxsize=1024)
def _read(ending: str, data: bytes) -> dict[str, Any] | None:
    found: Any = None
    try:
        if ending == ".json":
            found = json.loads(data.decode("utf-8-sig"))
        elif ending in _YAML:
            found = _yaml(data)
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) and all(isinstance(key, str) for key in found) else None


def _yaml(data: bytes) -> Any:
    import yaml

    try:
        return yaml.load(data, getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError:
        return None
