"""config-autotune: a config that has kernels, or the config itself, chosen by timing."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.configs.kinds import ACCELERATE, DEEPSPEED, TRAINING_ARGUMENTS, ConfigFile
from d9mlint.configs.rules._drafts import finding, key_of, shown
from d9mlint.model import Finding, Rule

_PLACES = {
    ACCELERATE: (("dynamo_config", "dynamo_mode"), ("dynamo_mode",)),
    TRAINING_ARGUMENTS: (("torch_compile_mode",),),
}


def check_config(file: ConfigFile, rule: Rule) -> Iterator[Finding]:
    """At the mode."""
    for place in _PLACES.get(file.kind, ()):
        key, value = file.root.key(*place), file.root.get(*place)
        if key is not None and value is not None and str(value.value).startswith("max-autotune"):
            yield finding(rule, key, key=place[-1], value=shown(value), what="kernels")
    tuned = key_of(file.root, "autotuning", "enabled") if file.kind == DEEPSPEED else None
    if tuned is not None:
        yield finding(rule, tuned, key="autotuning.enabled", value="true", what="the batch size and other values")
