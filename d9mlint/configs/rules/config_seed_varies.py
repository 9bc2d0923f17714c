"""config-seed-varies: a seed that a resolver of Hydra fills in anew for each run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from d9mlint.configs.documents import Node
from d9mlint.configs.kinds import HYDRA, MONAI, ConfigFile
from d9mlint.configs.rules._drafts import finding, shown
from d9mlint.model import Edit, Finding, Fix, Rule

_VARIES = re.compile(r"\$\{(?:now|random|uuid|timestamp)\b[^}]*\}")
MAX_LOOKED_AT = 20_000


def check_config(file: ConfigFile, rule: Rule) -> Iterator[Finding]:
    """At each key called ``seed`` (or ``..._seed``)."""
    if file.kind in (HYDRA, MONAI):
        for key, value in _pairs(file.root):
            name = str(key.value)
            if name.endswith("seed") and isinstance(value.value, str) and _VARIES.search(value.value):
                number = Fix("a number", (Edit(value.location, "1"),))
                yield finding(rule, key, key=name, value=shown(value), fixes=(number,))


def _pairs(root: Node) -> Iterator[tuple[Node, Node]]:
    """All keys with their values."""
    for node in islice(root.each(), MAX_LOOKED_AT):
        yield from node.pairs()
