"""The compiled catalogue as JSON in the user's cache folder; every trouble with it just means: compile again."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from d9mlint.catalogue.content import Catalogue
from d9mlint.model import Argument, Effect, Invocation, Op, OpStatus, Remedy, Rule
from d9mlint.writing import PRIVATE, replaced

_KEPT = 8
"""Compiled catalogues kept, newest first: those of other projects and of other versions."""


def read(cache: Path, digest: str, rules_folder: Path) -> Catalogue | None:
    """The compiled catalogue of this digest; None where there is none or it is damaged."""
    try:
        data = json.loads(_file(cache, digest).read_bytes())
        return _decode(data, digest, rules_folder)
    except (OSError, ValueError, TypeError, KeyError, AttributeError, RecursionError):
        return None


def write(cache: Path, catalogue: Catalogue) -> None:
    """Keep ``catalogue`` for the next run, atomically; a folder that cannot be written is fine."""
    with suppress(OSError):
        cache.mkdir(parents=True, exist_ok=True)
        data = json.dumps(_encode(catalogue), separators=(",", ":"))
        replaced(_file(cache, catalogue.digest), data.encode(), PRIVATE)
        _forget_old(cache)


def _file(cache: Path, digest: str) -> Path:
    return cache / f"catalogue-{digest}.json"


def _forget_old(cache: Path) -> None:
    files = sorted(cache.glob("catalogue-*.json"), key=lambda path: path.stat().st_mtime, reverse=True)
    for path in files[_KEPT:]:
        path.unlink(missing_ok=True)


def _encode(catalogue: Catalogue) -> dict[str, Any]:
    """Plain data; values that say nothing are left out, paths are made anew on reading."""
    rules = [{**_filled(rule), "path": ""} for rule in catalogue.rules.values()]
    return {
        "digest": catalogue.digest,
        "rules": rules,
        "effects": [_filled(effect) for effect in catalogue.effects],
        "ops": [_filled(op) for op in catalogue.ops],
        "aliases": dict(catalogue.aliases),
        "hazards": dict(catalogue.hazards),
    }


def _filled(entry: Rule | Effect | Op) -> dict[str, Any]:
    """Without fields that have a default and say nothing; one without a default is needed to make the entry again."""
    empty: tuple[object, ...] = ("", (), {}, None, False)
    given = entry._asdict().items()
    return {name: _plain(value) for name, value in given if name not in entry._field_defaults or value not in empty}


def _plain(value: Any) -> Any:
    """A field's value without the nouns of the model."""
    if isinstance(value, (Argument, Invocation, OpStatus, Remedy)):
        return {name: _plain(part) for name, part in value._asdict().items()}
    return [_plain(part) for part in value] if isinstance(value, tuple) else value


def _decode(data: Mapping[str, Any], digest: str, rules_folder: Path) -> Catalogue | None:
    if data["digest"] != digest:
        return None
    rules = (_rule(entry, rules_folder) for entry in data["rules"])
    return Catalogue(
        rules={rule.name: rule for rule in rules},
        effects=tuple(_effect(entry) for entry in data["effects"]),
        ops=tuple(_op(entry) for entry in data["ops"]),
        aliases=dict(data["aliases"]),
        hazards=dict(data["hazards"]),
        digest=digest,
    )


def _tuples(entry: dict[str, Any], *names: str) -> dict[str, Any]:
    """JSON knows no tuples."""
    for name in names:
        if name in entry:
            entry[name] = tuple(entry[name])
    return entry


def _rule(entry: dict[str, Any], rules_folder: Path) -> Rule:
    entry["remedies"] = tuple(Remedy(**remedy) for remedy in entry.get("remedies", ()))
    entry["path"] = str(rules_folder / entry["family"] / f"{entry['name']}.yaml")
    return Rule(**_tuples(entry, "sources"))


def _effect(entry: dict[str, Any]) -> Effect:
    for name, value in entry.items():
        if isinstance(value, dict) and name != "when":  # all others say where an argument is found
            entry[name] = Argument(**value)
    if "invokes" in entry:
        entry["invokes"] = tuple(
            Invocation(Argument(**one["argument"]), one["context"], one["method"]) for one in entry["invokes"]
        )
    return Effect(**_tuples(entry, "calls", "seeds", "draws"))


def _op(entry: dict[str, Any]) -> Op:
    entry["status"] = tuple(OpStatus(**status) for status in entry.get("status", ()))
    return Op(**_tuples(entry, "calls", "devices", "sources", "sites"))
