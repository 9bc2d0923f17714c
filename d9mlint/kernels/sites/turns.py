"""Turns that blocks take by CUTLASS's semaphores and barriers, whose headers are seldom at hand.

``Semaphore s(locks + i, threadIdx.x); s.wait(turn); ... s.release(turn + 1);`` (cutlass/semaphore.h) and
``Barrier::wait_eq(locks, thread, i, turn); ... Barrier::arrive_inc(locks, thread, i);`` (cutlass/barrier.h).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.kernels.sites.calls import call_at
from d9mlint.kernels.sites.names import PASSES, WAITS
from d9mlint.kernels.sites.sightings import Sighting
from d9mlint.kernels.source.lexical import in_line_comment
from d9mlint.kernels.source.unit import Unit

_BARRIER = re.compile(rb"\b(?:Generic)?Barrier(?:\s*<[^<>;{}()]*>)?\s*::\s*(arrive_inc|wait_eq|wait_lt)\b")
_SEMAPHORE = re.compile(rb"\bSemaphore\s+(\w+)\s*[({]\s*[^;(){}]*,")
"""One is made of the place of its lock and the number of the thread."""
_OPERATIONS = {"arrive_inc": PASSES, "release": PASSES, "wait_eq": WAITS, "wait_lt": WAITS, "wait": WAITS}


def turns(unit: Unit) -> Iterator[tuple[int, Sighting]]:
    """The calls that wait for a turn or pass it on, each with the byte of its name."""
    for start, name in sorted(_places(unit.data)):
        call = call_at(unit, start, name) if not in_line_comment(unit.data, start) else None
        if call is None or call.function is None or not unit.on_device(call.node):
            continue
        listed = (call.receiver, *call.arguments) if call.receiver is not None else call.arguments
        yield start, Sighting(
            unit.location(call.node), call.name, _OPERATIONS[call.name], "device", "direct", unit, call.node,
            call.function, listed,
        )  # fmt: skip


def _places(data: bytes) -> Iterator[tuple[int, bytes]]:
    yield from ((match.start(1), match[1]) for match in _BARRIER.finditer(data))
    for name in dict.fromkeys(match[1] for match in _SEMAPHORE.finditer(data)):
        called = re.compile(rb"\b" + re.escape(name) + rb"\s*\.\s*(wait|release)\s*(?=\()")
        yield from ((match.start(1), match[1]) for match in called.finditer(data))
