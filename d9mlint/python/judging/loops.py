"""Loops as the events tell them: what they go through, and whether they count from a fixed number."""

from __future__ import annotations

import re
from collections.abc import Sequence

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import Computed
from d9mlint.python.domain.values import Const, FlagValue, Ref, Value, alternatives
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.wording import describe
from d9mlint.python.source.facts import Def

RANGES = frozenset(
    {"builtins.range", "xrange", "tqdm.trange", "tqdm.auto.trange", "tqdm.notebook.trange", "tqdm.std.trange"}
)
"""Calls that count: ``trange(*args, **kwargs)`` is ``tqdm(range(*args), **kwargs)`` (tqdm/std.py)."""
PASS = "pass"
_AROUND = re.compile(r"builtins\.(enumerate|zip|len|iter)|(.*\.)?tqdm(\..*)?|\?\..*")
"""What may stand between what a loop goes through and the loop."""
_MOST_OTHERS, _MOST_BETWEEN = 3, 60
"""Other calls that may stand between a pass over a loader and the loop (an iterator notes the time), and all calls."""
_COMPARED = re.compile(r"[<>]|skip|start|resum|done|last|trained", re.IGNORECASE)
"""What a test says under which a step of a resumed run is left out."""


def is_fixed(header: Event) -> bool:
    """Whether a ``range`` begins with a known number, and ends with one that is no number of what is left to do."""
    bounds = [leaf for bound in header.args[:2] for _, leaf in alternatives(bound)]
    return starts_fixed(header) and all(map(_is_setting, bounds))


def starts_fixed(header: Event) -> bool:
    """Whether a ``range`` begins with a known number, wherever it ends."""
    return len(header.args) == 1 or (len(header.args) > 1 and isinstance(header.args[0], Const))


def _is_setting(leaf: Value) -> bool:
    """Whether a bound is in the program or on the command line, or computed from such alone (``args.epochs + 1``)."""
    return isinstance(leaf, (Const, FlagValue, Ref)) or (isinstance(leaf, Computed) and leaf.of_settings)


def header_of(program: Program, number: int) -> Event | None:
    """What a loop goes through: a ``range``, or the pass over a loader; None where that cannot be told."""
    first = program.once("first-in-loops", _firsts).get(number)
    if first is None:
        return None
    around = first.loops[: first.loops.index(number)]
    between: list[Event] = []
    for event in reversed(program.events[: first.index]):
        if event.kind not in ("call", PASS):
            continue
        if event.loops[: len(around)] != around:
            return None
        if event.loops == around and (event.kind == PASS or event.name in RANGES):
            return event if _leads(event, between) else None
        between.append(event)
        if len(between) > _MOST_BETWEEN:
            return None
    return None


def _leads(header: Event, between: Sequence[Event]) -> bool:
    """Whether what follows up to a loop is no loop of its own, but in a generator that is gone through in that loop."""
    depth, func = len(header.stack), header.func
    yields = func is not None and isinstance(func.node, Def) and func.node.generator
    outside = [e for e in between if not (yields and e.stack[:depth] == header.stack)]
    others = [e for e in outside if not _AROUND.fullmatch(e.name)]
    most = _MOST_OTHERS if header.kind == PASS else 0
    return len(others) <= most and all(e.loops == header.loops for e in outside)


def _firsts(program: Program) -> dict[int, Event]:
    """The first event in each loop."""
    found: dict[int, Event] = {}
    for event in program.events:
        for number in event.loops:
            found.setdefault(number, event)
    return found


def left_out(step: Event, header: Event) -> bool:
    """Whether a test in a loop may leave a step out as it was done before."""
    return any(_COMPARED.search(describe(one)) for one in step.guards if one not in header.guards)
