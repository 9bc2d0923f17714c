"""Weights that nothing trains, and that stay as they were drawn: those that a network is saved with, or applied with
where a default run loads none.

A program that does not train mostly loads its weights, by whatever means: only what is seen of it counts.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import NamedTuple

from d9mlint.python.domain.conditions import Cond, both, by_default, either, negate, symbolic_part
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Inst, Value
from d9mlint.python.frameworks.torch.parameters.weights import Members
from d9mlint.python.interpreter.program import Program

_LOADS = re.compile(r".*(load|restor|resum|pretrain|convert|copy|import|weights|assign).*", re.IGNORECASE)
"""Last names of what may give a network that it is called with the weights of a file, by all appearance."""
_ELSEWHERE = re.compile(
    r"\w*(load_(state|checkpoint|ckpt|weights|model|pretrained|params)|restor|resum)\w*", re.IGNORECASE
)
"""The same of what may have the network at hand: ``accelerator.load_state(path)``."""
_READS = re.compile(r"torch\.(utils|hub|load).*|torchvision\..*|.*_url")
"""Calls of such a name that only read a file."""
_FILLS = re.compile(r".*\.(weight|bias|data)(\.copy_)?")
"""Weights that are set one by one, of whatever layer: so convert programs those of other frameworks."""
_SAVES = re.compile(
    r"torch\.(save|jit\.save|jit\.\w+\(\)\.save|onnx\.export)|safetensors\.torch\.save_(file|model)|.*\.(save_pretrained|save_checkpoint)"
)
_STATE, _CALL = ".state_dict", ".__call__"
_DROPS = "ropout"
"""In the name of a layer that has no weights."""


class _Uses(NamedTuple):
    """By the identity of calls and instances that networks are made of: what may load their weights, what uses them."""

    loads: dict[int, list[Event]]
    when: dict[int, Cond]
    """By the identity of these events: when each happens."""
    applied: set[int]
    saved: set[int]
    elsewhere: bool
    """Something may load weights in a default run of which nobody can tell the network."""


def drawn(program: Program, draw: Event) -> Cond:
    """When the weights that a call draws are those of a result, although nothing trains them."""
    uses = program.once("untrained-uses", _uses)
    given = [uses.when[id(one)] for one in _of(uses, draw)]
    if uses.elsewhere or any(by_default(cond) is not False for cond in given):
        return False
    own = set() if _DROPS in draw.name else _made(draw)
    if own & uses.saved or (given and own & uses.applied):
        return negate(either(*map(symbolic_part, given)))  # (where surely none are loaded)
    return False


def loads(program: Program, draw: Event) -> list[Event]:
    """The calls that load weights in the place of those that are drawn, where a default run goes on with these."""
    return _of(program.once("untrained-uses", _uses), draw) if drawn(program, draw) is not False else []


def _of(uses: _Uses, draw: Event) -> list[Event]:
    return [event for one in _made(draw) for event in uses.loads.get(one, ())]


def _made(draw: Event) -> set[int]:
    return {id(draw), *((id(draw.receiver),) if isinstance(draw.receiver, Inst) else ())}


def _uses(program: Program) -> _Uses:
    found = _Uses({}, {}, set(), set(), False)
    if by_default(program.training) is not False or program.story.truncated:
        return found  # (what trains has drawn its weights, which is told as that)
    states = {id(e): e.receiver for e in program.ending(_STATE, "call")}
    members = Members()
    for event in program.named(_counts, "call", "unresolved", "set"):
        if event.detached:
            continue
        given = _networks(event, states, members) if _LOADS.fullmatch(event.name.rpartition(".")[2]) else set()
        found.when[id(event)] = both(*event.guards, *event.excluded)
        for one in given:
            found.loads.setdefault(one, []).append(event)
        if by_default(found.when[id(event)]) is False:
            continue
        if _loads_unseen(event, given):
            return found._replace(elsewhere=True)
        if event.name.endswith(_CALL):
            found.applied.update(members.of(event.receiver))
        elif _SAVES.fullmatch(event.name):
            found.saved.update(_networks(event, states, members))
    return found


def _counts(name: str) -> bool:
    """Whether what has this name may load, use or save the weights of a network."""
    last = name.rpartition(".")[2]
    matches = (_LOADS.fullmatch(last), _ELSEWHERE.fullmatch(last), _FILLS.fullmatch(name), _SAVES.fullmatch(name))
    return name.endswith(_CALL) or any(matches)


def _loads_unseen(event: Event, given: Collection[int]) -> bool:
    """Whether something may load weights of which nobody can tell the network."""
    if event.kind == "set" or event.name.endswith(".copy_"):
        return _FILLS.fullmatch(event.name) is not None
    return (
        not given
        and _ELSEWHERE.fullmatch(event.name.rpartition(".")[2]) is not None
        and not _READS.fullmatch(event.name)
    )


def _networks(event: Event, states: dict[int, Value | None], members: Members) -> set[int]:
    """The calls and instances that the networks are made of that a call is about, also by their state."""
    found: set[int] = set()
    for value in (event.receiver, *event.args, *event.kwargs.values()):
        inside = members.of(value)
        found |= inside
        for one in states.keys() & inside:
            found |= members.of(states[one])
    return found
