"""The findings that were there before: the baseline file."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any, NamedTuple

from d9mlint.model import ConfigError, Finding, UsageError
from d9mlint.writing import replaced


class Baseline(NamedTuple):
    """The findings that were there when the baseline was written."""

    fingerprints: frozenset[str] = frozenset()


def write_baseline(findings: Iterable[Finding], path: Path) -> None:
    """Writes the findings as known; the same findings give the same bytes. Raises UsageError where it cannot write."""
    import json

    known = {
        finding.fingerprint: {
            "rule": finding.rule,
            "path": finding.location.path,
            "message": finding.message,
        }
        for finding in sorted(findings, key=lambda one: one.sort_key)
        if finding.fingerprint
    }
    text = json.dumps({"version": 1, "fingerprints": known}, indent=1, sort_keys=True) + "\n"
    try:
        replaced(path, text.encode("ascii"))
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from error


def load_baseline(path: Path) -> Baseline:
    """Reads what ``write_baseline`` wrote; raises ConfigError, naming the file, for anything else."""
    import json

    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: baseline not found") from error
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not a baseline: not valid JSON: {error}") from error
    if not isinstance(data, dict) or "version" not in data:
        raise ConfigError(f"{path}: not a baseline: expected an object with `version` and `fingerprints`")
    if data["version"] != 1 or isinstance(data["version"], bool):
        raise ConfigError(f"{path}: baseline version {data['version']!r} is unknown, expected 1; write it anew")
    known = data.get("fingerprints")
    if not isinstance(known, dict) or not all(_is_entry(entry) for entry in known.values()):
        raise ConfigError(
            f"{path}: not a baseline: `fingerprints` must map each fingerprint to `rule`, `path` and `message`"
        )
    return Baseline(frozenset(known))


def _is_entry(entry: object) -> bool:
    return isinstance(entry, dict) and all(isinstance(entry.get(key), str) for key in ("rule", "path", "message"))


def split(findings: Iterable[Finding], baseline: Baseline) -> tuple[tuple[Finding, ...], int]:
    """The findings that the baseline does not know, and the number of those that it knows."""
    everything = tuple(findings)
    new = tuple(finding for finding in everything if finding.fingerprint not in baseline.fingerprints)
    return new, len(everything) - len(new)
