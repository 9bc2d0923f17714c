"""config-benchmark: a config that has a trainer switch cuDNN's autotuning on."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.configs.kinds import BENCHMARK, DETECTRON, LIGHTNING, READ_BY_PROGRAMS, ConfigFile
from d9mlint.configs.rules._drafts import finding, key_of
from d9mlint.model import Finding, Rule

_SECTIONS = {LIGHTNING: ("trainer",), **READ_BY_PROGRAMS}
"""Where the arguments of the trainer stand."""


def check_config(file: ConfigFile, rule: Rule) -> Iterator[Finding]:
    """At the setting, where the trainer may compute on a GPU and nothing asks for determinism (another rule's case)."""
    if file.kind == DETECTRON and (key := key_of(file.root, BENCHMARK)) is not None:
        device = file.root.get("MODEL", "DEVICE")
        if device is None or device.value != "cpu":
            yield finding(rule, key, key=BENCHMARK, trainer="Detectron2's `default_setup`")
    if file.kind not in _SECTIONS:
        return
    section = _SECTIONS[file.kind]
    key, accelerator = key_of(file.root, *section, "benchmark"), file.root.get(*section, "accelerator")
    asked = file.root.get(*section, "deterministic")
    on_cpu = accelerator is not None and accelerator.value == "cpu"
    if key is not None and not on_cpu and not (file.kind == LIGHTNING and asked is not None and asked.value):
        yield finding(rule, key, key="benchmark", trainer="Lightning's trainer")
