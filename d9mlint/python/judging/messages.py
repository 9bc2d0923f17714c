"""What workers do on messages: it happens in the order in which these are sent, not in that of the worker's loop.

(A worker of a vector environment waits for ``("seed", 1)``, ``("reset", None)`` or ``("step", action)``.)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.python.domain.conditions import conjuncts, opaque
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.testkeys import equal_to
from d9mlint.python.domain.values import Const, Seq, Unknown, Value
from d9mlint.python.interpreter.program import Program

_SENDERS = frozenset({"send", "put", "put_nowait"})
"""Last names of what hands a message to a worker: methods of connections and of queues."""


class Message(NamedTuple):
    """A call that sends a message, and what comes with it."""

    event: Event
    data: Value | None


def asked_for(program: Program, event: Event) -> list[Message] | None:
    """The messages on which a worker does something: none where nobody sends such a one.

    None where it is no worker's, or where the messages of its loop are not known.
    """
    if not event.contexts or not event.loops:
        return None
    sent, loops = program.once("messages", _messages), program.once("loops-of-messages", _loops)
    if not any(event.loops[: depth + 1] in loops for depth in range(len(event.loops))):
        return None
    awaited = list(_awaited(event))
    return [one for word in awaited for one in sent.get(word, ())] if awaited else None


def first(program: Program, event: Event) -> int:
    """The place of an event in the order told, or that of the first message on which a worker does it."""
    return min((one.event.index for one in asked_for(program, event) or ()), default=event.index)


def given(value: Value | None, message: Message) -> Value | None:
    """What an argument is upon a message: one that is not known is what comes with it."""
    return message.data if type(value) is Unknown and message.data is not None else value


def _messages(program: Program) -> dict[str, list[Message]]:
    """The messages that are sent, by their first part as written."""
    found: dict[str, list[Message]] = {}
    for event in program.events:
        if event.kind != "call" or event.detached or event.name.rpartition(".")[2] not in _SENDERS or not event.args:
            continue
        message = event.args[0]
        parts = message.items if isinstance(message, Seq) and message.items else [message]
        if isinstance(parts[0], Const):
            data = parts[1] if len(parts) > 1 else None
            found.setdefault(repr(parts[0].value), []).append(Message(event, data))
    return found


def _loops(program: Program) -> frozenset[tuple[int, ...]]:
    """The loops of workers that wait for a message which is sent."""
    sent = program.once("messages", _messages)
    workers = (event for event in program.events if sent and event.contexts and event.loops and event.guards)
    return frozenset(event.loops for event in workers if any(word in sent for word in _awaited(event)))


def _awaited(event: Event) -> Iterator[str]:
    """The constants, as written, that something unknown has to be equal to where an event happens."""
    for guard in event.guards:
        tests = (opaque(part) for part in conjuncts(guard))
        yield from (word for test in tests if test is not None and (word := equal_to(test)))
