"""Tensors of memory that a loop fills only where a test of its items holds, and that are used as a whole."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import both, either, opaque, truth
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.numbers import Counted
from d9mlint.python.domain.taint import is_number
from d9mlint.python.domain.values import UNKNOWN, Seq
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_by
from d9mlint.python.interpreter.subscripts import FILL
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.rules.seeds import _empty

_PUTS = ".__setitem__"
_KEEPS = (".append", ".add", ".__setitem__")
_LOOKS = ("builtins.", "logging.", "torch.is_", "torch.zeros_like", "torch.ones_like")
"""Beginnings of calls that look at a tensor and compute nothing with its numbers, or only print them."""
_ABOUT = ("size", "dim", "numel", "type", "cuda", "cpu", "to", "half", "float", "double", "stride", "is_contiguous")
"""Methods that tell what kind of tensor it is, or hand on its numbers as they are."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each call that makes such a tensor, where nothing else may have filled it."""
    makers = program.named(_empty.MAKERS.fullmatch, "call")
    made = [one for one in makers if not one.detached and _empty.is_unfilled(one)]
    if not made or program.story.local or program.story.truncated:
        return
    uses = _uses(program, {id(one) for one in made})
    for maker in made:
        found = uses.get(id(maker), [])
        puts = [e for e in found if e.name.endswith(_PUTS) and e.kind in ("call", "put", FILL)]
        others = [e for e in found if e not in puts]
        read = next((e for e in others if puts and e.index > puts[-1].index and _computes(e)), None)
        if read is not None and not any(map(_may_fill, others)) and _leaves_some(program, maker, puts, read):
            related = [
                *(Related(e.location, "fills a part, under a condition") for e in puts[:2]),
                Related(read.location, "takes all of it"),
            ]
            yield draft(program, rule, maker, related=dict.fromkeys(related), name=maker.raw)


def _uses(program: Program, makers: set[int]) -> dict[int, list[Event]]:
    """What is done with the results of these calls, by the ``id`` of the call."""
    found: dict[int, list[Event]] = {}
    for event in program.events:
        given = (event.receiver, *event.args, *event.kwargs.values())
        for one in {id(maker) for value in given if value is not None for maker in made_by(value)} & makers:
            found.setdefault(one, []).append(event)
    return found


def _leaves_some(program: Program, maker: Event, puts: list[Event], read: Event) -> bool:
    """Whether each part is filled in a loop, where a test holds that is not one of settings, and not all are."""
    for put in puts:
        tests = [guard for guard in put.guards if guard not in maker.guards and opaque(guard) is not None]
        if put.detached or not tests or len(put.loops) <= len(maker.loops) or _is_kept_count(program, put):
            return False
    filled = either(*(both(*put.guards, *put.excluded) for put in puts))
    return truth(filled, [*read.guards, *read.excluded]) is not True


def _is_kept_count(program: Program, put: Event) -> bool:
    """Whether the program also remembers which parts it has filled, and may take no others.

    It counts them, puts them in a list, or marks them in another array, in the same case.
    """
    index = put.args[0] if put.args else UNKNOWN
    parts = index.items or () if isinstance(index, Seq) else (index,)
    numbers = () if put.kind == "call" else parts  # (a call has arrays for its index)
    if any(is_number(part) and not isinstance(part, Counted) for part in numbers):
        return True  # (which may be a count of the program's own)
    there = (e for e in program.ending(_KEEPS, "call", "put", FILL) if e.guards == put.guards and e.loops == put.loops)
    return any(e.func is put.func and e.receiver is not put.receiver for e in there)


def _may_fill(event: Event) -> bool:
    """Whether a call may write to the tensor: in place, as its ``out``, or in a way that nobody can tell."""
    return (
        event.kind not in ("call", "sink")
        or _empty.fills_in_place(event)
        or "out" in event.kwargs
        or event.name.startswith("torch.distributed.")
    )


def _computes(event: Event) -> bool:
    """Whether a call takes the numbers of a tensor."""
    if event.kind != "call" or event.detached or event.name.startswith(_LOOKS):
        return False
    return event.name.rpartition(".")[2] not in _ABOUT
