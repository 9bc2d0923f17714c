"""Drafts of findings: what a rule says of a place, before conditions are put into words and equal ones are merged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from d9mlint.model import Edit, Fix, Location, OpCall, Related, Rule
from d9mlint.python.domain.conditions import Cond, both, either
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, FlagValue, Func, Inst, Obj, Ref, Value
from d9mlint.python.frameworks.used import frameworks_of
from d9mlint.python.interpreter.program import Program
from d9mlint.python.source.facts import Call, Name
from d9mlint.python.source.queries import inside

SOME_VALUE = "a value"
"""In a message, one of which nothing is known."""
_UNNAMED = re.compile(r"`([\w.]+)\.\?`")


@dataclass(frozen=True, slots=True)
class Draft:
    """A finding before conditions are put into words and equal ones are merged."""

    rule: Rule
    location: Location
    message: str
    cond: Cond = True
    confidence: str = ""
    severity: str = ""
    related: tuple[Related, ...] = ()
    remedy: str = ""
    fixes: tuple[Fix, ...] = ()
    excluded: tuple[Cond, ...] = ()
    """What holds where the program goes on at all, and needs no mention."""
    settings: bool = False
    """Conditions on settings whose values are not known are told, too."""
    calls: tuple[OpCall, ...] = ()
    """Those of ops of the catalogue that it is about."""
    cause: str = ""
    uncalled: bool = False
    """Nothing was seen to call the code that it is about."""
    slight: bool = False
    """What it is about decides little."""
    stack: tuple[Location, ...] = ()
    """Where the calls stand that lead there, outermost first."""

    def reached(self, script: str) -> Location | None:
        """The line of a script that it is about, or the last one on the way there; None where that is not seen."""
        return next((place for place in (self.location, *reversed(self.stack)) if place.path == script), None)


def on_ways(event: Event, ways: Sequence[tuple[Event, Cond]]) -> tuple[Event, Cond]:
    """A call, with the guards that all ways to it have in common, and when one of them is taken, each with a condition.

    What holds where the program goes on at all has to do so on each of them, too.
    """
    excluded = tuple(one for one in event.excluded if all(one in way.excluded for way, _ in ways))
    shared = tuple(one for one in event.guards if all(one in way.guards for way, _ in ways))
    rest = either(*(both(*(one for one in way.guards if one not in shared), cond) for way, cond in ways))
    return replace(event, guards=shared, excluded=excluded), rest


def draft(
    program: Program, rule: Rule, at: Event | Location, *, cond: Cond = True, confidence: str = "", severity: str = "",
    related: Iterable[Related] = (), remedy: str = "", fixes: Iterable[Fix] = (), settings: bool = True,
    of_calls: Iterable[OpCall] = (), cause: str = "", slight: bool = False,
    **words: object,
) -> Draft:  # fmt: skip
    """A finding of ``rule``; ``words`` fill the placeholders of the rule's message.

    ``cause`` is what it comes from where that is not what the rule says.
    """
    location = at.location if isinstance(at, Event) else at
    if isinstance(at, Event):
        cond = both(*at.guards, cond)
    if at_unsure(at):
        confidence = "low" if at_unreached(at) else lower(confidence or rule.confidence)
    message = rule.message.format_map(_Words(words))
    return Draft(
        rule, location, message, cond, confidence or rule.confidence, severity or rule.severity,
        tuple(related), remedy or rule.remedy(program.target, frameworks_of(program) or ("numpy",)),
        tuple(fixes), at.excluded if isinstance(at, Event) else (), settings,
        tuple(of_calls), cause or rule.cause, at_unsure(at), slight, _stack(at),
    )  # fmt: skip


def _stack(at: Event | Location) -> tuple[Location, ...]:
    """Where the calls stand that lead to a place; to that where a loader was made, for what is drawn for it."""
    if not isinstance(at, Event):
        return ()
    loader = at.loader
    return loader.stack if loader is not None and loader.location == at.location else at.stack


class _Words(dict[str, object]):
    def __missing__(self, key: str) -> str:
        return "{" + key + "}"


def at_unsure(at: Event | Location) -> bool:
    """Whether an event may not happen at all, as nothing was seen to call it."""
    return isinstance(at, Event) and at.detached


def at_unreached(at: Event | Location) -> bool:
    """Whether an event stands in code that nothing which is called even mentions."""
    return isinstance(at, Event) and at.unreached


def written_at(event: Event) -> Location:
    """Where the arguments of a call are written: where a function is called that hands on its ``*args`` as they are."""
    location, func = event.location, event.func
    for place, caller in zip(reversed(event.stack), reversed(event.callers), strict=False):
        if func is None or not _hands_on(func, location):
            break
        location, func = place, caller
    return location


def _hands_on(func: Func, at: Location) -> bool:
    """Whether the call at a place of a function is given nothing but what the function was: ``save(*args, **kw)``."""
    taken = {param.name for param in func.node.params if param.kind in ("*", "**")}
    made = [call for call in inside(func.node, Call) if call.place[:2] == (at.line, at.column)] if taken else []
    return any(
        call.args and all(arg.star and isinstance(arg.value, Name) and arg.value.id in taken for arg in call.args)
        for call in made
    )


def lower(confidence: str) -> str:
    """One step less confident."""
    return {"high": "medium", "medium": "low"}.get(confidence, "low")


def short_name(event: Event) -> str:
    """The last two parts of what the program calls, for messages: ``train.batch``."""
    return ".".join(event.raw.replace("()", "").split(".")[-2:])


def with_unnamed(text: str) -> str:
    """A message that says what is chosen by its name from a module (``models.__dict__[args.arch]``): one of it."""
    return _UNNAMED.sub(r"one of `\1`", text)


def value_text(value: Value | None) -> str:
    """A value in a message."""
    if isinstance(value, Const):
        return repr(value.value)
    if isinstance(value, FlagValue):
        return value.flag.spelled
    if isinstance(value, Obj):
        return value.type
    if isinstance(value, Ref):
        return value.name
    return value.cls.node.name if isinstance(value, Inst) else SOME_VALUE


def insertion(location: Location, text: str, message: str) -> Fix:
    """A safe fix that inserts ``text`` at the end of ``location``."""
    end = Location(location.path, location.end_line, location.end_column, location.end_line, location.end_column)
    return Fix(message, (Edit(end, text),))
