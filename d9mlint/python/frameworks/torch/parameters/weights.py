"""Numbers that a model is made of and that others take the place of before anything trains: weights that are loaded."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TypeAlias

from d9mlint.model import Argument
from d9mlint.python.domain.conditions import Cond, both, either, negate, symbolic_part, truth
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import Const, Dict, Func, Inst, Obj, Ref, Seq, Value, alternatives
from d9mlint.python.interpreter.program import Program, matches
from d9mlint.python.interpreter.provenance import made_by

_STATE = Argument(0, "state_dict")
_STRICT = Argument(1, "strict")
_FIRST, _TENSOR_ARGUMENT, _PERSISTENT = Argument(0, "module"), Argument(1, "tensor"), Argument(2, "persistent")
_ADDS = re.compile(
    r"torch\.nn\.(?:Module|ModuleList|Sequential)(?:\(\))?\.(append|add_module|register_module|register_buffer)"
)
_LAYERS = re.compile(r"(torch\.nn|torchvision\.models|timm|transformers|monai\.networks)\..*")
_WRAPPERS = re.compile(
    r".*(DataParallel|FSDP|unwrap_model|convert_sync_batchnorm|torch\.compile|\.script|\.trace)\(\)|deepspeed\.DeepSpeedEngine"
)
"""Types of what holds the very weights of the model that it was made with."""
_INNER = (".module", "._orig_mod")
"""Attributes of such wrappers that are the whole model."""
_INIT = "torch.nn.init."
_WEIGHT = re.compile(r"torch\.nn\.(?:Linear|Embedding|Conv\w+)\(\)\.(weight|bias)(?:\.data)?(?:\.copy_)?")
"""Settings of the weights of a layer; the copy of a tensor into them, too."""
NO_NUMBERS = "no-numbers"
"""The context in which modules are made without numbers: on the ``meta`` device, or with uninitialised memory."""
_FILES = re.compile(
    r"(.*\.)?(load|load_file|safe_open|load_url|load_state_dict_from_url|load_variable|load_checkpoint|from_pretrained|File|open)"
)
"""Calls that read weights from a file."""
_MAKES, _CONSTRUCTS = "__init__", "torch.nn.Module.__init__"
_OF_SOME = ("?.weight", "?.bias")
"""Weights of a layer that is not known."""
_RESETS = ("reset_parameters", "_reset_parameters")
"""Methods by which constructors of layers draw (torch/nn/modules/linear.py, activation.py)."""
_STATE_OF = ".state_dict"
_MOVES = re.compile(r"torch\.nn\.Module\.(__init__|to|cuda|cpu|eval|train|float|half|register_\w+)")
"""What is done with a network that runs nothing in it and gives nothing of it."""
_TENSOR = "torch.Tensor"
MAX_PARTS = 20_000
_LOADS_STATE = ".load_state_dict"
_Loads: TypeAlias = dict[int, list[tuple[int, Cond]]]
"""By the identity of calls and instances: the index and the condition of each load of their weights."""
_Added: TypeAlias = Mapping[int, Sequence[Value]]


def without_numbers(draw: Event) -> bool:
    """Whether a call that would draw makes only shapes, or memory that the program fills by a method of its own."""
    return draw.inside(NO_NUMBERS) or _fills_itself(draw) or matches(draw.kwargs.get("device"), "meta") is True


def _fills_itself(draw: Event) -> bool:
    """Whether the class of a layer, derived from one of PyTorch's, overrides what the constructor draws with."""
    if not draw.name.endswith(f".{_MAKES}") or not isinstance(draw.receiver, Inst):
        return False
    return any(name in cls.frame.vars for cls in draw.receiver.cls.line() for name in _RESETS)


def kept(program: Program, draw: Event) -> Cond:
    """The condition under which what a draw gives a model is there when training begins: no weights are loaded.

    Only what can be told counts: where weights may be loaded under conditions that are not known, they may not.
    """
    replaced = _replaced(program, draw)
    if truth(replaced, draw.guards) is True:  # loaded wherever it is drawn, whatever that depends on
        return False
    return symbolic_part(negate(replaced))


def perhaps_replaced(program: Program, draw: Event) -> bool:
    """Whether weights are loaded after a draw that may take the place of what it gives a model, or of some of it.

    ``load_state_dict(pretrained, strict=False)``; the model's own state with what a file holds put into it.
    """
    found = program.once("perhaps-loaded-weights", _perhaps_loaded)
    made = draw if not draw.name.startswith(_INIT) else _initialized(draw)
    return made is not None and found.get(id(made), -1) > draw.index


