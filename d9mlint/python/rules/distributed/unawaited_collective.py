"""Collective operations of PyTorch that are started and never waited for."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Obj, Seq, Unknown, Value, alternatives
from d9mlint.python.interpreter.program import Program, matches
from d9mlint.python.judging.drafts import Draft, draft, short_name

_COLLECTIVES = re.compile(
    r"torch\.distributed\.(all_reduce|reduce|broadcast|all_gather|all_gather_into_tensor|gather|scatter|reduce_scatter|"
    r"reduce_scatter_tensor|all_to_all|all_to_all_single|all_reduce_coalesced)"
)
_STARTS = ("torch.distributed.isend", "torch.distributed.irecv", "torch.distributed.batch_isend_irecv")
_WAIT = "wait"
_ASKS = frozenset({"is_completed", "result", "get_future", "then"})
_ALL = frozenset({"synchronize", "wait_stream", "wait_event", "barrier", "monitored_barrier", "wait_all", "waitall"})
"""What waits for all that was started before (a barrier stands in the same queue)."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each such call, where nothing that is known waits for what it gives, or for all there is."""
    if program.story.local or program.story.truncated:
        return
    collectives = program.named(lambda name: name in _STARTS or _COLLECTIVES.fullmatch(name), "call")
    started = [e for e in collectives if not e.detached and _is_asynchronous(e)]
    if not started:
        return
    heard = [e for e in program.events if e.kind in ("call", "unresolved", "mention")]
    if any(_last(e) in _ALL for e in heard):
        return
    asked = [e for e in heard if _last(e) == _WAIT or _last(e) in _ASKS]
    if any(_may_be_any(e.receiver) for e in asked):
        return
    awaited = {id(leaf.event) for e in asked for _, leaf in alternatives(e.receiver) if isinstance(leaf, Obj)}
    for event in started:
        if id(event) not in awaited:
            yield draft(program, rule, event, name=short_name(event))


def _is_asynchronous(event: Event) -> bool:
    if event.name in _STARTS:
        return True
    given = event.kwargs.get("async_op")
    return given is not None and matches(given, True) is True


def _last(event: Event) -> str:
    return event.name.rpartition(".")[2]


def _may_be_any(value: Value | None) -> bool:
    """Whether nothing is known of what is waited for: it may be any of them."""
    return value is None or any(isinstance(leaf, (Unknown, Seq)) for _, leaf in alternatives(value))
