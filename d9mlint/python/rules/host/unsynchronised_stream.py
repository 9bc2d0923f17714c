"""Work on one CUDA stream whose results another stream reads without waiting for it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const
from d9mlint.python.frameworks.torch import streams
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft, lower

_WAITS = frozenset({"wait_stream", "wait_event", "wait", "synchronize"})
_READS = frozenset({"item", "cpu", "tolist", "numpy"})
"""What waits for the stream that it stands on, as numbers come to the host."""
_COPIES = frozenset({"to", "cuda", "copy_"})
_COMPUTES = re.compile(
    r"torch\.(nn\.functional\.\w+|nn\.[\w.]+\(\)\.__call__|Tensor\.backward|matmul|mm|bmm|einsum|add|mul|sum|mean|stack|cat)"
)


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first work on a stream of the program's own, where the whole program waits for none."""
    if not program.imports("torch") or program.story.local:
        return
    opened = [e for e in program.calls(*streams.OPENS) if streams.opens(e)]
    inside = [e for e in program.events if e.kind == "call" and e.inside(streams.SIDE_STREAM)]
    if not inside or any(_waits(e) for e in program.events) or not any(map(_uses, program.events)):
        return
    works = [e for e in inside if _copies(e) or _computes(e)]
    if not works or any(_last(e) in _READS for e in inside):
        return
    first = works[0]
    before = [e for e in opened if e.index < first.index]
    related = [Related(before[-1].location, "what follows is queued on a stream of its own")] if before else []
    sure = bool(before) and not program.story.truncated and not any(e.kind == "unresolved" for e in program.events)
    yield draft(
        program, rule, first, related=related, confidence=rule.confidence if sure else lower(rule.confidence),
        name=first.raw.removeprefix("?."),
    )  # fmt: skip


def _last(event: Event) -> str:
    return event.name.rpartition(".")[2]


def _waits(event: Event) -> bool:
    """Whether something waits for a stream or an event, wherever it stands: who for whom is not asked."""
    return event.kind in ("call", "unresolved", "mention") and _last(event) in _WAITS


def _uses(event: Event) -> bool:
    """Whether the program computes or trains outside of such a body."""
    return not event.inside(streams.SIDE_STREAM) and not event.detached and (event.trains or _computes(event))


def _copies(event: Event) -> bool:
    given = event.kwargs.get("non_blocking")
    return _last(event) in _COPIES and isinstance(given, Const) and given.value is True


def _computes(event: Event) -> bool:
    return event.kind == "call" and (_COMPUTES.fullmatch(event.name) is not None or event.name.endswith(".backward"))
