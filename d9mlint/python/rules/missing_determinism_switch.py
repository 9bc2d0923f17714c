"""missing-determinism-switch: training on a GPU with TensorFlow's deterministic ops never switched on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from d9mlint.model import Related, Rule
from d9mlint.python.determinism import attempted, has_switch, on_gpu, partly_on, perhaps_elsewhere, switch, trainings
from d9mlint.python.guards import both, either, negate, truth
from d9mlint.python.opuse import Use, shown, uses
from d9mlint.python.program import Draft, Program, driven, lower
from d9mlint.python.story import Event
from d9mlint.python.wording import by_default, is_symbolic

_NO_SWITCH = (
    "TensorFlow before 1.14 has no switch for deterministic ops on the GPU: upgrade, or accept that runs differ "
    "(training on the CPU is the only way round)"
)


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """One finding a program, at the first call that trains."""
    if not program.uses_tensorflow or program.story.local or perhaps_elsewhere(program):
        return
    never = both(*(negate(c) for c in (switch(program).on, attempted(program), partly_on(program))))
    off = both(on_gpu(program), never)
    if by_default(never) is False or off is False or not is_symbolic(off):
        return
    found = trainings(program)
    for event in found:
        if truth(off, event.guards) is False:
            continue
        varying = _varying(program)
        related = [Related(u.event.location, f"the {u.effect} of `{shown(u.event)}` varies") for u in varying]
        known = has_switch(program)
        # Another program calls it, most likely: this one only imports its module.
        elsewhere = event.detached and event.location.path != program.story.entry
        yield program.draft(
            rule, _any_of(event, found), cond=off, related=related, severity="" if known else "info",
            confidence=lower(rule.confidence) if elsewhere else "",
            remedy="" if known else _NO_SWITCH, name=_method(event.raw),
            state="deterministic ops off" if known else "a TensorFlow that has no deterministic ops",
            ops=_list(varying), of_ops=[use.op for use in varying],
        )  # fmt: skip
        return


def _any_of(event: Event, found: list[Event]) -> Event:
    """The call under the conditions of all calls that train: a flag that picks between two of them does not cure."""
    told = [e.guards for e in driven(found) if e.detached == event.detached] or [event.guards]
    shared = tuple(g for g in event.guards if all(g in guards for guards in told))
    rest = either(*(both(*(g for g in guards if g not in shared)) for guards in told))
    return replace(event, guards=(*shared, rest))


def _method(raw: str) -> str:
    return ".".join(raw.replace("()", "").replace("?", "").split(".")[-2:]).strip(".")


def _varying(program: Program) -> list[Use]:
    """The first use of each op that varies by default, at most five, surest first."""
    found: dict[str, Use] = {}
    for use in uses(program):
        if use.status.default == "varies" and not use.event.detached:
            found.setdefault(shown(use.event), use)
    return sorted(found.values(), key=lambda u: (not u.sure, u.event.index))[:5]


def _list(varying: list[Use]) -> str:
    if not varying:
        return "gradients"
    names = [f"`{shown(u.event)}`" for u in varying[:3]]
    joined = names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
    return f"what {joined} compute{'s' if len(names) == 1 else ''}"
