"""Which ops the kernels in a built framework belong to: ``rules/builds/*.yaml``, read only where a build is scanned.

Imports yaml: only ``d9mlint kernels --installed`` and the full check of the catalogue import this module.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from d9mlint.catalogue.files import File, gather, rules_folder
from d9mlint.catalogue.schema.entries import PACKAGE, PACKAGE_WANTED
from d9mlint.catalogue.schema.nodes import Item, parse
from d9mlint.model import CatalogueError, Family

BUILDS = "builds"
"""The folder of these files."""
_KEYS = ("kernels", "with", "ops", "direction", "python", "catalogue", "source")
_REQUIRED = ("kernels", "ops", "direction", "source")
_DIRECTIONS = ("forward", "backward", "both")


def read_families(folder: Path | None = None) -> tuple[Family, ...]:
    """The families of all frameworks, in the order of the files.

    Raises:
        CatalogueError: with file:line of everything that is wrong.
    """
    found: list[Family] = []
    errors: list[str] = []
    for file in gather(folder or rules_folder(), (), None).rules:
        if file.family == BUILDS:
            try:
                found += families(file)
            except CatalogueError as error:
                errors.append(str(error))
    if errors:
        raise CatalogueError("\n".join(errors))
    return tuple(found)


def families(file: File) -> list[Family]:
    """The families of one file."""
    values = parse(file.shown, file.text()).mapping(*2 * (("framework", "families"),))
    framework = values["framework"].like(PACKAGE, PACKAGE_WANTED)
    return [_family(item, framework) for item in values["families"].items()]


def unknown_ops(found: Iterable[Family], known: Iterable[str]) -> list[str]:
    """The names under ``catalogue`` that no op of the catalogue has."""
    names = set(known)
    return sorted({op for family in found for op in family.catalogue if op not in names})


def _family(item: Item, framework: str) -> Family:
    values = item.mapping(_KEYS, _REQUIRED)

    def texts(key: str) -> tuple[str, ...]:
        return values[key].texts() if key in values else ()

    return Family(
        framework=framework, kernels=texts("kernels"), within=texts("with"), ops=texts("ops"),
        direction=values["direction"].one_of(_DIRECTIONS), python=texts("python"), catalogue=texts("catalogue"),
        source=values["source"].prose(),
    )  # fmt: skip
