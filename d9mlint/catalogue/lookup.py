"""Ops by the names that people use."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from d9mlint.catalogue.aliases import Aliases
from d9mlint.model import Op

_SHORT = {"tf": "tensorflow", "np": "numpy"}
"""How people write the packages whose canonical names the op files use."""


def ops_called(name: str, ops: Iterable[Op], aliases: Mapping[str, str]) -> list[Op]:
    """Ops by their own name, else by a name under which they are called, short and re-exported prefixes included."""
    listed = list(ops)
    own = [op for op in listed if op.name == name]
    wanted = spellings(name, aliases)
    return own or [op for op in listed if wanted & {op.name, *op.calls}]


def spellings(name: str, aliases: Mapping[str, str]) -> set[str]:
    """The name with every prefix that stands for another one replaced."""
    found = {name}
    for prefix, meaning in (*_SHORT.items(), *aliases.items()):
        found |= {meaning + known[len(prefix) :] for known in tuple(found) if known.startswith(prefix + ".")}
    return found | set(map(Aliases(aliases).resolve, found))
