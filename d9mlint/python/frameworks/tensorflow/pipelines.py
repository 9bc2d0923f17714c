"""Stages of tf.data pipelines: which of them run in parallel, what is drawn inside them, what comes before a call."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from d9mlint.model import Argument, Location
from d9mlint.python.domain.conditions import Cond, both, either, is_symbolic, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Bound, Const, Func, Inst, Obj, Partial, Ref, Seq, Value, alternatives
from d9mlint.python.frameworks.tensorflow.determinism import switch
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_by

DATASET = "tensorflow.data.Dataset"
STAGES = (
    f"{DATASET}.map", f"{DATASET}.interleave", f"{DATASET}.flat_map", f"{DATASET}.filter", f"{DATASET}.scan",
    f"{DATASET}.map_with_legacy_function", f"{DATASET}.take_while", "tensorflow.data.experimental.map_and_batch",
    "tensorflow.data.experimental.parallel_interleave", "tensorflow.contrib.data.map_and_batch",
)  # fmt: skip
"""Calls that run a function of the program on the elements of a dataset."""
_ALWAYS_PARALLEL = tuple(name for name in STAGES if not name.startswith(DATASET))
OWN_GENERATORS = ("numpy.random.Generator.", "numpy.random.RandomState.", "random.Random.")
"""Generator objects of NumPy and Python, whose methods draw."""
GENERATOR = "generator"
"""The context of a Python generator whose items are those of a dataset."""
_FROM_GENERATOR, _PREFETCH, _OPTIONS = (f"{DATASET}.{name}" for name in ("from_generator", "prefetch", "with_options"))
_SHARED = ("tensorflow", "tensorflow-generator")
"""Generators with a state that parallel calls race for."""
_BUILDS = ("keras.layers.", "keras.initializers.", "keras.applications.", "tensorflow.layers.",
           "tensorflow.get_variable", "tensorflow.data.", "tensorflow.contrib.layers.")  # fmt: skip
"""Draws that happen once when a network or a dataset is built, not once per element."""
_TASKS = ("py_function", "thread", "process", "callback")
"""Contexts in which a generator that is made anew belongs to one task only."""
_RANDOM_LAYERS = ("keras.layers.Random", "keras.layers.Gaussian", "keras.layers.Dropout")


@dataclass(frozen=True, slots=True)
class StageDraw:
    """A draw inside a stage: the call, its name for messages, and whether it happens in Python while tracing."""

    event: Event
    name: str
    kind: str
    """``op`` (once per element, in TensorFlow), ``host`` (once per element, in Python), ``frozen`` (once, traced)."""


def is_parallel(stage: Event) -> bool:
    """Whether a tf.data call has several calls in flight."""
    if stage.name in _ALWAYS_PARALLEL:
        return True
    position = {"interleave": 3, "batch": 2}.get(stage.name.rpartition(".")[2], 1)
    given = stage.args[position] if position < len(stage.args) else None
    calls = stage.kwargs.get("num_parallel_calls", given)
    return calls is not None and not (isinstance(calls, Const) and calls.value in (None, 1, False, True))


def stage_draws(program: Program) -> dict[int, list[StageDraw]]:
    """Draws inside stages, by the index of the stage's event."""
    stages = program.calls(*STAGES)
    at: dict[Location, list[Event]] = {}
    for stage in stages:
        at.setdefault(stage.location, []).append(stage)
    found: dict[int, list[StageDraw]] = {}
    for event in program.events if stages else ():
        if event.kind == "call" and event.inside("tfdata", "tfdata-parallel"):
            draw = _draw(event)
            stage_ = _innermost(event, at) if draw else None
            if draw and stage_:
                found.setdefault(stage_.index, []).append(draw)
    for stage in stages:
        found.setdefault(stage.index, []).extend(_direct(program, stage))
    _share(stages, found)
    return found


def _innermost(event: Event, at: dict[Location, list[Event]]) -> Event | None:
    for location in reversed(event.stack):
        before = [s for s in at.get(location, ()) if s.index < event.index]
        if before:
            return before[-1]
    return None


def draws_on_host(event: Event) -> bool:
    """Whether a call draws from a generator of Python or NumPy: a global one, or one that it does not make itself."""
    if event.name.startswith(OWN_GENERATORS):
        makers = [leaf.event for _, leaf in alternatives(event.receiver) if isinstance(leaf, Obj) and leaf.event]
        return not makers or any(not set(_TASKS) & set(event.contexts) <= set(m.contexts) for m in makers)
    return any(g in ("python", "numpy") for x in event.effects for g in x.draws)


def _draw(event: Event) -> StageDraw | None:
    if event.name.startswith(_BUILDS):
        layer = _random_layer(event.receiver) if event.name.endswith(".__call__") else ""
        return StageDraw(event, layer, "op") if layer else None
    if event.name.endswith(".__call__"):
        layer = _random_layer(event.receiver)
        return StageDraw(event, layer, "op") if layer else None
    if draws_on_host(event):
        return StageDraw(event, event.raw, "host" if event.inside("py_function") else "frozen")
    if any(g in _SHARED for x in event.effects for g in x.draws):
        return StageDraw(event, event.raw, "op")
    return None