def _perhaps_loaded(program: Program) -> dict[int, int]:
    """By the identity of calls and instances, the index of the last load that may fill what they have made."""
    found: dict[int, int] = {}
    members = Members(program.once("added-parts", _added))
    for event in program.events:
        state = event.argument(_STATE) if event.kind == "call" and event.name.endswith(_LOADS_STATE) else None
        model = event.receiver
        if state is None or model is None or not (is_loose(event) or _is_asked_of(state, model)):
            continue
        found |= dict.fromkeys(members.of(model), event.index)
    return found


def _is_asked_of(state: Value, model: Value) -> bool:
    """Whether a state is what ``state_dict()`` of this very model has given."""
    asked = [leaf.event for _, leaf in alternatives(state) if isinstance(leaf, Obj) and leaf.event is not None]
    return any(e.receiver is model and e.name.endswith(_STATE_OF) for e in asked)


def _replaced(program: Program, draw: Event) -> Cond:
    found = program.once("loaded-weights", _loads)
    if not found:
        return False
    if not draw.name.startswith(_INIT):
        return _by(program, found, draw, draw)
    layer = _initialized(draw)
    if layer is not None:
        return _by(program, found, layer, draw)
    # It fills weights of a layer that is not known, but that was there before.
    conds: dict[Cond, None] = {}
    for made in program.once("layers", _layers):
        if made.index < draw.index:
            conds[_by(program, found, made, draw)] = None
            if False in conds:
                return False
    return both(*conds) if conds else False


def _by(program: Program, found: _Loads, made: Event, draw: Event) -> Cond:
    """When a load comes after ``draw`` that fills what a call made; what is loaded together has the same answer."""
    loads = [*found.get(id(made), ()), *(found.get(id(made.receiver), ()) if isinstance(made.receiver, Inst) else ())]
    later = tuple(dict.fromkeys(cond for index, cond in loads if index > draw.index))
    known = program.once("conditions-of-loads", lambda _: dict[tuple[Cond, ...], Cond]())
    if later not in known:
        known[later] = either(*later)
    return known[later]


def _initialized(draw: Event) -> Event | None:
    """The call that made the layer whose weights ``torch.nn.init`` fills."""
    weight = draw.args[0] if draw.args else None
    layer = weight.receiver if isinstance(weight, Ref) else weight
    return layer.event if isinstance(layer, Obj) else None


def _layers(program: Program) -> list[Event]:
    """The calls that draw the weights of new layers."""
    calls = program.named(_LAYERS.fullmatch, "call")
    return [e for e in calls if not e.name.startswith(_INIT) and any(effect.draws for effect in e.effects)]


def _loads(program: Program) -> _Loads:
    """Where and when the weights are loaded of what was made by a call, or of an instance."""
    begin = min((e.index for e in program.trains), default=len(program.events))
    found: _Loads = {}
    known: dict[int, tuple[Value, list[tuple[int, Cond]]]] = {}
    for event in program.events[: begin + 1]:
        if event.kind != "call" or not event.certain or event.tried:
            continue
        for model, cond in _loaded(program, event):
            if id(model) not in known:
                known[id(model)] = model, list(parts(model, program.once("added-parts", _added)))
            inside = known[id(model)][1]
            conds = {under: both(*event.guards, cond, under) for under in {part[1] for part in inside}}
            for made, under in inside:
                if conds[under] is not False:
                    found.setdefault(made, []).append((event.index, conds[under]))
    for loop, asked in _refilled(program):
        if asked.receiver is not None and _is_only_asked(program, asked, loop):
            for made, under in parts(asked.receiver, program.once("added-parts", _added)):
                found.setdefault(made, []).append((loop.index, both(*loop.guards, under)))
    for layer, index, cond in _filled(program.events[: begin + 1]):
        found.setdefault(layer, []).append((index, cond))
    return found


def _filled(events: list[Event]) -> Iterator[tuple[int, int, Cond]]:
    """Layers that are given their weights one by one, with the last of these: ``layer.weight = loaded``."""
    given: dict[int, dict[str, Event]] = {}
    layers: dict[int, Event] = {}
    for event in events:
        found = _WEIGHT.fullmatch(event.name) if event.kind in ("set", "call") and event.receiver is not None else None
        leaf = event.receiver.receiver if isinstance(event.receiver, Ref) else event.receiver
        if found is None or not event.certain or event.tried or not isinstance(leaf, Obj) or leaf.event is None:
            continue
        layers[id(leaf.event)] = leaf.event
        given.setdefault(id(leaf.event), {}).setdefault(found[1], event)
    for made, layer in layers.items():
        whole = [given[made].get(name) for name in (("weight", "bias") if _has_bias(layer) else ("weight",))]
        sets = [one for one in whole if one is not None]
        if len(sets) == len(whole):
            yield made, max(one.index for one in sets), both(*(cond for one in sets for cond in one.guards))


