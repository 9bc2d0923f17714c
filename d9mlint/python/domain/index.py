"""What the catalogue says of names, for whichever target: made once for all programs of a process."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from d9mlint.catalogue.aliases import Aliases
from d9mlint.model import Effect, Op


class Index:
    """Effects and ops by canonical name."""

    def __init__(self, aliases: Mapping[str, str], effects: Iterable[Effect], ops: Iterable[Op]) -> None:
        self.aliases = dict(aliases)
        self.resolve = Aliases(aliases).resolve
        self.canonical: dict[str, str] = {}
        """Of the names that the catalogue uses."""
        self.effects: dict[str, list[Effect]] = {}
        self.names: dict[str, set[str]] = {}
        """By module: the last parts of the names in it."""
        self.switching: dict[str, set[str]] = {}
        """By the last part of the name of a call that may seed or switch something: what it may belong to."""
        self.ops: dict[str, tuple[Op, ...]] = {}
        self.varying: set[str] = set()
        """The last parts of these names, and of those of calls that draw random numbers."""
        self.telling: set[str] = set()
        """Modules and packages in which something is that a rule may be about."""
        for effect in effects:
            switches = bool(effect.switches) or any(not one.startswith("own") for one in effect.seeds)
            for key in dict.fromkeys(map(self._known, effect.calls)):
                module, _, last = key.rpartition(".")
                if switches:
                    self.switching.setdefault(last, set()).add(module.rpartition(".")[2])
                self.names.setdefault(module, set()).add(last)
                self.effects.setdefault(key, []).append(effect)
                if effect.draws:
                    self.varying.add(last)
                if _tells(effect):
                    self._add_above(key)
        for op in ops:
            for key in dict.fromkeys(map(self._known, op.calls)):
                self.ops[key] = (*self.ops.get(key, ()), op)
                self._add_above(key)
        self.varying.update(key.rpartition(".")[2] for key in self.ops)

    def _add_above(self, name: str) -> None:
        """Each module above a name tells something."""
        module = name.rpartition(".")[0]
        while module and module not in self.telling:
            self.telling.add(module)
            module = module.rpartition(".")[0]

    def _known(self, name: str) -> str:
        found = self.canonical.get(name)
        if found is None:
            found = self.canonical[name] = self.resolve(name)
        return found


def _tells(effect: Effect) -> bool:
    """Whether a call with an effect does more than to give something of a known type, or to take it apart."""
    return bool(
        effect.draws or effect.seeds or effect.creates or effect.switches or effect.varies or effect.origin
        or effect.order or effect.orders_data or effect.writes or effect.opens or effect.trains or effect.loads
        or effect.invokes
    )  # fmt: skip


def index(aliases: Mapping[str, str], effects: Iterable[Effect], ops: Iterable[Op]) -> Index:
    """The index of these very objects, which nobody changes any more: a catalogue is read once and judges a lot."""
    return _made(_Same(aliases, effects, ops))


class _Same:
    """Parts of a catalogue, equal only where they are the same objects: comparing what is in them costs too much."""

    def __init__(self, aliases: Mapping[str, str], effects: Iterable[Effect], ops: Iterable[Op]) -> None:
        self.aliases, self.effects, self.ops = aliases, effects, ops

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, _Same):
            return NotImplemented
        return self.aliases is other.aliases and self.effects is other.effects and self.ops is other.ops

    def __hash__(self) -> int:
        return hash((id(self.aliases), id(self.effects), id(self.ops)))


@lru_cache(maxsize=2)
def _made(parts: _Same) -> Index:
    return Index(parts.aliases, parts.effects, parts.ops)
