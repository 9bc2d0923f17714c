"""Coverage: how much of a program was seen to run, and which calls it could not be followed through."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from d9mlint.model import Coverage, Location, Unfollowed
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Dynamic
from d9mlint.python.interpreter.library import evaluated
from d9mlint.python.interpreter.library.dispatch import MEMBER_OF
from d9mlint.python.source.reading import CannotRead

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_EVALUATES = frozenset({"builtins.eval", "builtins.exec"})
_UNPICKLES = ("pickle.load", "pickle.loads", "dill.load", "dill.loads", "cloudpickle.load", "joblib.load")
_PREFIXES = tuple(f"{name}()." for name in _UNPICKLES)


def measure(interp: Interpreter) -> Coverage:
    """The coverage of a program whose entry was interpreted to its end, and nothing besides."""
    files = functions = 0
    uncalled: dict[str, int] = {}
    for module in interp.story.modules:
        try:
            defined = interp.project.functions(module.path)
        except CannotRead:
            continue
        files += 1
        functions += len(defined)
        missed = sum(id(node) not in interp.entered for node in defined)
        if missed:
            uncalled[module.path] = missed
    return Coverage(files, functions, dict(sorted(uncalled.items())), tuple(_unfollowed(interp.story.events)))


def _unfollowed(events: list[Event]) -> Iterator[Unfollowed]:
    """Each place once; members of one module outside the program together, at the first place."""
    places: dict[tuple[Location | None, str], dict[Location, Event]] = {}
    for event in events:
        if reason := _reason(event):
            at = None if reason.startswith(MEMBER_OF) else event.location
            places.setdefault((at, reason), {}).setdefault(event.location, event)
    for (_, reason), alike in places.items():
        first, more = next(iter(alike.values())), len(alike) - 1
        others = f" (also at {more} other {'place' if more == 1 else 'places'})" if more else ""
        yield Unfollowed(first.location, first.raw.removeprefix("?."), reason + others)


def _reason(event: Event) -> str:
    if isinstance(event.receiver, Dynamic):
        return event.receiver.reason
    if event.kind != "call":
        return ""
    if (
        event.name in _EVALUATES
        and event.args
        and not (isinstance(event.args[0], Const) or evaluated.is_followed(event))
    ):
        return "it runs a text that is only known at run time"
    return "it is a method of an object that was unpickled" if event.raw.startswith(_PREFIXES) else ""
