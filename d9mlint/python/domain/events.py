"""The story of a program: what happens, in order, each with the conditions under which it does."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from d9mlint.model import Argument, Coverage, Effect, Location
from d9mlint.python.domain.conditions import Cond, Flag, both
from d9mlint.python.domain.path import Path
from d9mlint.python.domain.values import Func, Module, Unknown, Value, born
from d9mlint.python.source.facts import Jump
from d9mlint.python.source.notebooks import Cell

CPU, OTHER_DEVICE = "cpu", "other-device"
"""Contexts of what is put on a device: on the CPU, or on another one although the CPU is named further out."""


class Frame:
    """The names of a module, class body or function call."""

    __slots__ = (
        "body_of_class",
        "born",
        "branches",
        "func",
        "globals",
        "jump",
        "loops",
        "module",
        "order",
        "parent",
        "results",
        "tick",
        "vars",
        "yields",
    )

    def __init__(self, module: Module, parent: Frame | None, path: Path, func: Func | None = None) -> None:
        self.vars: dict[str, Value] = {}
        self.tick = born()
        self.module = module
        self.parent = parent
        self.born = path.told
        self.branches = path.branches
        self.func = func
        self.globals: dict[str, Frame] = {}
        self.results: list[tuple[Cond, Value]] = []
        self.yields: list[Value] = []
        self.body_of_class = False
        self.loops = 0
        """How many of its loops are being run."""
        self.jump: Jump | None = None
        """The ``break`` or ``continue`` that was last come to."""
        self.order: tuple[str, tuple[Event, ...]] = ("", ())
        """The order that a generator's values come out in, and where it comes from."""


@dataclass(slots=True, eq=False)
class Event:
    """One thing that happens. Kinds: ``call``, ``set``, ``env``, ``import``, ``iterate``, ``sink``, ``mention``,
    ``pass`` (a pass over what a loader of data gives begins), ``turns`` (a loop in no promised order, told in it),
    ``together`` (something is filled in several such orders at once), ``compare`` (of something drawn at random, or
    counted in a folder), ``bound`` (in a loop that a number ends which is counted in a folder), ``put`` (of an
    array into another: ``array[0] = other``), ``dropped`` (a call whose result nobody gets, and that does nothing
    else), ``kept`` (at the end of a loop: random keys that are the same in each iteration), ``timed`` (a loop that
    trains as long as its test asks the clock; or, with a condition and whether that leaves the loop, what is done
    in a loop where the clock says so; without a condition, but `True`, the test of a loop that trains nothing)."""

    index: int
    kind: str
    name: str
    """Canonical dotted name (``?.fit`` for a method of something unknown)."""
    raw: str
    """The name as the program reaches it (``tensorflow.compat.v1.set_random_seed``)."""
    location: Location
    guards: tuple[Cond, ...]
    excluded: tuple[Cond, ...] = ()
    """What else is known there, as the program has stopped where it does not hold; needs no mention."""
    args: tuple[Value, ...] = ()
    kwargs: dict[str, Value] = field(default_factory=dict)
    star: bool = False
    """Arguments were unpacked from something unknown, so an absent one may be there all the same."""
    receiver: Value | None = None
    contexts: tuple[str, ...] = ()
    stack: tuple[Location, ...] = ()
    """Where the calls stand that lead here, outermost first."""
    callers: tuple[Func | None, ...] = ()
    """The functions of the program that those calls stand in."""
    detached: bool = False
    """Nothing in the program was seen to call it."""
    unreached: bool = False
    """Nothing that is called mentions the function or class that it stands in."""
    deferred: bool = False
    """It happens later than told (a callback handed over)."""
    importing: bool = False
    """It happens while a module is imported."""
    effects: tuple[Effect, ...] = ()
    result: Value | None = None
    main_only: bool = False
    """It happens under ``if __name__ == "__main__"``: not where another process imports the file."""
    func: Func | None = None
    """The function of the program that it happens in."""
    loader: Event | None = None
    """The call that made the data loader which does it, while it is gone through."""
    discarded: bool = False
    """Its result, or what was made of it, was thrown away: a call that stands alone, a name that nothing reads."""
    tried: int = 0
    """In how many ``try`` it stands, or after how many whose handlers leave: an error may keep it from happening."""
    idle: Cond = False
    """When the number that it draws decides nothing: it is only held against a bound that all numbers pass, or none."""
    colours: bool = False
    """What it draws is kept under a name that says it is a colour."""
    in_training: bool = False
    """What it gives is read only where a module is in training mode: ``self.training and x < p``."""
    loops: tuple[int, ...] = ()
    """Numbers of the loops around it, outermost first, also of those around the calls that lead here."""
    tick: int = field(default_factory=born)

    def argument(self, wanted: Argument) -> Value | None:
        """The argument's value; None when it is absent, Unknown when it may hide in ``*args``/``**kwargs``."""
        if wanted.keyword in self.kwargs:
            return self.kwargs[wanted.keyword]
        if wanted.position is not None and wanted.position < len(self.args):
            return self.args[wanted.position]
        return Unknown() if self.star else None

    def inside(self, *contexts: str) -> bool:
        """Whether it happens in one of these contexts."""
        for one in self.contexts:  # noqa: SIM110 - each rule asks it of all events, and `any` takes three times as long
            if one in contexts:
                return True
        return False

    def on_cpu(self) -> bool:
        """Whether it is put on the CPU: of several devices around it the innermost one counts."""
        return next((one == CPU for one in reversed(self.contexts) if one in (CPU, OTHER_DEVICE)), False)

    def meets(self, *others: Event) -> bool:
        """Whether one run can come to this event and to the others."""
        return both(*(cond for one in (self, *others) for cond in (*one.guards, *one.excluded))) is not False

    @property
    def trains(self) -> bool:
        """Whether it computes gradients or runs a training step; a ``fit`` of something unknown counts."""
        if self.kind != "call":
            return False
        if self.name.endswith((".backward", "?.fit")):
            return True
        return bool(self.effects) and any(x.trains for x in self.effects)

    @property
    def certain(self) -> bool:
        """Whether it surely happens at its place in the order."""
        return not self.detached and not self.deferred