def _has_bias(layer: Event) -> bool:
    """Whether a layer may draw a bias, too."""
    bias = layer.argument(Argument(2 if layer.name.endswith("Linear") else None, "bias"))
    return not layer.name.endswith("Embedding") and not (isinstance(bias, Const) and bias.value is False)


def _loaded(program: Program, event: Event) -> Iterator[tuple[Value, Cond]]:
    """The models whose weights a call replaces, and when it does."""
    for effect in event.effects:
        model = event.argument(effect.loads) if effect.loads is not None else None
        if model is not None:
            yield model, program.holds(event, effect.when)
    if not event.name.endswith(_LOADS_STATE) or event.receiver is None:
        return
    state = event.argument(_STATE)
    if is_loose(event) or state is None:
        return
    yield event.receiver, either(_refilled_before(program, state, event), not _is_own_state(state, event.receiver))


def _refilled(program: Program) -> list[tuple[Event, Event]]:
    """Loops that put other things under every name of a network's state, each with the call that gave the state."""
    return program.once("refilled-states", _refilling)


def _refilling(program: Program) -> list[tuple[Event, Event]]:
    loops = [e for e in program.events if e.kind == "refilled" and e.certain and not e.tried]
    states = [e for e in program.ending(_STATE_OF, "call") if loops]
    return [(loop, e) for loop in loops for e in states if id(e.result) in _leaves(loop.receiver)]


def _refilled_before(program: Program, state: Value, event: Event) -> Cond:
    """When such a loop, which takes what it puts there from files, has come before an event that takes the state."""
    found = ((loop, asked) for loop, asked in _refilled(program) if loop.index < event.index and _from_files(loop))
    return either(*(both(*loop.guards) for loop, asked in found if id(asked.result) in _leaves(state)))


def _is_only_asked(program: Program, asked: Event, loop: Event) -> bool:
    """Whether a network is made, moved and asked for its state once, and the state is not looked at before a loop."""
    own, state = _leaves(asked.receiver), _leaves(asked.result)
    methods = _methods(asked.receiver)
    for event in program.events:
        if event.kind not in ("call", "unresolved") or event is asked or event.detached:
            continue
        given = _leaves(event.receiver).union(*map(_leaves, (*event.args, *event.kwargs.values())))
        if own & given and not _MOVES.fullmatch(event.name):
            return False
        if state & given and event.index < loop.index and event.location[:2] != loop.location[:2]:
            return False
        runs = [id(func.node) for func in (event.func, *event.callers) if func is not None]
        if not methods.keys().isdisjoint(runs) and not any(methods.get(one) == _MAKES for one in runs):
            return False
    return True


def _methods(model: Value | None) -> dict[int, str]:
    """The names of the methods of a network that the program defines, by the ``id`` of their nodes."""
    classes = {one for _, leaf in alternatives(model) if isinstance(leaf, Inst) for one in leaf.cls.line()}
    return {id(one.node): name for cls in classes for name, one in cls.frame.vars.items() if isinstance(one, Func)}


def _leaves(value: Value | None) -> set[int]:
    return {id(leaf) for _, leaf in alternatives(value)} if value is not None else set()


def _from_files(loop: Event) -> bool:
    """Whether all that a loop puts somewhere, as far as it comes from a call, was read from files."""
    made = [(*made_by(value), *taint([value])[2]) for value in loop.args]
    return any(made) and all(any(_FILES.fullmatch(one.name) for one in sources) for sources in made if sources)


def is_loose(load: Event) -> bool:
    """Whether ``load_state_dict`` takes weights that need not fit: what the file lacks stays as it was drawn."""
    strict = load.argument(_STRICT)
    return isinstance(strict, Const) and not strict.value


def _is_own_state(state: Value, model: Value) -> bool:
    """Whether a state was asked of the model itself: what was put into it may be only some of it.

    Models that are made alike have the same parts here: a target network takes what the other one was drawn with.
    """
    made = [leaf.event for _, leaf in alternatives(state) if isinstance(leaf, Obj) and leaf.event is not None]
    origin = model.event if isinstance(model, Obj) else None
    if origin is not None and origin in taint([state])[2]:
        return True
    asked = [e.receiver for e in made if e.name.endswith(_STATE_OF) and e.receiver is not None]
    members = Members()
    return any(one is model or not members.of(model).isdisjoint(members.of(one)) for one in asked)


