"""Names that stand for others: what can be reached by several paths has one name in the catalogue."""

from __future__ import annotations

from collections.abc import Mapping

_MOST_TIMES = 8
"""So often one name stands for another before it is taken as it is: aliases may run in a circle."""
_INSIDE = ".*"
"""The end of an alias for a package and whatever modules are in it."""


class Aliases:
    """Prefixes of dotted names, with what each stands for: ``tensorflow.keras: keras``; the longest is the one.

    ``torch.nn.modules.*: torch.nn`` leaves out the modules too, whichever they are, up to the first class, or to the
    last name where there is no class. Where a package stands for itself (``torch.optim.*: torch.optim``), it is those
    up to a class only: ``torch.optim.adam.Adam``.
    """

    def __init__(self, aliases: Mapping[str, str]) -> None:
        self._prefixes = {alias: meaning for alias, meaning in aliases.items() if not alias.endswith(_INSIDE)}
        self._packages = {
            alias.removesuffix(_INSIDE): meaning for alias, meaning in aliases.items() if alias.endswith(_INSIDE)
        }

    def resolve(self, name: str) -> str:
        """The one name of something that can be reached by several (``tf.keras.X`` is ``keras.X``)."""
        for _ in range(_MOST_TIMES):
            before, name = name, self._once(name)
            if name == before:
                break
        return name

    def _once(self, name: str) -> str:
        prefix = name
        while prefix:
            rest = name[len(prefix) :]
            if prefix in self._prefixes:
                return self._prefixes[prefix] + rest
            if prefix in self._packages:
                meaning = self._packages[prefix]
                last = _without_modules(rest, only_classes=meaning == prefix)
                if last is not None:
                    return meaning + last
            prefix = prefix.rpartition(".")[0]
        return name


def _without_modules(rest: str, *, only_classes: bool) -> str | None:
    """What is left of ``.conv.Conv2d`` without its modules; None where only classes count and it has none."""
    parts = rest.split(".")[1:]
    first = next((number for number, part in enumerate(parts) if part.lstrip("_")[:1].isupper()), None)
    if first is None:
        if only_classes:
            return None
        first = max(len(parts) - 1, 0)
    return "".join(f".{part}" for part in parts[first:])
