"""Layers and functions that only data go through: no gradient is asked for where nothing that is trained comes before.

A tensor needs a gradient where one of those that it is computed from does ("Autograd mechanics" of PyTorch's notes).
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import OPERANDS, UNKNOWN, Const, Obj, Ref, Seq, Unknown, Value, alternatives
from d9mlint.python.frameworks.torch.modules.members import BUFFER, REGISTER_BUFFER
from d9mlint.python.frameworks.torch.modules.wrappers import spreads
from d9mlint.python.frameworks.torch.parameters.frozen import made_inside
from d9mlint.python.frameworks.torch.tensors import GIVEN, NO_GRAD, gives_state
from d9mlint.python.interpreter.callbacks import CALLBACK
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
    r"torch\.(nn\.functional\.(pad|interpolate|upsample\w*|grid_sample|\w+_pool\dd)|stft|Tensor\.stft)|\?\.stft"
)
"""Functions without weights that images and sounds are augmented with, or made features of."""
_PARAMETER = "torch.nn.Parameter"
_GRADIENT = "torch.autograd.grad"
_INPUT, _INPUTS = Argument(0, "input"), Argument(1, "inputs")
_METHODS = ("torch.Tensor.", "?.")
_OF_MODULES = (".weight", ".bias")
_CUTS = re.compile(r"(torch\.Tensor|\?)\.detach|torch\.detach")
"""Calls whose result needs no gradient, whatever it is computed from (torch.Tensor.detach)."""
_MOVED = re.compile(r"(torch\.Tensor|\?)\.(cuda|to)")
_JOINS = re.compile(r"torch\.(cat|concat|concatenate|stack)")
_DEVICES = re.compile(r"(cuda|cpu|mps|xpu)(:\d+)?")
_DEVICE = "torch.device"
_CALLED = "().__call__"
_DEPTH = 12


def on_data(program: Program) -> frozenset[int]:
    """The ``id`` of each call that made a layer without weights that is only seen to be called with data.

    In a ``Sequential`` the layers before it count, too: one that may hold weights makes all the others need gradients.
    Of functions it is that of the call itself: only the first argument decides, as the gradients of the others (places
    to sample at, a window) are sums in a fixed order. Where all gradients are taken by inputs of the network, those of
    weights are not computed either, and layers that hold some count as well. What something outside may call a network
    with counts only where the program itself is not seen to call it.
    """
    return program.once("layers-on-data", _on_data)


def _on_data(program: Program) -> frozenset[int]:
    told = _Data(results(program), program)
    data: set[int] = set()
    others: set[int] = set()
    calls = [e for e in program.events if e.kind == "call" and (_PREPARES.fullmatch(e.name) or _is_layer(e))]
    direct = {e.location for e in calls if not _is_guess(e)}
    for event in calls:
        if _is_guess(event) and event.location in direct:
            data.update((id(event),) if not _is_layer(event) else ())
        elif _PREPARES.fullmatch(event.name):
            data.update((id(event),) if told.holds(_first(event)) else ())
        else:
            inside = list(made_inside(event.receiver))
            plain = (told.by_inputs or all(map(_keeps, inside))) and bool(event.args) and told.holds(event.args[0])
            (data if plain else others).update(id(one) for one in inside)
    return frozenset(data - others)


def kept_as_weights(program: Program) -> frozenset[int]:
    """The ``id`` of each call whose result becomes a new parameter, which no gradient goes back from.

    ``nn.Parameter(F.interpolate(old, 12))`` is a leaf of its own (torch/nn/parameter.py, `_make_subclass`).
    """
    return program.once("kept-as-weights", _kept_as_weights)


def _kept_as_weights(program: Program) -> frozenset[int]:
    makers = results(program)
    found: set[int] = set()
    todo = [event.args[0] for event in program.calls(_PARAMETER) if event.args]
    while todo:
        for made in made_of(todo.pop(), makers):
            if id(made) not in found and _COMPUTES.fullmatch(made.name):
                found.add(id(made))
                todo += [one for one in (made.receiver, *made.args, *made.kwargs.values()) if isinstance(one, Obj)]
    return frozenset(found)


def _is_guess(event: Event) -> bool:
    """Whether it is not seen what a network is called with: something outside may call what it was handed."""
    return event.deferred and event.inside(CALLBACK)


def _first(event: Event) -> Value | None:
    """What a method is called on, or a function is given first."""
    return event.receiver if event.name.startswith(_METHODS) else event.argument(_INPUT)


def _is_layer(event: Event) -> bool:
    return event.name.startswith("torch.nn.") and event.name.endswith(_CALLED)


def _keeps(made: Event) -> bool:
    """Whether what a call made has no weights; what augments images has none either."""
    return _WEIGHTLESS.fullmatch(made.name) is not None or "augment" in made.name


class _Data:
    """Which values are data: computed from no weight, and not asked a gradient of."""

    def __init__(self, makers: Makers, program: Program) -> None:
        self._makers = makers
        self._asked: set[int] = set()
        calls = [e for e in program.events if e.kind == "call"]
        self._buffers = {id(e.argument(BUFFER)) for e in program.calls(REGISTER_BUFFER)} - {id(None), id(UNKNOWN)}
        self._spread = {id(one) for e in calls if spreads(e) for one in (*e.args, *e.kwargs.values())} - {id(UNKNOWN)}
        self._computed_unseen = {id(e.result) for e in program.events if e.kind == "unresolved"}
        self.by_inputs = False
        """Whether nothing but gradients of inputs is computed."""
        changes = program.named(_IN_PLACE.fullmatch, "call", "set", "put")
        before = -1
        while len(self._asked) > before:
            before = len(self._asked)
            for event in changes:
                if "requires_grad" in event.name or not self._all_data(event.args):
                    self._asked.update(id(made) for made in made_of(event.receiver, makers))
        self.by_inputs = bool(program.trains) and all(map(self._takes_by_inputs, program.trains))

    def holds(self, value: Value | None, depth: int = _DEPTH) -> bool:
        """Whether a value is data in each case."""
        leaves = [leaf for _, leaf in alternatives(value)]
        return bool(leaves) and all(self._is_leaf(leaf, depth) for leaf in leaves)

    def _computed(self, made: Event, depth: int) -> bool:
        """Whether a call computes from data alone; the first tensor that it is given has to be known."""
        given = [one for one in (made.receiver, *made.args, *made.kwargs.values()) if one is not None]
        tensors = [part for one in given[_is_layer(made) :] for part in _tensors(one)]
        return bool(tensors) and self.holds(tensors[0], depth) and self._all_data(tensors[1:], depth)

    def _all_data(self, values: tuple[Value, ...] | list[Value], depth: int = _DEPTH) -> bool:
        return all(self.holds(part, depth) for one in values for part in _tensors(one) if not isinstance(part, Unknown))

    def _is_leaf(self, value: Value, depth: int) -> bool:
        if id(value) in self._buffers:
            return True
        made = next(iter(made_of(value, self._makers)), None)
        if made is None:
            given = value.attrs.get(GIVEN) if isinstance(value, Obj) else None
            return self._is_spread(value) if given is None else depth > 0 and self.holds(given, depth - 1)
        if depth == 0 or id(made) in self._asked:
            return False
        others = value.attrs.get(OPERANDS) if isinstance(value, Obj) else None
        if isinstance(others, Seq) and not self._all_data(others.items or [], depth - 1):
            return False
        return self._gives_data(made, depth)

    def _is_spread(self, value: Value) -> bool:
        """Whether something of which nothing else is known is spread over GPUs, as is done with what a loader gives."""
        return id(value) in self._spread and self._is_bare(value)

    def _is_bare(self, value: Value | None) -> bool:
        """Whether nothing is known of a value, not even that something that is not seen has computed it."""
        return isinstance(value, Unknown) and not value.sources and id(value) not in self._computed_unseen

    def _is_bare_batch(self, value: Value | None) -> bool:
        """The same of a value, or of each part that it is put together from: ``torch.cat(images)``."""
        made = list(made_of(value, self._makers))
        if not made:
            return self._is_bare(value)
        lists = [part for one in made for part in one.args[:1] if _JOINS.fullmatch(one.name)]
        parts = [part for one in lists if isinstance(one, Seq) for part in one.items or (one.element,)]
        return len(lists) == len(made) and bool(parts) and all(map(self._is_bare, parts))

    def _gives_data(self, made: Event, depth: int) -> bool:
        """Whether the result of a call is data."""
        if _NUMBERS.fullmatch(made.name):
            return "requires_grad" not in made.kwargs
        if _CUTS.fullmatch(made.name) or gives_state(made) or (made.inside(NO_GRAD) and _COMPUTES.fullmatch(made.name)):
            return True
        if made.name == _PARAMETER:
            return _is_constant(made)
        if _MOVED.fullmatch(made.name) and self._is_bare_batch(made.receiver) and _to_device(made):
            return True
        computes = _COMPUTES.fullmatch(made.name) or (self.by_inputs and _is_layer(made))
        return bool(computes) and made.name not in _LOADS and self._computed(made, depth - 1)

    def _takes_by_inputs(self, event: Event) -> bool:
        """Whether gradients are taken by tensors that were asked for them: ``autograd.grad(out, [x])``."""
        inputs = event.argument(_INPUTS) if event.name == _GRADIENT else None
        parts = [part for _, leaf in alternatives(inputs) for part in _tensors(leaf)]
        makers = [next(iter(made_of(part, self._makers)), None) for part in parts]
        return bool(makers) and all(made is not None and self._asks(made) for made in makers)

    def _asks(self, made: Event) -> bool:
        wanted = "requires_grad" in made.name or "requires_grad" in made.kwargs
        return made.name != _PARAMETER and (wanted or id(made) in self._asked)


def _tensors(value: Value) -> Iterator[Value]:
    """What may be a tensor in an argument: itself, or the items of a list of them."""
    if isinstance(value, Seq):
        yield from (item for item in value.items or () if isinstance(item, Obj))
    elif isinstance(value, Unknown) or (isinstance(value, Obj) and (value.event is not None or GIVEN in value.attrs)):
        yield value
    elif isinstance(value, Ref) and value.name.endswith(_OF_MODULES):
        yield value  # an attribute of a module that nobody is seen to set


def _is_constant(made: Event) -> bool:
    """Whether a parameter is none that is trained: ``nn.Parameter(window, requires_grad=False)``."""
    asked = made.args[1] if len(made.args) > 1 else made.kwargs.get("requires_grad")
    return isinstance(asked, Const) and asked.value is False


def _to_device(made: Event) -> bool:
    """Whether something is moved to a device, as is done with what a loader gives, not to another type."""
    device = made.args[0] if made.args else made.kwargs.get("device")
    if isinstance(device, Const):
        return isinstance(device.value, str) and _DEVICES.fullmatch(device.value) is not None
    return made.name.endswith("cuda") or (isinstance(device, Obj) and device.type == _DEVICE)