def _added(program: Program) -> _Added:
    """What is registered as a part of a module or its state, or put into a list of layers, by the ``id`` of these.

    Weights that a constructor gives an item of such a list (``self.layers[i].weight = ...``) are the module's.
    """
    found: dict[int, list[Value]] = {}
    constructed: dict[object, Value] = {}
    for event in program.events:
        if event.name == _CONSTRUCTS and isinstance(event.receiver, Inst):
            constructed[event.stack] = event.receiver
        elif event.kind == "set" and event.name in _OF_SOME and event.stack in constructed:
            found.setdefault(id(constructed[event.stack]), []).extend(event.args)
        way = _ADDS.fullmatch(event.name) if event.kind == "call" and event.receiver is not None else None
        if way is None:
            continue
        value = event.argument(_FIRST if way[1] == "append" else _TENSOR_ARGUMENT)
        persistent = event.argument(_PERSISTENT)
        if value is not None and not (isinstance(persistent, Const) and persistent.value is False):
            for _, leaf in alternatives(event.receiver):
                found.setdefault(id(leaf), []).append(value)
    return found


def parts(model: Value, added: _Added = MappingProxyType({})) -> Iterator[tuple[int, Cond]]:
    """The identities of the calls and instances that a model is made of, with the condition under which it is.

    What is a part in several ways is told for each that says more.
    """
    todo: list[tuple[Value, Cond]] = [(model, True)]
    seen: dict[int, Cond] = {}
    steps = 0
    while todo and steps < MAX_PARTS:
        value, cond = todo.pop()
        for under, leaf in alternatives(value):
            cond_here = both(cond, under)
            known = seen.get(id(leaf), False)
            anyhow = either(known, cond_here)
            if id(leaf) in seen and anyhow == known:
                continue
            seen[id(leaf)] = anyhow
            steps += 1
            made = _identity(leaf)
            if made is not None:
                yield made, cond_here
            todo += [(inner, cond_here) for inner in _inner(leaf, added)]


class Members:
    """The same under whatever condition, as most who ask need none; each value is looked at once."""

    def __init__(self, added: _Added = MappingProxyType({})) -> None:
        self._added = added
        self._known: dict[int, tuple[Value, frozenset[int]]] = {}
        """By the identity of values, which are held so that none takes the place of another."""

    def of(self, value: Value | None) -> frozenset[int]:
        """The identities of the calls and instances that a value is made of."""
        if value is None:
            return frozenset()
        if id(value) not in self._known:
            self._known[id(value)] = value, frozenset(self._look(value))
        return self._known[id(value)][1]

    def _look(self, model: Value) -> Iterator[int]:
        todo, seen = [model], set[int]()
        while todo and len(seen) < MAX_PARTS:
            for _, leaf in alternatives(todo.pop()):
                if id(leaf) in seen:
                    continue
                seen.add(id(leaf))
                made = _identity(leaf)
                if made is not None:
                    yield made
                todo += _inner(leaf, self._added)


def _identity(leaf: Value) -> int | None:
    """What stands for a part: the call that made it, or the instance; None for what only holds parts."""
    if isinstance(leaf, Obj):
        return id(leaf.event) if leaf.event is not None else None
    return id(leaf) if isinstance(leaf, Inst) else None


def _inner(leaf: Value, added: _Added) -> list[Value]:
    """What a part is made of itself."""
    if isinstance(leaf, Ref):
        return [leaf.receiver] if leaf.receiver is not None and leaf.name.endswith(_INNER) else []
    if isinstance(leaf, Obj) and leaf.event is not None:
        return [*_of_object(leaf, leaf.event), *added.get(id(leaf), ())]
    if isinstance(leaf, Inst):
        own = [inner for inner in leaf.attrs.values() if not _is_plain_tensor(inner)]
        return [*own, *added.get(id(leaf), ())]
    if isinstance(leaf, Dict):
        return list(leaf.items.values())
    if isinstance(leaf, Seq):
        return [*(leaf.items or ()), *((leaf.element,) if leaf.element is not None else ())]
    return []


def _of_object(leaf: Obj, made: Event) -> Iterator[Value]:
    """What an object of a library took in as parts: layers, a wrapped model, the numbers of a parameter."""
    if _LAYERS.fullmatch(leaf.type) or _WRAPPERS.fullmatch(leaf.type):
        yield from (*made.args, *made.kwargs.values())
    yield from leaf.attrs.values()
    if leaf.type == _TENSOR and made.receiver is not None:
        yield made.receiver


def _is_plain_tensor(value: Value) -> bool:
    """An attribute that is no parameter is in no state (torch/nn/modules/module.py, ``state_dict``)."""
    return any(isinstance(leaf, Obj) and leaf.type == _TENSOR for _, leaf in alternatives(value))
