"""Layers that only data go through: no gradient is asked for where nothing that is trained comes before."""

from __future__ import annotations

import re

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Obj, Value, alternatives
from d9mlint.python.frameworks.torch.frozen import made_inside
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers, made_of, results

_FROM_DATA = re.compile(r"torch\.(as_tensor|from_numpy|tensor|(Float|Half|Double|Byte)Tensor)|torch\.cuda\.FloatTensor")
"""Calls that make a tensor of numbers that no network has computed."""
_MOVES = re.compile(
    r"torch\.Tensor\.(to|cuda|cpu|float|half|double|type|contiguous|detach|clone|view|reshape|permute|transpose|"
    r"unsqueeze|squeeze|div_?|mul_?|add_?|sub_?)|torch\.(stack|cat|div|mul|add|sub)"
)
"""Calls whose result needs a gradient only where what they are given does."""
_WEIGHTLESS = re.compile(r"torch\.nn\.(\w*Pad[123]d|\w*Pool[123]d|Upsample\w*|Unfold|Fold|Flatten|Sequential)")
_CALLED = "().__call__"
_DEPTH = 12


def on_data(program: Program) -> frozenset[int]:
    """The ``id`` of each call that made a layer without weights that is only seen to be called with data.

    In a ``Sequential`` the layers before it count, too: one that may hold weights makes all the others need gradients.
    """
    return program.once("layers-on-data", _on_data)


def _on_data(program: Program) -> frozenset[int]:
    makers = results(program)
    data: set[int] = set()
    others: set[int] = set()
    for event in program.events:
        if event.kind != "call" or not event.name.startswith("torch.nn.") or not event.name.endswith(_CALLED):
            continue
        inside = list(made_inside(event.receiver))
        plain = all(map(_keeps, inside)) and bool(event.args) and _is_data(event.args[0], makers, _DEPTH)
        (data if plain else others).update(id(one) for one in inside)
    return frozenset(data - others)


def _keeps(made: Event) -> bool:
    """Whether what a call made has no weights; what augments images has none either."""
    return _WEIGHTLESS.fullmatch(made.name) is not None or "augment" in made.name


def _is_data(value: Value, makers: Makers, depth: int) -> bool:
    leaves = [leaf for _, leaf in alternatives(value)]
    return bool(leaves) and all(_is_leaf(leaf, makers, depth) for leaf in leaves)


def _is_leaf(value: Value, makers: Makers, depth: int) -> bool:
    made = next(iter(made_of(value, makers)), None)
    if made is None or depth == 0:
        return False
    if _FROM_DATA.fullmatch(made.name):
        return "requires_grad" not in made.kwargs
    if not _MOVES.fullmatch(made.name):
        return False
    given = [one for one in (made.receiver, *made.args) if isinstance(one, Obj)]
    return bool(given) and all(_is_data(one, makers, depth - 1) for one in given)
