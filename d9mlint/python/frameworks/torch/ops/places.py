"""Tensors that are given values at computed places: ``t[rows, columns] = values``, or by ``index_put_``.

Of several values for one place any may stay (``index_put_`` without ``accumulate``). Places that are numbers rounded
down, such as the cells of a grid that boxes lie in, or drawn with replacement, mostly repeat.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Obj, Ref, Seq, Value, alternatives
from d9mlint.python.frameworks.torch.tensors import TENSOR
from d9mlint.python.interpreter.marks.selection import last
from d9mlint.python.interpreter.provenance import Makers, made_of

PUT = "torch.Tensor.index_put_ with accumulate=False"
_DISTINCT = re.compile(r"arange|randperm|nonzero|unique|topk|where|arg(max|min|sort)|sort")
"""Last names of calls that give no place twice."""
_MASKS = re.compile(r"ne|eq|gt|lt|ge|le|bool|isnan|isinf|isfinite|logical_\w+|is\w+|\w+_mask")
_SAME = frozenset(
    {
        "to", "cuda", "cpu", "view", "reshape", "contiguous", "clone", "squeeze", "unsqueeze", "flatten", "detach",
        "clamp", "clamp_", "t", "transpose", "permute", "clip", "expand", "expand_as", "repeat", "view_as",
        "from_numpy", "as_tensor", "tensor", "LongTensor", "array", "astype",
    }
)  # fmt: skip
"""Last names of calls that give the places that they are given, or others for some of them."""
_ROUNDS = frozenset({"floor", "floor_", "round", "round_", "ceil", "trunc", "floor_divide"})
_WHOLE = frozenset({"long", "int", "short"})
_WHOLE_TYPES = re.compile(r"torch\.(int\d*|long)")
_DRAWS = frozenset({"randint", "randint_like", "choices"})
_ALIKE = frozenset({"ones", "ones_like", "new_ones", "zeros", "zeros_like", "new_zeros", "full", "full_like", "item"})
"""Last names of calls that give one number for all places."""
_DEPTH = 8


class _Replaced(NamedTuple):
    """Which argument of a draw says whether it takes an item twice, and what it is without."""

    argument: Argument
    default: bool


_REPLACES = {
    "choice": _Replaced(Argument(2, "replace"), True),
    "multinomial": _Replaced(Argument(2, "replacement"), False),
}
"""Draws by their last names (numpy.random.choice, torch.multinomial)."""


def each_place_once(event: Event, makers: Makers) -> bool:
    """Whether no place is given two values that differ: by a range or a mask, or as all values are the same."""
    value = event.argument(Argument(_first(event) + 1, "values"))
    if isinstance(value, Const) or any(last(made) in _ALIKE for made in made_of(value, makers)):
        return True
    return any(_once(column, makers) for column in _columns(event))


def may_repeat(event: Event, makers: Makers) -> bool:
    """Whether a place is seen to be one that others share: rounded, or drawn with replacement."""
    return any(_shared(column, makers) for column in _columns(event))


def _first(event: Event) -> int:
    """Where the places are given: the function of that name takes the tensor before them."""
    return int(event.name == "torch.index_put")


def _columns(event: Event) -> Iterator[Value]:
    index = event.argument(Argument(_first(event), "indices"))
    for _, leaf in alternatives(index):
        yield from (leaf.items or ()) if isinstance(leaf, Seq) else (leaf,)


def _once(column: Value, makers: Makers) -> bool:
    return any(_DISTINCT.fullmatch(name) or _MASKS.fullmatch(name) for name in map(last, _back(column, makers)))


def _shared(column: Value, makers: Makers) -> bool:
    for made in _back(column, makers):
        name = last(made)
        if name in _ROUNDS or name in _DRAWS or _with_replacement(made):
            return True
        if name in _WHOLE or (name in ("to", "type") and _whole_type(made)):
            return any(map(_is_computed, _leaves(_given(made))))
    return False


def _with_replacement(made: Event) -> bool:
    """Whether a choice may take an item twice, as NumPy's does by default."""
    replaced = _REPLACES.get(last(made)) if made.kind == "call" else None
    if replaced is None:
        return False
    given = made.argument(replaced.argument)
    return replaced.default if given is None else not (isinstance(given, Const) and not given.value)


def _back(value: Value | None, makers: Makers) -> Iterator[Event]:
    """The call that made a value, and those that made what it only hands on."""
    todo, left = [value], _DEPTH
    while todo and left:
        left -= 1
        for made in made_of(todo.pop(), makers):
            yield made
            if last(made) in _SAME or last(made) in _WHOLE or last(made) == "type":
                todo.append(_given(made))


def _given(made: Event) -> Value | None:
    """What a method is called on, or a function is given first."""
    return made.receiver if made.name.startswith((f"{TENSOR}.", "?.")) else made.args[0] if made.args else None


def _whole_type(made: Event) -> bool:
    given = (*made.args, *made.kwargs.values())
    return any(isinstance(one, Ref) and _WHOLE_TYPES.fullmatch(one.name) for one in given)


def _leaves(value: Value | None) -> Iterator[Value]:
    return (leaf for _, leaf in alternatives(value))


def _is_computed(value: Value) -> bool:
    """Whether arithmetic made a tensor: the call it is known by gave another."""
    return (
        isinstance(value, Obj) and value.type == TENSOR and value.event is not None and value.event.result is not value
    )