@dataclass(slots=True)
class Story:
    """Everything that was told about one entry."""

    entry: str
    events: list[Event] = field(default_factory=list)
    flags: dict[str, Flag] = field(default_factory=dict)
    read_flags: frozenset[str] = frozenset()
    parsed: bool = False
    """The command line was parsed."""
    flags_escape: bool = False
    """The parsed arguments were handed to something unknown, which may read any of them."""
    release: Callable[[], None] = lambda: None
    """To be called when nobody asks for the events any more."""
    unchecked: dict[str, str] = field(default_factory=dict)
    """Files of the program that could not be read, with the reason."""
    modules: list[Module] = field(default_factory=list)
    truncated: bool = False
    """A bound was met: not all that the program does is known."""
    cut: int = 0
    """Before which event the first bound was met, where one was."""
    cuts: tuple[str, ...] = ()
    """Which bounds were met, and where, in words."""
    coverage: Coverage | None = None
    """How much of the program was looked at as its entry runs it."""
    local: bool = False
    """No entry reaches this file: only what is wrong by itself can be judged."""
    looped: dict[int, int] = field(default_factory=dict)
    """Before which event each function was last called in a loop, by the ``id`` of its node; calls that do the same as
    an earlier one have no events of their own."""
    cells: tuple[Cell, ...] = ()
    """Where the cells are, when the entry is a notebook."""

    @property
    def unresolved(self) -> bool:
        """Whether something was called that could not be followed."""
        return any(event.kind == "unresolved" for event in self.events)

    def calls(self, *names: str) -> Iterable[Event]:
        """The calls of these canonical names, in order."""
        wanted = frozenset(names)
        return (e for e in self.events if e.kind == "call" and e.name in wanted)
