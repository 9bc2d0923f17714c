"""config-unseeded: a config that says not to seed."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.configs.documents import Node
from d9mlint.configs.kinds import DETECTRON, HYDRA, LIGHTNING, SEEDS, TRAINING_ARGUMENTS, ConfigFile
from d9mlint.configs.rules._drafts import finding, key_of
from d9mlint.model import Finding, Rule


def check_config(file: ConfigFile, rule: Rule) -> Iterator[Finding]:
    """At the seed; ``null`` in Hydra's files and -1 in Detectron2's are defaults that are often replaced.

    Not so in the file that a program is started with where nobody asks for another.
    """
    key = key_of(file.root, "seed_everything", value=False)
    if file.kind == LIGHTNING and key is not None:
        yield finding(rule, key, key="seed_everything", value="false")
    if file.kind in (HYDRA, TRAINING_ARGUMENTS):
        for name, key in _unset_seeds(file.root):
            yield finding(rule, key, severity="" if file.primary else "info", key=name, value="null")
    key, value = file.root.key("SEED"), file.root.get("SEED")
    if file.kind == DETECTRON and key is not None and value is not None and _is_negative(value):
        yield finding(rule, key, severity="info", key="SEED", value=value.value)


def _unset_seeds(root: Node) -> Iterator[tuple[str, Node]]:
    """Seeds of ``null``: at the top, or where none stands there in a section (``train.seed``)."""
    above = not SEEDS.isdisjoint(root.entries)
    sections = () if above else (key for key, (_, value) in root.entries.items() if value.kind == "map")
    for path in (*((name,) for name in sorted(SEEDS)), *((part, name) for part in sections for name in sorted(SEEDS))):
        key = key_of(root, *path, value=None)
        if key is not None:
            yield ".".join(path), key


def _is_negative(node: Node) -> bool:
    return isinstance(node.value, int) and not isinstance(node.value, bool) and node.value < 0
