"""How findings about config files are written."""

from __future__ import annotations

from d9mlint.configs.documents import Node
from d9mlint.configs.told import Start
from d9mlint.model import Finding, Fix, Location, Related, Rule


def finding(
    rule: Rule, at: Node, *, see: Node | None = None, note: str = "", severity: str = "",
    fixes: tuple[Fix, ...] = (), **words: object,
) -> Finding:  # fmt: skip
    """A finding at a key or value; ``words`` fill the rule's message."""
    return Finding(
        rule=rule.name, id=rule.id, hazard=rule.hazard, noise=rule.noise, severity=severity or rule.severity,
        confidence=rule.confidence, message=rule.message.format(**words), location=at.location,
        remedy=rule.remedies[0].text if rule.remedies else "",
        related=(Related(see.location, note),) if see is not None else (), fixes=fixes,
    )  # fmt: skip


def key_of(root: Node, *path: str, value: object = True) -> Node | None:
    """The key at the end of a way through maps, when its value is ``value``."""
    key, found = root.key(*path), root.get(*path)
    return key if found is not None and found.kind == "scalar" and found.value is value else None


def shown(node: Node) -> str:
    """A value as it may stand in a message."""
    if isinstance(node.value, bool):
        return str(node.value).lower()
    return "null" if node.kind == "scalar" and node.value is None else str(node.value)


def command_finding(
    rule: Rule, start: Start, remedy: str, *, at: Location | None = None, confidence: str = "", **words: object
) -> Finding:
    """A finding at a command, or at one of its words or variables."""
    return Finding(
        rule=rule.name, id=rule.id, hazard=rule.hazard, noise=rule.noise, severity=rule.severity,
        confidence=confidence or rule.confidence, message=rule.message.format(**words), location=at or start.location,
        remedy=remedy,
    )  # fmt: skip


def has_option(start: Start, *names: str) -> bool:
    """Whether a command is given one of these options, with a value or without."""
    return any(word.text.partition("=")[0] in names for word in start.arguments)


def is_known(start: Start) -> bool:
    """Whether all words of a command are known: what is not may hold any option."""
    return all(word.known for word in start.arguments if word.text.startswith(("-", "$", "`", "{")))
