"""Layers and functions that only data go through: no gradient is asked for where nothing that is trained comes before.

A tensor needs a gradient where one of those that it is computed from does ("Autograd mechanics" of PyTorch's notes).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import OPERANDS, Const, Obj, Seq, Unknown, Value, alternatives
from d9mlint.python.frameworks.torch.parameters.frozen import made_inside
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers, made_of, results

_NUMBERS = re.compile(
    r"torch\.(as_tensor|from_numpy|tensor|(Float|Half|Double|Byte|Long)Tensor|(zeros|ones|full|empty|rand|randn)(_like)?|"
    r"randint|randperm|arange|linspace|eye)|torch\.cuda\.FloatTensor"
)
"""Calls that make a tensor of numbers that no network has computed."""
_COMPUTES = re.compile(r"torch\.(Tensor\.(?!requires_grad)\w+|nn\.functional\.\w+|[a-z]+)")
"""Calls whose result needs a gradient only where one of the tensors that they are given does."""
_LOADS = frozenset({"torch.load", "torch.compile"})
_IN_PLACE = re.compile(r"torch\.Tensor\.(\w*[a-z]_|__setitem__)|(.*\.)?requires_grad")
_WEIGHTLESS = re.compile(r"torch\.nn\.(\w*Pad[123]d|\w*Pool[123]d|Upsample\w*|Unfold|Fold|Flatten|Sequential)")
_PREPARES = re.compile(
    r"torch\.(nn\.functional\.(pad|interpolate|upsample\w*|grid_sample|\w+_pool\dd)|stft|Tensor\.stft)"
)
"""Functions without weights that images and sounds are augmented with, or made features of."""
_PARAMETER = "torch.nn.Parameter"
_MOVED = re.compile(r"\?\.(cuda|to)")
_DEVICES = re.compile(r"(cuda|cpu|mps|xpu)(:\d+)?")
_DEVICE = "torch.device"
_CALLED = "().__call__"
_DEPTH = 12


def on_data(program: Program) -> frozenset[int]:
    """The ``id`` of each call that made a layer without weights that is only seen to be called with data.

    In a ``Sequential`` the layers before it count, too: one that may hold weights makes all the others need gradients.
    Of functions it is that of the call itself.
    """
    return program.once("layers-on-data", _on_data)


def _on_data(program: Program) -> frozenset[int]:
    told = _Data(results(program), program)
    data: set[int] = set()
    others: set[int] = set()
    for event in program.events:
        if event.kind != "call":
            continue
        if _PREPARES.fullmatch(event.name):
            data.update((id(event),) if told.computed(event) else ())
        elif event.name.startswith("torch.nn.") and event.name.endswith(_CALLED):
            inside = list(made_inside(event.receiver))
            plain = all(map(_keeps, inside)) and bool(event.args) and told.holds(event.args[0])
            (data if plain else others).update(id(one) for one in inside)
    return frozenset(data - others)


def _keeps(made: Event) -> bool:
    """Whether what a call made has no weights; what augments images has none either."""
    return _WEIGHTLESS.fullmatch(made.name) is not None or "augment" in made.name


class _Data:
    """Which values are data: computed from no weight, and not asked a gradient of."""

    def __init__(self, makers: Makers, program: Program) -> None:
        self._makers = makers
        self._asked: set[int] = set()
        changes = [e for e in program.events if e.kind in ("call", "set", "put") and _IN_PLACE.fullmatch(e.name)]
        before = -1
        while len(self._asked) > before:
            before = len(self._asked)
            for event in changes:
                if "requires_grad" in event.name or not self._all_data(event.args):
                    self._asked.update(id(made) for made in made_of(event.receiver, makers))

    def holds(self, value: Value | None, depth: int = _DEPTH) -> bool:
        """Whether a value is data in each case."""
        leaves = [leaf for _, leaf in alternatives(value)]
        return bool(leaves) and all(self._is_leaf(leaf, depth) for leaf in leaves)

    def computed(self, made: Event, depth: int = _DEPTH) -> bool:
        """Whether a call computes from data alone; the first tensor that it is given has to be known."""
        given = [one for one in (made.receiver, *made.args, *made.kwargs.values()) if one is not None]
        tensors = [part for one in given for part in _tensors(one)]
        return bool(tensors) and self.holds(tensors[0], depth) and self._all_data(tensors[1:], depth)

    def _all_data(self, values: tuple[Value, ...] | list[Value], depth: int = _DEPTH) -> bool:
        return all(self.holds(part, depth) for one in values for part in _tensors(one) if isinstance(part, Obj))

    def _is_leaf(self, value: Value, depth: int) -> bool:
        made = next(iter(made_of(value, self._makers)), None)
        if made is None or depth == 0 or id(made) in self._asked:
            return False
        others = value.attrs.get(OPERANDS) if isinstance(value, Obj) else None
        if isinstance(others, Seq) and not self._all_data(others.items or [], depth - 1):
            return False
        if _NUMBERS.fullmatch(made.name):
            return "requires_grad" not in made.kwargs
        if made.name == _PARAMETER:
            return _is_constant(made)
        if _MOVED.fullmatch(made.name):
            return _moves_data(made)
        return bool(_COMPUTES.fullmatch(made.name)) and made.name not in _LOADS and self.computed(made, depth - 1)


def _tensors(value: Value) -> Iterator[Value]:
    """What may be a tensor in an argument: itself, or the items of a list of them."""
    if isinstance(value, Seq):
        yield from (item for item in value.items or () if isinstance(item, Obj))
    elif isinstance(value, Unknown) or (isinstance(value, Obj) and value.event is not None):
        yield value


def _is_constant(made: Event) -> bool:
    """Whether a parameter is none that is trained: ``nn.Parameter(window, requires_grad=False)``."""
    asked = made.args[1] if len(made.args) > 1 else made.kwargs.get("requires_grad")
    return isinstance(asked, Const) and asked.value is False


def _moves_data(made: Event) -> bool:
    """Whether something of which nothing else is known is moved to a device, as is done with what a loader gives."""
    moved = made.receiver
    if not isinstance(moved, Unknown) or moved.sources:
        return False
    device = made.args[0] if made.args else made.kwargs.get("device")
    if isinstance(device, Const):
        return isinstance(device.value, str) and _DEVICES.fullmatch(device.value) is not None
    return made.name.endswith("cuda") or (isinstance(device, Obj) and device.type == _DEVICE)
