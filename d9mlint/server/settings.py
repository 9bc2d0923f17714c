"""What an editor sets: ``initializationOptions``, or the section ``d9mlint`` of its configuration."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from d9mlint.app.options import Options
from d9mlint.config import DEVICES
from d9mlint.model import CONFIDENCES, UsageError

SECTION = "d9mlint"
ON_SAVE, ON_TYPE = "onSave", "onType"


class Settings(NamedTuple):
    """The settings of a workspace; None and nothing where the configuration files of the project decide."""

    target: tuple[str, ...] = ()
    device: str | None = None
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    min_confidence: str | None = None
    config: Path | None = None
    run: str = ON_SAVE
    """When files are judged: when they are opened and saved, or also while somebody types."""
    timeout: float | None = None
    """Seconds of CPU time that an entry may take."""

    def options(self) -> Options:
        """The options of a check, all but what to check."""
        return Options(
            paths=(), target=self.target, device=self.device, select=self.select, ignore=self.ignore,
            min_confidence=self.min_confidence, config=self.config, timeout=self.timeout, jobs=1,
        )  # fmt: skip


def settings(given: object, root: Path) -> Settings:
    """The settings in what a client sends, on their own or below ``d9mlint``; a null stands for the default.

    Raises:
        UsageError: an unknown name, or a value of another type.
    """
    if given is None:
        return Settings()
    if not isinstance(given, Mapping):
        raise UsageError(f"the settings of {SECTION} are no object: {given!r}")
    own = given.get(SECTION, given)
    if not isinstance(own, Mapping):
        raise UsageError(f"the settings of {SECTION} are no object: {own!r}")
    unknown = sorted(own.keys() - _READERS.keys())
    if unknown:
        raise UsageError(f"{SECTION}.{unknown[0]} is no setting; there are {', '.join(_READERS)}")
    found: dict[str, Any] = {}
    for name, value in own.items():
        field, read = _READERS[name]
        if value is not None:
            try:
                found[field] = read(value)
            except ValueError as error:
                raise UsageError(f"{SECTION}.{name}: expected {error}, got {value!r}") from None
    if "config" in found:
        found["config"] = root / found["config"]
    return Settings(**found)


def _texts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise ValueError("a list of strings")
    return tuple(value)


def _text(value: object) -> str:
    if not isinstance(value, str) or not value:
        raise ValueError("a string")
    return value


def _one_of(*words: str) -> Callable[[object], str]:
    def read(value: object) -> str:
        if value not in words:
            raise ValueError(f"one of {', '.join(words)}")
        return str(value)

    return read


def _seconds(value: object) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or value <= 0:
        raise ValueError("a number of seconds")
    return float(value)


_READERS: Mapping[str, tuple[str, Callable[[object], Any]]] = {
    "target": ("target", _texts),
    "device": ("device", _one_of(*DEVICES)),
    "select": ("select", _texts),
    "ignore": ("ignore", _texts),
    "minConfidence": ("min_confidence", _one_of(*CONFIDENCES)),
    "config": ("config", _text),
    "run": ("run", _one_of(ON_SAVE, ON_TYPE)),
    "timeout": ("timeout", _seconds),
}
"""By the name of a setting, the field that it fills and what reads it."""
