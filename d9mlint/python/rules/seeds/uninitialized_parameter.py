"""Weights of a PyTorch network that are made of memory which nothing fills."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Ref, Unknown, Value, alternatives
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_by
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.rules.seeds import _empty

_PARAMETER = "torch.nn.Parameter"
_FORMER = frozenset(
    f"torch.nn.init.{name}"
    for name in (
        "uniform", "normal", "constant", "eye", "dirac", "xavier_uniform", "xavier_normal", "kaiming_uniform",
        "kaiming_normal", "orthogonal", "sparse",
    )
)  # fmt: skip
"""What the functions that fill in place were called before torch 0.4; since then these names call them, with a warning.

Source: torch/nn/init.py (``_make_deprecate``).
"""
_LOADS = (".load_state_dict", ".from_pretrained")
_KEEPS = ("register_parameter", "append", "requires_grad_", "share_memory_", "retain_grad_")


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each parameter of such memory, where nothing fills weights in a way that is not followed."""
    made = [e for e in program.calls(_PARAMETER) if not e.detached and _unfilled(e) is not None]
    if not made or program.story.truncated or program.story.local:
        return
    writes = [e for e in program.events if _writes(e)]
    if any(_writes_something(e) or (e.name.endswith(_LOADS) and not e.guards) for e in writes):
        return
    filled = {id(one) for e in writes for value in _given(e) for one in made_by(value)}
    for event in made:
        empty = _unfilled(event)
        if empty is not None and not filled & {id(event), id(empty)}:
            yield draft(program, rule, event, name=empty.raw)


def _unfilled(parameter: Event) -> Event | None:
    """What made the memory of a parameter; None where it holds numbers."""
    makers = made_by(parameter.args[0] if parameter.args else parameter.kwargs.get("data"))
    maker = next((one for one in makers if _empty.MAKERS.fullmatch(one.name)), None)
    return maker if maker is not None and _empty.is_unfilled(maker) else None


def _writes(event: Event) -> bool:
    """Whether something may fill what it is given: in place, by ``torch.nn.init`` or by setting ``data``."""
    last = event.name.rpartition(".")[2]
    if event.kind == "set":
        return last == "data"
    if event.kind == "unresolved":
        return True
    in_place = event.name in _FORMER or _empty.fills_in_place(event)
    return event.kind == "call" and last not in _KEEPS and (in_place or event.name.endswith(_LOADS))


def _given(event: Event) -> Iterator[Value]:
    """What a call may write to; ``weight.data`` is the weight itself."""
    given = (*event.args, *event.kwargs.values(), *((event.receiver,) if event.receiver is not None else ()))
    for _, leaf in (pair for value in given for pair in alternatives(value)):
        yield leaf.receiver if isinstance(leaf, Ref) and leaf.receiver is not None else leaf


def _writes_something(event: Event) -> bool:
    """Whether what it fills is not known: a parameter that a loop comes to, say."""
    target = event.receiver if event.kind == "set" or not event.name.startswith("torch.nn.init.") else None
    target = target if target is not None else next(iter(event.args), None)
    return target is None or any(isinstance(leaf, Unknown) for _, leaf in alternatives(target))
