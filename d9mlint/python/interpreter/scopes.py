"""What holds at a place because of who calls: left while a module is imported, which sees none of it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from d9mlint.model import Location
from d9mlint.python.domain.conditions import Cond
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.path import Path
from d9mlint.python.domain.taint import taint_of
from d9mlint.python.domain.values import Const, Func, Seq, Unknown, Value
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter


_T = TypeVar("_T")
COMPLETION = "completion"
"""The order in which workers finish."""


class OrderLoop(NamedTuple):
    """A loop that goes through something whose order nothing promises."""

    order: str
    sources: tuple[Event, ...]
    depth: int
    """How many loops are around it."""
    tick: int
    """The number of the next thing to be made when it began: what is older is not made in its turns."""
    item: Value | None = None
    """What its variable takes in each turn."""
    begun: set[tuple[int, str]] | None = None
    """The names, each with the number of its frame, that its turns give a value of their own: ``total = 0.0``."""

    @property
    def taint(self) -> tuple[str, tuple[Event, ...]]:
        """The order, and where it comes from."""
        return self.order, self.sources


def begin(interp: Interpreter, target: f.Expr, frame: Frame) -> None:
    """A name is given a value in the turns of the loops around: what is added to it in a turn is of that turn."""
    if isinstance(target, f.Items):
        for item in target.items:
            begin(interp, item, frame)
    elif isinstance(target, f.Name):
        for loop in interp.order_loops:
            if loop.begun is not None:
                loop.begun.add((frame.tick, target.id))


def across(interp: Interpreter, target: f.Expr, frame: Frame) -> OrderLoop | None:
    """The innermost loop in no promised order whose turns go on with what a target holds; None for none."""
    for loop in reversed(interp.order_loops):
        if loop.begun is None or not isinstance(target, f.Name) or (frame.tick, target.id) not in loop.begun:
            return loop
    return None


def tell_together(
    interp: Interpreter, filled: Seq | int, frame: Frame, place: f.Place, others: Iterable[Value] = ()
) -> None:  # fmt: skip
    """Tells that one thing is filled in several orders that nothing promises at once, each of which counts.

    They are those of the loops around that are younger than what is ``filled`` (or than a number of things that were
    made), and of ``others``: the names in each of several folders, say, and the folders.
    """
    tick = filled if isinstance(filled, int) else filled.tick
    loops = [loop for loop in interp.order_loops if tick < loop.tick]
    if isinstance(filled, Seq) and filled.born in loops:  # one for each item of that loop
        loops = loops[loops.index(filled.born) + 1 :]
    orders = [
        *((loop.order, loop.sources) for loop in loops),
        *((order, made) for _, order, made in map(taint_of, others)),
    ]
    found = {made[0].index: Unknown(order=order, sources=made) for order, made in orders if order and made}
    if len(found) > 1:
        around = next(iter(interp.loops[loops[0].depth :]), None) if loops else None  # (a task has no turns)
        interp.event("together", "", frame, place, tuple(found.values()), kwargs={"around": Const(around)})


class Scope(NamedTuple):
    """What holds at a place because of who calls, beyond the conditions of the path."""

    path: Path
    stack: tuple[Location, ...]
    callers: tuple[Func | None, ...]
    contexts: list[str]
    loops: list[int]
    order_loops: list[OrderLoop]
    deferred: int
    main_guards: int
    trials: int
    detached: bool
    unreached: bool
    loader: Event | None
    stopped: Cond


class Told(NamedTuple):
    """An event as it is seen from the module: without what holds wherever the module is imported."""

    event: Event
    stack: tuple[Location, ...]
    contexts: tuple[str, ...]
    loops: tuple[int, ...]
    excluded: tuple[Cond, ...]
    deferred: bool
    tried: int

    @classmethod
    def of(cls, event: Event) -> Told:
        """The event as it is now."""
        return cls(event, event.stack, event.contexts, event.loops, event.excluded, event.deferred, event.tried)


def leave(interp: Interpreter) -> Scope:
    """Leaves all that holds here because of who calls; what only excludes that the program has stopped stays."""
    scope = Scope(*(getattr(interp, name) for name in Scope._fields))
    # A module runs once, whatever the branch that imports it first: its names are not conditional.
    _go(interp, Scope(interp.path.alone(), (), (), [], [], [], 0, 0, 0, False, False, None, False))
    return scope


def enter(interp: Interpreter, scope: Scope, told: Iterable[Event]) -> None:
    """Goes back to where a module is imported; what was ``told`` meanwhile happens there."""
    _go(interp, scope)
    if any((scope.stack, scope.contexts, scope.loops, scope.deferred, scope.main_guards, scope.trials, scope.detached)):
        for event in told:
            excluded = event.excluded
            place(interp, event, Told.of(event))
            event.excluded = excluded


def _go(interp: Interpreter, scope: Scope) -> None:
    for name, value in scope._asdict().items():
        setattr(interp, name, value)


def within(interp: Interpreter, context: str, action: Callable[[], _T]) -> _T:
    """Does ``action`` in one more context, if there is one."""
    if not context:
        return action()
    interp.contexts.append(context)
    try:
        return action()
    finally:
        interp.contexts.pop()


def place(interp: Interpreter, event: Event, told: Told) -> None:
    """Puts an event, which a module tells as it sees it, where the module is imported."""
    event.stack = (*interp.stack, *told.stack)
    event.contexts = (*interp.contexts, *told.contexts)
    event.loops = (*interp.loops, *told.loops)
    event.excluded = (*interp.path.quiet, *told.excluded)
    event.deferred = told.deferred or interp.deferred > 0
    event.tried = told.tried + interp.trials
    event.detached, event.unreached = interp.detached, interp.unreached
    event.main_only, event.loader = interp.main_guards > 0, interp.loader
