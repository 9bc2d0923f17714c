"""A told program as the rules see it: questions with three-valued answers, and the making of findings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from operator import attrgetter
from typing import Any, TypeVar

from d9mlint.model import Argument, Target
from d9mlint.python.domain.conditions import UNKNOWN_DEFAULT, Cond, both, either, flag_test, negate, opaque_test
from d9mlint.python.domain.events import Event, Story
from d9mlint.python.domain.knowledge import Knowledge
from d9mlint.python.domain.values import (
    CondValue,
    Const,
    Dict,
    FlagValue,
    Obj,
    Ref,
    Seq,
    Unknown,
    Value,
    alternatives,
)

LOOPS = ("fit", "fit_generator", "train_on_batch", "train", "train_and_evaluate", "run")
"""Last names of calls that run the training themselves."""
T = TypeVar("T")
_index = attrgetter("index")


@dataclass
class Program:
    """One entry (or one file that no entry reaches), told for one target."""

    story: Story
    target: Target
    knowledge: Knowledge
    _once: dict[str, Any] = field(default_factory=dict, repr=False)
    _imported: dict[tuple[str, ...], list[Event]] = field(default_factory=dict, repr=False)

    def once(self, name: str, find: Callable[[Program], T]) -> T:
        """What ``find`` finds about the program, found once however many rules ask."""
        if name not in self._once:
            self._once[name] = find(self)
        return self._once[name]  # type: ignore[no-any-return]

    @property
    def events(self) -> list[Event]:
        """All events, in the order told."""
        return self.story.events

    # -- events ----------------------------------------------------------------------------------------------------

    @cached_property
    def _by_name(self) -> dict[tuple[str, str], list[Event]]:
        out: dict[tuple[str, str], list[Event]] = {}
        for event in self.events:
            out.setdefault((event.kind, event.name), []).append(event)
        return out

    @cached_property
    def effective(self) -> list[Event]:
        """The calls that have an effect, in the order told."""
        return [event for event in self.events if event.effects]

    def find(self, kind: str, *names: str) -> list[Event]:
        """Events of a kind and any of these names, in order; ``module.*`` stands for any last part."""
        found: list[Event] = []
        for name in names:
            if name.endswith(".*"):
                prefix = name[:-1]
                for (its_kind, its_name), events in self._by_name.items():
                    if its_kind == kind and its_name.startswith(prefix):
                        found.extend(events)
            else:
                found.extend(self._by_name.get((kind, name), ()))
        return sorted(found, key=_index)

    def named(self, test: Callable[[str], object], *kinds: str) -> list[Event]:
        """Events whose names pass a test, of any of these kinds (none: of all), in order; a name is tested once."""
        found = [
            events for (kind, name), events in self._by_name.items() if (not kinds or kind in kinds) and test(name)
        ]  # fmt: skip
        return sorted((e for events in found for e in events), key=_index)

    def beginning(self, begins: str | tuple[str, ...], *kinds: str) -> list[Event]:
        """Events whose names begin so, likewise."""
        return self.named(lambda name: name.startswith(begins), *kinds)

    def ending(self, ends: str | tuple[str, ...], *kinds: str) -> list[Event]:
        """Events whose names end so, likewise."""
        return self.named(lambda name: name.endswith(ends), *kinds)

    def calls(self, *names: str) -> list[Event]:
        """Calls of any of these names, in order."""
        return self.find("call", *names)

    def env(self, *names: str) -> list[Event]:
        """Writes of these environment variables, in order."""
        return self.find("env", *names)

    def imports(self, *packages: str) -> list[Event]:
        """Imports of any of these packages or their modules, in order."""
        if packages not in self._imported:
            found = {e.index: e for package in packages for e in self._imports.get(package, ())}
            self._imported[packages] = [found[index] for index in sorted(found)]
        return self._imported[packages]

    @cached_property
    def _imports(self) -> dict[str, list[Event]]:
        """The imports by what is imported, and by each package around that."""
        found: dict[str, list[Event]] = {}
        for event in self.events:
            package = event.raw if event.kind == "import" else ""
            while package:
                found.setdefault(package, []).append(event)
                package = package.rpartition(".")[0]
        return found

    @cached_property
    def trains(self) -> list[Event]:
        """Events that compute gradients or run a training step; in a whole program those that are seen to happen."""
        return [
            e for e in self.events
            if e.trains and (not e.detached or self.story.local) and self._does_train(e)
        ]  # fmt: skip

    def _does_train(self, event: Event) -> bool:
        """Whether what makes it a training holds here: ``LightningCLI(..., run=False)`` trains nothing."""
        tests = [effect.when for effect in event.effects if effect.trains]
        return not tests or any(self.holds(event, when) is not False for when in tests)

    @cached_property
    def training(self) -> Cond:
        """The condition under which the program trains."""
        return either(*(both(*e.guards) for e in driven(self.trains)))

    # -- conditions ------------------------------------------------------------------------------------------------

    def absent(self, event: Event, wanted: Argument) -> Cond:
        """The condition under which an argument is not given or None; False where that is not known."""
        value = event.argument(wanted)
        return True if value is None else is_none(value)

    def holds(self, event: Event, tests: Mapping[str, Any]) -> Cond:
        """The condition under which all keyword tests of a ``when`` hold for a call."""
        return holds(event, tests)


def driven(trains: Iterable[Event]) -> list[Event]:
    """Training calls without those in callbacks of a loop that trains: a ``model_fn`` trains when its loop does."""
    found = list(trains)
    if not any(e.certain and e.name.rpartition(".")[2] in LOOPS for e in found):
        return found
    return [e for e in found if not (e.deferred and e.inside("callback"))]


def is_none(value: Value) -> Cond:
    """The condition under which a value is None; False where it is not known to be."""
    found: list[Cond] = []
    for cond, leaf in alternatives(value):
        if isinstance(leaf, Const):
            found.append(both(cond, leaf.value is None))
        elif isinstance(leaf, FlagValue) and not leaf.flag.required and leaf.flag.default is None:
            found.append(both(cond, flag_test(leaf.flag, "none")))
        elif isinstance(leaf, FlagValue) and leaf.flag.default == UNKNOWN_DEFAULT:
            found.append(False)
    return either(*found)


def holds(event: Event, tests: Mapping[str, Any]) -> Cond:
    """The condition under which all keyword tests of a ``when`` hold for a call."""
    return both(*(_test(event, key, test) for key, test in tests.items()))


def _test(event: Event, key: str, test: Any) -> Cond:
    keyword, _, position = key.partition("@")
    return matches(event.argument(Argument(int(position) if position else None, keyword)), test)


def matches(value: Value | None, test: Any) -> Cond:
    """The condition under which a value passes one test of the ``when`` vocabulary."""
    if isinstance(test, dict):
        if "not" in test:
            inner = matches(value, test["not"])
            if isinstance(value, Unknown) and test["not"] != "absent":
                return opaque_test(("unknown", id(value)), "unknown value")
            return negate(inner)
        if "gt" in test:
            above = _leaves(value, lambda v: isinstance(v, (int, float)) and v > test["gt"])
            return either(above, *(both(cond, flag_test(leaf.flag, ">", test["gt"])) for cond, leaf in _flags(value)))
        return _contains(value, str(test["contains"]))
    if isinstance(test, list):
        return either(*(matches(value, one) for one in test))
    if test == "absent":
        return value is None or is_none(value)
    if test == "present":
        return True if value is not None and not isinstance(value, Const) else negate(matches(value, "absent"))
    if value is None:
        return False
    found: list[Cond] = []
    for cond, leaf in alternatives(value):
        found.append(both(cond, _equals(leaf, test)))
    return either(*found)


def _equals(leaf: Value, wanted: Any) -> Cond:
    if isinstance(leaf, Const):
        if isinstance(wanted, bool) or isinstance(leaf.value, bool) or wanted is None:
            return leaf.value is wanted
        given = leaf.value.decode(errors="replace") if isinstance(leaf.value, bytes) else leaf.value
        return bool(given == wanted)
    if isinstance(leaf, Obj) and isinstance(wanted, str):
        if "." in wanted:
            return leaf.type.removesuffix("()") == wanted
        named = leaf.event.args[0] if leaf.event is not None and leaf.event.args else None
        return matches(named, wanted)  # what is made of a name is as good as the name: a device
    if isinstance(leaf, CondValue) and isinstance(wanted, bool):
        return leaf.cond if wanted else negate(leaf.cond)
    if isinstance(leaf, FlagValue):
        if isinstance(wanted, bool):
            test = flag_test(leaf.flag, "truthy")
            return test if wanted else negate(test)
        return flag_test(leaf.flag, "none") if wanted is None else flag_test(leaf.flag, "==", wanted)
    if isinstance(leaf, Ref) and isinstance(wanted, str):
        return leaf.name == wanted or (leaf.name.rpartition(".")[2] == wanted.rpartition(".")[2] and "." in wanted)
    return False


def _flags(value: Value | None) -> list[tuple[Cond, FlagValue]]:
    """The settings among what a value may be; a default that is not known passes no test."""
    leaves = alternatives(value) if value is not None else ()
    flags = ((cond, leaf) for cond, leaf in leaves if isinstance(leaf, FlagValue))
    return [(cond, leaf) for cond, leaf in flags if type(leaf.flag.default) in (int, float)]


def _contains(value: Value | None, part: str, within: tuple[int, ...] = ()) -> Cond:
    """The condition under which a text has that part, or a dict or a list holds such a text, however deep."""
    found = [_leaves(value, lambda v: isinstance(v, str) and part in v)]
    for cond, leaf in alternatives(value):
        if isinstance(leaf, (Dict, Seq)) and id(leaf) not in within:
            held = leaf.items.values() if isinstance(leaf, Dict) else leaf.items or ()
            inner = (_contains(one, part, (*within, id(leaf))) for one in (*held, leaf.element))
            found.append(both(cond, either(*inner)))
    return either(*found)


def _leaves(value: Value | None, test: Any) -> Cond:
    if value is None:
        return False
    return either(
        *(both(cond, isinstance(leaf, Const) and bool(test(leaf.value))) for cond, leaf in alternatives(value))
    )
