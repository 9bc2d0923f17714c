"""Bounds: how far one program is interpreted, and where that ended.

They are last resorts, far beyond what programs need, and count work, so that the same program ends at the same place on
any machine; only ``--timeout`` asks the clock. Where one is met, the report says so: clean means looked at.
"""

from __future__ import annotations

import time

from d9mlint.python.domain.events import Story
from d9mlint.python.source.facts import NOWHERE, Lambda, Place, Stmt

MAX_STEPS = 2_000_000
"""Statements and calls that are interpreted for one entry; the most seen in real programs are 70,000."""
MAX_CALLS = 100
"""Calls inside calls that are followed; the deepest seen in real programs are 17."""
MAX_RUNS = 10
"""Times that a function is interpreted with other arguments; later ones are taken as not known (`summaries`)."""
MAX_BRANCHES = 20
"""The same where each time is under another condition: one of many networks that a flag chooses."""
MAX_QUIET_RUNS = 1
"""The same of a function in a file that holds and reaches nothing which a rule is about."""
MAX_CHOICES, MAX_ALIKE = 30, 2
"""The same of a function that is given texts, and how often with the same ones: they may say what it does."""
MAX_TOLD_NAMES = 200
"""The same of a function that is handed the names of its caller: ``keep(locals())``."""
TIMED_OUT = "timed out"
"""How the reason begins that depends on the machine: such a result is not kept."""
_CLOCK = 256
"""Steps after which the clock is asked."""


class Bounds:
    """The bounds of one entry; ``seconds`` of CPU time it may take, None for no limit."""

    def __init__(self, story: Story, seconds: float | None = None) -> None:
        self._story = story
        self._seconds = seconds
        self._end = None if seconds is None else time.process_time() + seconds
        self._steps = 0
        self._ended = ""
        self._deep = 0
        self._deepest = ""

    def step(self, path: str, node: Stmt | Lambda | None = None) -> bool:
        """Counts a step, at a statement of a file; False where the program is not followed any further."""
        self._steps += 1
        if self._ended:
            return False
        if self._steps > MAX_STEPS:
            self._end_at(f"after {MAX_STEPS:,} steps", path, node)
        elif self._end is not None and self._steps % _CLOCK == 0 and time.process_time() > self._end:
            self._end_at(f"{TIMED_OUT} after {self._seconds:g} s,", path, node)
        return not self._ended

    def too_deep(self, depth: int, name: str, path: str, place: Place) -> bool:
        """Whether a call inside ``depth`` others is not followed."""
        if depth < MAX_CALLS:
            return False
        self._deep += 1
        self._deepest = self._deepest or f"`{name}` at {path}:{place[0]}"
        self._cut()
        return True

    def _end_at(self, why: str, path: str, node: Stmt | Lambda | None) -> None:
        self._ended = f"{why} at {path}:{_place(node)[0]}"
        self._cut()

    def _cut(self) -> None:
        if not self._story.truncated:
            self._story.truncated, self._story.cut = True, len(self._story.events)

    def reasons(self) -> tuple[str, ...]:
        """What was not looked at, in words; empty where everything was."""
        found = []
        if self._ended:
            found.append(f"{self._ended}: what the program does from there on was not looked at")
        if self._deep:
            more = f" and {self._deep - 1} more" if self._deep > 1 else ""
            found.append(f"calls inside {MAX_CALLS} others were not followed: {self._deepest}{more}")
        return tuple(found)


def _place(node: object) -> Place:
    """A place in a statement: its own, else the first inside."""
    pending = [node]
    while pending:
        one = pending.pop()
        if isinstance(one, tuple) and one:
            if type(one[0]) is int and len(one) == 4:
                return one
            place = getattr(one, "place", None)
            if place is not None:
                return place  # type: ignore[no-any-return]
            pending.extend(reversed(one))
    return NOWHERE
