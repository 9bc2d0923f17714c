"""What the catalogue holds once it is loaded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from d9mlint.model import Effect, Op, Rule


class Catalogue(NamedTuple):
    """All rules, effects and ops; ``digest`` names the content of the files that they came from, for cache keys."""

    rules: Mapping[str, Rule]
    """By name, sorted."""
    effects: tuple[Effect, ...]
    """In the order of the files (sorted by name) and of their entries."""
    ops: tuple[Op, ...]
    aliases: Mapping[str, str]
    """Module prefixes under which known names are met, and the prefix that they stand for (``tf.keras``: ``keras``)."""
    hazards: Mapping[str, str] = {}
    """The vocabulary: slug and what it means."""
    digest: str = ""
