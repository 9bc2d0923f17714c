"""What the rules of the family ``configs`` find in config files."""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterable

from d9mlint.configs import documents, kinds
from d9mlint.configs.files import text_of
from d9mlint.configs.kinds import ConfigFile
from d9mlint.configs.told import Start
from d9mlint.model import CONFIGS, Finding, Rule, Target

ABOUT_COMMANDS = frozenset({"batch-variance", "megatron-conflict", "timed-engine-build"})
"""Rules about the commands in launchers, of whatever family: the module of their name has ``check_start``."""
ENDINGS = (".json", ".yaml", ".yml")


def config(path: str, data: bytes, primary: Collection[str] = ()) -> ConfigFile | None:
    """The config file in ``data``; None where it is none of a known kind.

    ``primary`` are the paths of those that Hydra composes for a program, whatever they hold.

    Raises:
        NotReadable: it is malformed, or too large to be looked at.
    """
    if len(data) > kinds.MAX_BYTES:
        raise documents.NotReadable(f"larger than {kinds.MAX_BYTES // 1000} kB")
    if path not in primary and kinds.SCREEN.search(data) is None:
        return None
    root = documents.read(text_of(data), path)
    kind = kinds.HYDRA if path in primary else kinds.kind(root)
    return ConfigFile(path, kind, root, path in primary) if kind else None


def findings(file: ConfigFile, rules: Iterable[Rule], target: Target) -> list[Finding]:
    """The findings in a config file, sorted; each rule is judged by the module of its name."""
    found: list[Finding] = []
    for rule in rules:
        if rule.family == CONFIGS and rule.name not in ABOUT_COMMANDS and rule.applies(target):
            module = importlib.import_module(f"d9mlint.configs.rules.{rule.name.replace('-', '_')}")
            found.extend(module.check_config(file, rule))
    return sorted(found, key=lambda one: one.sort_key)


def command_findings(starts: Iterable[Start], rules: Iterable[Rule], target: Target) -> list[Finding]:
    """The findings about what a launcher starts, sorted."""
    commands = tuple(starts)
    found: list[Finding] = []
    for rule in rules if commands else ():
        if rule.name in ABOUT_COMMANDS and rule.applies(target):
            module = importlib.import_module(f"d9mlint.configs.rules.{rule.name.replace('-', '_')}")
            found.extend(one for start in commands for one in module.check_start(start, rule, target))
    return sorted(set(found), key=lambda one: one.sort_key)
