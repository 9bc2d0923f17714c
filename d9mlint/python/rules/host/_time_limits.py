"""Work in a loop that is given up when its time is over, and left out of what the program writes.

Sources: docs.python.org, ``subprocess.run`` ("If the timeout expires, the child process will be killed"),
``Future.result``, ``AsyncResult.get``, ``signal.alarm``; pytesseract 0.3.13, pytesseract.py (``timeout_manager`` kills
the process and raises ``RuntimeError``); pebble 5.2.3, pool/process.py (``schedule``: a task that takes longer is
stopped).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import Argument, Rule
from d9mlint.python.domain.conditions import negate
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Value
from d9mlint.python.interpreter.program import Program, is_none
from d9mlint.python.interpreter.provenance import made_by
from d9mlint.python.judging.drafts import SOME_VALUE, Draft, draft, short_name, value_text

_TIMEOUT = Argument(None, "timeout")
_SCHEDULES = "pebble.ProcessPool().schedule"
_ALARM = "signal.alarm"
_LIMITED = {
    **{f"subprocess.{name}": _TIMEOUT for name in ("run", "call", "check_call", "check_output")},
    **{f"pytesseract.image_to_{name}": _TIMEOUT for name in ("string", "data", "boxes", "osd", "pdf_or_hocr")},
    "subprocess.Popen().wait": Argument(0, "timeout"), "subprocess.Popen().communicate": Argument(1, "timeout"),
    _SCHEDULES: _TIMEOUT, _ALARM: Argument(0, "seconds"), "func_timeout.func_timeout": Argument(0, "timeout"),
}  # fmt: skip
"""Calls that give up when the seconds are over that they are given there."""
_TASKS = re.compile(r".*(\.submit\(\)\.result|\.(apply|map|starmap)_async\(\)\.get)")
"""Calls that wait for a task of a pool; it goes on after that, but nobody takes what it gives."""
_OF_TASKS = Argument(0, "timeout")
_ENDS = (".kill", ".terminate", ".send_signal")
_FOREVER = 12 * 60 * 60
"""Seconds that nobody waits for: a limit only lets Python 2 be interrupted (bugs.python.org, issue 8296)."""
_LEAVES_OUT = "gives up by the clock, and the program goes on without what it was to give: what is in the results"
_REMEDY = (
    "wait without a limit, or count what was given up and end with an error where there is any, so that what is "
    "written is whole or not there"
)


def given_up(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each call with a time limit whose expiry is passed over, once for a place."""
    limited = (*program.calls(*_LIMITED), *program.named(_TASKS.fullmatch, "call"))
    found = [event for event in limited if event.loops and not event.detached and _leaves_out(program, event)]
    last = max((e.index for e in program.events if e.kind == "call" and _writes(e)), default=-1) if found else -1
    for event in found:
        seconds = _limit(event)
        if event.index < last and seconds is not None:
            yield draft(
                program, rule, event, cond=negate(is_none(seconds)), confidence="medium", remedy=_REMEDY,
                name=short_name(event), setting=_told(event, seconds), then=_LEAVES_OUT,
            )  # fmt: skip


def _limit(event: Event) -> Value | None:
    """The seconds that a call is given; None where none are seen, though they may hide in ``**options``."""
    wanted = _LIMITED.get(event.name, _OF_TASKS)
    placed = wanted.position is not None and wanted.position < len(event.args)
    return event.argument(wanted) if placed or wanted.keyword in event.kwargs else None


def _leaves_out(program: Program, event: Event) -> bool:
    """Whether a call has a limit, and the program goes on where it is over."""
    seconds = _limit(event)
    if seconds is None or is_none(seconds) is True or _is_endless(seconds):
        return False
    if event.name == _SCHEDULES:
        return any(e.tried and not e.detached for e in program.calls(f"{_SCHEDULES}().result"))
    if not event.tried:
        return False
    if event.name.startswith("subprocess.Popen()"):
        return _kills(program, event)
    return event.name in _LIMITED or not _asks_again(event)


def _is_endless(seconds: Value) -> bool:
    """Whether the limit is none: an alarm of zero seconds is taken back."""
    value = seconds.value if isinstance(seconds, Const) else None
    return isinstance(value, (int, float)) and not 0 < value < _FOREVER


def _kills(program: Program, wait: Event) -> bool:
    """Whether a process is ended only where its time is over, not before somebody waits for it to end."""
    made = set(map(id, made_by(wait.receiver)))
    ends = [e for e in program.ending(_ENDS, "call") if not made.isdisjoint(map(id, made_by(e.receiver)))]
    return bool(ends) and all(e.index > wait.index for e in ends)


def _asks_again(wait: Event) -> bool:
    """Whether one task is waited for again and again: in more loops than it was begun in."""
    return any(len(wait.loops) > len(made.loops) for made in made_by(wait.receiver))


def _writes(event: Event) -> bool:
    return any(effect.writes for effect in event.effects) and not event.detached


def _told(event: Event, seconds: Value) -> str:
    text = value_text(seconds)
    if text == SOME_VALUE:
        return "the time limit given"
    return f"`{event.name.rpartition('.')[2]}({text})`" if event.name == _ALARM else f"`timeout={text}`"
