"""config-seed-ignored: a DeepSpeed config with a seed, which DeepSpeed does not read."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.configs.kinds import DEEPSPEED, SEEDS, ConfigFile
from d9mlint.configs.rules._drafts import finding, shown
from d9mlint.model import Finding, Rule


def check_config(file: ConfigFile, rule: Rule) -> Iterator[Finding]:
    """At the key; only in JSON, as DeepSpeed reads no YAML."""
    if file.kind == DEEPSPEED and file.path.endswith(".json"):
        for name in sorted(SEEDS & file.root.entries.keys()):
            key, value = file.root.entries[name]
            if isinstance(value.value, int):
                yield finding(rule, key, key=name, value=shown(value))
