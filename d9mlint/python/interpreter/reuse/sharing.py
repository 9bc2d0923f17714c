"""Modules that are run once for all entries: what a module does when it is imported, kept and done again.

A module's top level does the same wherever it is imported, as long as what it reads of others is the same: variables of
the environment, names of other modules, where its own imports lead. So the first entry that imports it runs it; for the
next ones its objects are linked as they are, its events are put into their order, and its changes to other modules'
objects (registries, say) are made again. A group of modules that import each other is linked as a whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from d9mlint.python.domain.choices import same
from d9mlint.python.domain.values import Dict, Module, Value, born
from d9mlint.python.interpreter.heap import EVERY, Activation, Change, Notes, Ranges, Read
from d9mlint.python.interpreter.scopes import Told, place

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter


class Import(NamedTuple):
    """A module of the program that is imported there, or that was imported before."""

    path: str
    name: str
    module: Module


class Folder(NamedTuple):
    """A folder without ``__init__``, which is a package from when a module is imported out of it."""

    base: str
    name: str
    """What it is called as one; empty where it is only asked whether it is one by then."""
    module: Module | None


class Record(NamedTuple):
    """What a module does when it is imported."""

    module: Module
    steps: tuple[Step, ...]
    reads: tuple[Read, ...]
    found: tuple[tuple[tuple[str, str], str | None], ...]
    """Where its absolute imports lead: the path without an ending, None for what is no part of the program."""
    asked: frozenset[str]
    """The files that were looked for meanwhile."""
    entered: frozenset[int]
    """The functions that were called meanwhile, by the ``id`` of their definition."""
    members: frozenset[str]
    """Its path, and those of the modules of its group."""
    reason: str
    """Why the file cannot be read; empty where it can."""


Step: TypeAlias = "Told | Import | Folder | Record | Change"


class Running:
    """A module that is being imported."""

    __slots__ = (
        "activation",
        "alone",
        "asked",
        "changes",
        "entered",
        "found",
        "low",
        "mark",
        "members",
        "module",
        "steps",
    )

    def __init__(self, module: Module, level: int, mark: int) -> None:
        self.module = module
        self.activation = Activation(born())
        self.steps: list[Step] = []
        self.found: dict[tuple[str, str], str | None] = {}
        self.asked: set[str] = set()
        self.entered: set[int] = set()
        self.low = level
        """The outermost module that is being imported and whose group it, or what it imports, imports again."""
        self.mark = mark
        """How many events there were when its own code last began to run."""
        self.alone = True
        """Whether it does the same for each entry, as far as is seen."""
        self.members = {module.path}
        self.changes = 0
        """How many of its changes are among the steps."""


class Shared:
    """The modules that were run, and what stands outside of all modules; for the entries of one target."""

    def __init__(self) -> None:
        self.ranges = Ranges()
        self.environment = Dict({}, True)
        self.notes = Notes()
        for tick in (self.environment.tick, self.notes.tick):
            self.ranges.add(tick, tick + 1)
        self.records: dict[tuple[str, str], Record] = {}
        self.folders: dict[tuple[str, str], Module] = {}
        """The packages without ``__init__``, by their path and name."""


class Linker:
    """Imports the modules of one entry."""

    def __init__(self, interp: Interpreter, shared: Shared) -> None:
        self._interp = interp
        self._shared = shared
        self._running: list[Running] = []
        self._fits: dict[tuple[str, str], bool] = {}

    # -- what runs -----------------------------------------------------------------------------------------------------

    def imported(self, module: Module, name: str) -> None:
        """Notes that what runs imports a module, whether that has run already or is about to."""
        if not self._running:
            return
        running = self._running[-1]
        for level, one in enumerate(self._running):
            if module.path in one.members:
                running.low = min(running.low, level)
                return
        self._flush(running)
        running.steps.append(Import(module.path, name, module))

    def folder(self, base: str, name: str) -> Module:
        """The package that a folder without ``__init__`` is, the same for all entries that import it by that name."""
        wanted = self._shared.folders.setdefault((base, name), Module(name, f"{base}/", None))
        found = self._interp.modules.setdefault(base, wanted)
        self._step(Folder(base, name, found))
        return found

    def known_folder(self, bases: Iterable[str]) -> Module | None:
        """The first of some folders that is a package by now."""
        for base in bases:
            found = self._interp.modules.get(base)
            self._step(Folder(base, "", found))
            if found is not None:
                return found
        return None

    def _step(self, step: Step) -> None:
        """Keeps what the module that runs has done."""
        if self._running:
            self._flush(self._running[-1])
            self._running[-1].steps.append(step)

    def led(self, importer: str, dotted: str, base: str | None) -> None:
        """Notes where an absolute import in a file leads."""
        if self._running:
            self._running[-1].found[importer, dotted] = base

    def differs(self) -> None:
        """Notes that what runs may do something else for another entry."""
        if self._running:
            self._running[-1].alone = False

    def begin(self, module: Module) -> Running:
        """A module begins to run."""
        interp = self._interp
        if self._running:
            self._flush(self._running[-1])
        running = Running(module, len(self._running), len(interp.story.events))
        running.alone = not interp.path.quiet
        self._running.append(running)
        interp.heap.activation = running.activation
        return running

    def end(self, running: Running, name: str, reason: str = "") -> None:
        """A module has run to its end."""
        interp = self._interp
        self._flush(running)
        self._running.pop()
        outer = self._running[-1] if self._running else None
        interp.heap.activation = outer.activation if outer is not None else None
        if outer is not None:
            outer.mark = len(interp.story.events)
            outer.asked |= running.asked
            outer.entered |= running.entered
        reads = tuple(running.activation.reads.values())
        record = Record(
            running.module, tuple(running.steps), reads, tuple(running.found.items()), frozenset(running.asked),
            frozenset(running.entered), frozenset(running.members), reason,
        )  # fmt: skip
        if outer is not None and running.low < len(self._running):
            self._join(outer, running, record)
        elif self._is_alone(running):
            self._shared.ranges.add(running.activation.start, born())
            self._shared.records[(running.module.path, name)] = record
            if outer is not None:
                outer.activation.holes.append((running.activation.start, born()))
        elif outer is not None:
            outer.alone = False

    def _join(self, outer: Running, running: Running, record: Record) -> None:
        """Makes a module part of the group of the one that imports it, as they import each other."""
        outer.low = min(outer.low, running.low)
        outer.alone = outer.alone and running.alone
        outer.members |= running.members
        outer.found |= running.found
        last = outer.steps[-1] if outer.steps else None
        if isinstance(last, Import) and last.module is running.module:
            outer.steps.pop()
        outer.steps.append(record._replace(steps=tuple(step for step in record.steps if not isinstance(step, Change))))
        for read in running.activation.reads.values():
            self._interp.heap.read(*read)
        for change in running.activation.changes:
            self._interp.heap.again(change)

    def _flush(self, running: Running) -> None:
        """Puts the events of a module's own code among its steps."""
        events = self._interp.story.events
        running.steps += map(Told.of, events[running.mark :])
        running.mark = len(events)
        changes = running.activation.changes
        running.steps += changes[running.changes :]
        running.changes = len(changes)

    def _is_alone(self, running: Running) -> bool:
        """Whether all that a module looks at and changes is there for other entries, too."""
        if not running.alone or running.module.fails:
            return False
        activation, ranges = running.activation, self._shared.ranges
        things = [read.holder.tick for read in activation.reads.values()]
        things += [change.thing.tick for change in activation.changes]
        return all(tick in ranges for tick in things)

    # -- what has run for another entry --------------------------------------------------------------------------------

    def link(self, name: str, path: str) -> Module | None:
        """Imports a module that another entry has run, if it would do the same here."""
        if not self._would_be_same(name, path, {}):
            return None
        record = self._shared.records[(path, name)]
        outer = self._running
        if outer:
            self._flush(outer[-1])
        activation, self._interp.heap.activation = self._interp.heap.activation, None
        self._running = []
        self._link(record)
        self._running, self._interp.heap.activation = outer, activation
        if outer:
            outer[-1].mark = len(self._interp.story.events)
            outer[-1].asked |= record.asked
            outer[-1].entered |= record.entered
        return record.module

    def _link(self, record: Record) -> None:
        interp, module = self._interp, record.module
        interp.modules[module.path] = module
        if record.reason:
            interp.story.unchecked[module.path] = record.reason
        else:
            interp.story.modules.append(module)
        interp.project.asked |= record.asked
        interp.entered |= record.entered
        for step in record.steps:
            if isinstance(step, Told):
                self._tell(step)
            elif isinstance(step, Import):
                interp.import_once(step.name, step.path)
            elif isinstance(step, Folder):
                if step.name and step.module is not None:
                    interp.modules.setdefault(step.base, step.module)
            elif isinstance(step, Record):
                self._link(step)
            else:
                interp.heap.again(step)

    def _tell(self, told: Told) -> None:
        """Puts an event of a module at the end of those of this entry."""
        interp, event = self._interp, told.event
        event.index = len(interp.story.events)
        interp.story.events.append(event)
        place(interp, event, told)

    def _would_be_same(self, name: str, path: str, changed: dict[tuple[int, Any], Any]) -> bool:
        """Whether a module would do what it did for the entry that ran it.

        ``changed`` is what modules that are linked before it will have changed by then.
        """
        key = (path, name)
        if key not in self._fits:
            self._fits[key] = True  # for those that come back to it
            record = self._shared.records.get(key)
            self._fits[key] = record is not None and self._fits_here(record, changed)
        return self._fits[key]

    def _fits_here(self, record: Record, changed: dict[tuple[int, Any], Any]) -> bool:
        interp = self._interp
        if not interp.modules.keys().isdisjoint(record.members):
            return False
        if any(interp.project.base_of(dotted, interp.roots, path) != base for (path, dotted), base in record.found):
            return False
        if not all(_reads_same(read, changed) for read in record.reads):
            return False
        return all(self._step_fits(step, changed) for step in record.steps)

    def _step_fits(self, step: Step, changed: dict[tuple[int, Any], Any]) -> bool:
        if isinstance(step, Import):
            there = self._interp.modules.get(step.path)
            return there is step.module if there is not None else self._would_be_same(step.name, step.path, changed)
        if isinstance(step, Folder):
            place = (id(self._shared.folders), step.base)
            known = self._interp.modules.get(step.base) or changed.get(place)
            if known is None and step.name:
                known = changed[place] = self._shared.folders[step.base, step.name]
            return known is step.module
        if isinstance(step, Record):
            return all(self._step_fits(inner, changed) for inner in step.steps)
        if isinstance(step, Change):
            changed[(id(step.thing), step.key)] = step.outcome()
        return True


def _reads_same(read: Read, changed: dict[tuple[int, Any], Any]) -> bool:
    """Whether what a module reads is what it read."""
    now = changed.get((id(read.holder), read.key), _UNCHANGED)
    if now is _UNCHANGED:
        now = read.now()
    if read.key is EVERY:
        return isinstance(now, tuple) and len(now) == len(read.value) and all(map(_alike, now, read.value))
    return _alike(now, read.value)


def _alike(one: Value | None, other: Value | None) -> bool:
    if isinstance(one, tuple) and isinstance(other, tuple):
        return one[0] == other[0] and _alike(one[1], other[1])
    return one is other or (one is not None and other is not None and same(one, other))


_UNCHANGED = object()
