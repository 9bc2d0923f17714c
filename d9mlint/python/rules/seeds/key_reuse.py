"""key-reuse: two draws of JAX with one key, which give the same numbers."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument, Related, Rule
from d9mlint.python.domain.conditions import has_raised
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Obj, alternatives
from d9mlint.python.frameworks.jax.calls import KEY
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft

_KEY = Argument(0, "key")
_NO_DRAW = frozenset(
    f"jax.random.{name}"
    for name in ("split", "fold_in", "key", "PRNGKey", "clone", "key_data", "key_impl", "wrap_key_data")
)
_UNORDERED = ("jax-branch", "callback", "process", "thread")
"""Contexts of functions of which not all run, or nobody knows how often."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the second draw with a key, or at a draw that repeats in a loop."""
    kept = {(id(key), e.loops[-1]): e for e in program.events if e.kind == "kept" for key in e.args}
    used: dict[int, list[Event]] = {}
    for event in program.beginning("jax.random.", "call"):
        key = _key(event)
        if key is None:
            continue
        earlier = next((e for e in used.get(id(key), ()) if event.meets(e)), None)
        loop = next((number for number in event.loops if (id(key), number) in kept), None)
        used.setdefault(id(key), []).append(event)
        if loop is not None or (earlier is not None and _again(earlier, event)):
            how = "that stays the same in a loop, so that all iterations draw the same numbers"
            yield draft(program, rule, event, name=event.raw, how=how, related=_made(key, event))
        elif earlier is not None:
            same = earlier.location == event.location
            where = "it was called with before" if same else f"`{earlier.raw}` used in line {earlier.location.line}"
            related = [Related(earlier.location, "draws with the key, too"), *_made(key, event)]
            how = f"that {where}, so that both draw the same numbers"
            yield draft(program, rule, event, name=event.raw, how=how, related=related)


def _key(event: Event) -> Obj | None:
    """The key that a call surely draws with, at a place where it surely happens."""
    sure = event.certain and not event.inside(*_UNORDERED) and not any(map(has_raised, event.guards))
    found = alternatives(event.argument(_KEY)) if sure and event.name not in _NO_DRAW else ()
    leaf = found[0][1] if len(found) == 1 else None
    return leaf if isinstance(leaf, Obj) and leaf.type == KEY else None


def _again(earlier: Event, event: Event) -> bool:
    """Whether these are one call, told for several items of a loop."""
    return earlier.location == event.location and earlier.stack == event.stack and bool(event.loops)


def _made(key: Obj, event: Event) -> list[Related]:
    made = key.event
    return [Related(made.location, "the key comes from here")] if made and made.location != event.location else []
