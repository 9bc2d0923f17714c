"""Rule files and the hazard vocabulary: YAML to ``Rule``, every value checked."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from d9mlint.catalogue.schema import vocabulary
from d9mlint.catalogue.schema.entries import DEVICES, PACKAGE, PACKAGE_WANTED
from d9mlint.catalogue.schema.nodes import Item, hint, parse
from d9mlint.model import CONFIDENCES, CONFIGS, KERNELS, NOISES, SEVERITIES, CatalogueError, Remedy, Rule

NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", re.ASCII)
_ID = re.compile(r"D9M\d{3}", re.ASCII)
_EXAMPLES = re.compile(r"^examples[ \t]*:", re.MULTILINE)
_NEXT_KEY = re.compile(r"^(?!-\s|#)\S", re.MULTILINE)
_REQUIRED = (
    "id",
    "severity",
    "confidence",
    "hazard",
    "noise",
    "summary",
    "why",
    "remedy",
    "message",
    "sources",
)
_KEYS = (*_REQUIRED, "applies", "cause", "cure", "match", "verify", "examples")
_TEXTS = ("argument", "assign", "unwrap", "behind", "within", "function", "states", "reason")
_MAPS = ("rename", "replace", "chain", "key")
_NEEDS = re.compile(r"[a-z0-9][a-z0-9._-]*>=[0-9.]+", re.ASCII)
"""``numpy>=1.17``."""
_FLAGS = ("sorted", "move", "remedy", "safe", "setting", "spelling", "delete", "rewrite", "instead", "device")
_LISTS = ("without", "at")
_CURES = (*_TEXTS, *_MAPS, *_FLAGS, *_LISTS)
"""Words of a cure, by what stands behind them."""


def module_name(rule: str) -> str:
    """The Python module that judges for ``rule``: its name with underscores."""
    return rule.replace("-", "_")


def hazards(file: str, text: str) -> dict[str, str]:
    """The vocabulary of hazards: slug and meaning."""
    found = {}
    for slug, (key, value) in parse(file, text).pairs().items():
        key.like(NAME, "a slug such as `worker-rng`")
        found[slug] = value.prose()
    return found


def rule(
    file: str, text: str, name: str, family: str, known_hazards: Mapping[str, str], modules: Collection[str]
) -> tuple[Rule, Item]:
    """The rule in ``text``, without its examples, and the place of its id (for complaints about duplicates)."""
    if not NAME.fullmatch(name):
        raise CatalogueError(f"{file}:1: a rule file is named like its rule, such as unseeded-numpy.yaml")
    root = parse(file, _head(file, text))
    values = root.mapping(_KEYS, _REQUIRED)
    if "examples" in values:
        raise values["examples"].error("write `examples:` at the start of a line, unquoted, as the last key")
    framework, versions, device = _applies(values)
    return Rule(
        name=name,
        id=values["id"].like(_ID, "D9M and three digits"),
        family=family,
        severity=values["severity"].one_of(SEVERITIES),
        confidence=values["confidence"].one_of(CONFIDENCES),
        hazard=_hazard(values["hazard"], known_hazards),
        noise=values["noise"].one_of(NOISES),
        summary=_line(values["summary"]),
        why=values["why"].prose(),
        message=_line(values["message"]),
        framework=framework,
        versions=versions,
        device=device,
        remedies=_remedies(values["remedy"], framework),
        match=_match(root, values, name, family, modules),
        sources=values["sources"].texts(),
        cause=values["cause"].like(NAME, "a slug such as `unseeded`") if "cause" in values else "",
        cure=_cure(values["cure"]) if "cure" in values else {},
    ), values["id"]


def _cure(item: Item) -> dict[str, Any]:
    """How findings are cured where they stand: words that `d9mlint.fix` knows, with texts."""
    part = item.mapping(_CURES)
    out: dict[str, Any] = {}
    for name, value in part.items():
        if name in _TEXTS:
            out[name] = value.text()
        elif name in _LISTS:
            out[name] = list(value.texts())
        elif name in _MAPS:
            out[name] = {key: new.text() for key, (_, new) in value.pairs().items()}
        else:
            out[name] = value.flag()
    return out


def _head(file: str, text: str) -> str:
    """The text before ``examples:``, which must come last so that linting never parses it."""
    cut = _EXAMPLES.search(text)
    if cut is None:
        if re.search(r"^[\"'{].*examples", text, re.MULTILINE):
            return text
        raise CatalogueError(f"{file}:1: the file lacks `examples`")
    line_end = text.find("\n", cut.end())
    after = _NEXT_KEY.search(text, line_end + 1) if line_end >= 0 else None
    if after:
        line = text.count("\n", 0, after.start()) + 1
        raise CatalogueError(f"{file}:{line}: `examples` must be the last top-level key")
    return text[: cut.start()]


def _applies(values: Mapping[str, Item]) -> tuple[str, str, str]:
    if "applies" not in values:
        return "", "", ""
    part = values["applies"].mapping(("framework", "versions", "device"))
    if "versions" in part and "framework" not in part:
        raise part["versions"].error("`versions` needs `framework` beside it")
    return (
        part["framework"].like(PACKAGE, PACKAGE_WANTED) if "framework" in part else "",
        part["versions"].specifier() if "versions" in part else "",
        part["device"].one_of(DEVICES) if "device" in part else "",
    )


def _hazard(item: Item, known: Mapping[str, str]) -> str:
    value = item.text()
    if value not in known:
        raise item.error(f"unknown hazard `{value}`{hint(value, known)} (hazards.yaml lists them)")
    return value


def _line(item: Item) -> str:
    value = item.prose()
    if "\n" in value:
        raise item.error(f"{item.key} must be a single line")
    return value


def _remedies(item: Item, framework: str) -> tuple[Remedy, ...]:
    if not item.is_list():
        return (Remedy(item.prose()),)
    found = []
    for one in item.items():
        values = one.mapping(("framework", "versions", "needs", "text"), ("text",))
        other = values["framework"].like(PACKAGE, PACKAGE_WANTED) if "framework" in values else ""
        if "versions" in values and not (framework or other):
            raise values["versions"].error("`versions` of a remedy needs `applies: {framework: ...}`")
        versions = values["versions"].specifier() if "versions" in values else ""
        found.append(Remedy(values["text"].prose(), versions, other, _needs(values)))
    return tuple(found)


def _needs(values: Mapping[str, Item]) -> str:
    """The package and release that a remedy needs; empty where it works with all."""
    return values["needs"].like(_NEEDS, "a package and its first release that will do") if "needs" in values else ""


def _match(
    root: Item, values: Mapping[str, Item], name: str, family: str, modules: Collection[str]
) -> Mapping[str, object] | None:
    """``match`` or the Python module of the same name, never both."""
    if "match" in values and family in (KERNELS, CONFIGS):
        raise values["match"].error(f"`match` is about Python; a rule of the family {family} has a module instead")
    module = module_name(name)
    if "match" not in values:
        if module not in modules:
            raise root.error(f"the rule has neither `match` nor a Python module {module}.py")
        return None
    if module in modules:
        raise values["match"].error(f"the rule has both `match` and a Python module {module}.py")
    return vocabulary.match(values["match"])