def _random_layer(value: Value | None) -> str:
    """The name of a random preprocessing layer (or of the first one in a Sequential), else the empty string."""
    for _, leaf in alternatives(value):
        if isinstance(leaf, Obj) and leaf.event is not None:
            name = leaf.event.name
            if name.startswith(_RANDOM_LAYERS):
                return leaf.event.raw
            if name == "keras.Sequential" and leaf.event.args:
                for _, layers in alternatives(leaf.event.args[0]):
                    for layer in (layers.items or ()) if isinstance(layers, Seq) else ():
                        inner = _random_layer(layer)
                        if inner:
                            return inner
    return ""


def _direct(program: Program, stage: Event) -> Iterator[StageDraw]:
    """Functions from outside the program handed over as they are: ``map(tf.image.random_flip_left_right)``."""
    for _, leaf in alternatives(_function(stage)):
        if isinstance(leaf, Ref):
            name = program.knowledge.canonical(leaf.name)
            effects = program.knowledge.effects_of(name, leaf.name)
            if not name.startswith(_BUILDS) and any(g in _SHARED for x in effects for g in x.draws):
                yield StageDraw(stage, leaf.name, "op")
        elif isinstance(leaf, Obj):
            layer = _random_layer(leaf)
            if layer:
                yield StageDraw(stage, layer, "op")


def _function(stage: Event) -> Value | None:
    if stage.args:
        return stage.args[0]
    return stage.kwargs.get("map_func", stage.kwargs.get("predicate"))


def _share(stages: list[Event], found: dict[int, list[StageDraw]]) -> None:
    """The story tells a function once for equal arguments: a second stage with the same function draws likewise."""
    known: dict[tuple[object, ...], list[StageDraw]] = {}
    for stage in stages:
        leaves = [leaf for _, leaf in alternatives(_function(stage))]
        key = tuple((id(node), *_bound(leaf)) for leaf in leaves if (node := _node(leaf)) is not None)
        if key and found[stage.index]:
            known.setdefault(key, found[stage.index])
        elif key in known and key:
            found[stage.index] = known[key]


def _node(value: Value) -> object | None:
    while isinstance(value, Partial):
        value = value.func
    if isinstance(value, Bound):
        value = value.func
    if isinstance(value, Inst):
        return value.cls.node
    return value.node if isinstance(value, Func) else None


def _bound(value: Value) -> Iterator[object]:
    """The constants that a partial function is given: another value may decide whether it draws."""
    while isinstance(value, Partial):
        given = (*enumerate(value.args), *sorted(value.kwargs.items()))
        yield tuple((name, one.value) for name, one in given if isinstance(one, Const))
        value = value.func


def disorder(program: Program) -> Cond:
    """The condition under which tf.data does not force order and serial draws: op determinism (2.7 on) is not on."""
    if program.target.fits("tensorflow", "<2.7"):
        return True
    return negate(switch(program).on)


def when_any(draws: list[StageDraw]) -> Cond:
    """The condition under which any of the draws happens."""
    return either(*(both(*(g for g in d.event.guards if is_symbolic(g))) for d in draws))


def upstream(program: Program, event: Event, *names: str) -> list[Event]:
    """Calls of these names that made or changed the dataset which ``event`` is a method of, before it."""
    holders = [leaf for _, leaf in alternatives(event.receiver) if isinstance(leaf, Obj)]
    found = []
    for other in program.calls(*names):
        if other.index < event.index:
            mine = [leaf for _, leaf in alternatives(other.receiver)]
            if any(h.event is other or any(h is m for m in mine) for h in holders):
                found.append(other)
    return found


def generator_of(program: Program, event: Event) -> Event | None:
    """The call that makes a dataset of the generator in which something happens."""
    made = [e for e in program.calls(_FROM_GENERATOR) if e.index < event.index and e.location in event.stack]
    return made[-1] if made and event.inside(GENERATOR) else None


def read_ahead(program: Program, made: Event) -> bool:
    """Whether a dataset takes items from its source before they are asked for: in a thread, beside the program.

    By `prefetch`, in parallel calls, or by itself: from 2.9 on a dataset whose last stage is none of these gets a
    `prefetch` at its end, where no options say otherwise (tensorflow/core/data/dataset_utils.cc, ``inject_prefetch``;
    measured on TensorFlow 2.21, also that ``prefetch(0)`` at the end turns it off). Of options nothing is known.
    """
    stages = [e for e in program.calls(_PREFETCH, _OPTIONS, *STAGES) if any(one is made for one in made_by(e.receiver))]
    sizes = [e.argument(Argument(0, "buffer_size")) for e in stages if e.name == _PREFETCH]
    off = [size for size in sizes if isinstance(size, Const) and size.value == 0]
    if len(off) < len(sizes) or any(e.name in STAGES and is_parallel(e) for e in stages):
        return True
    unknown = bool(off) or any(e.name == _OPTIONS for e in stages)
    return not unknown and program.target.fits("tensorflow", ">=2.9")
