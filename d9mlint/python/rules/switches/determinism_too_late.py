"""determinism-too-late: the switch is turned on after the framework looked at it or after training began."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import Cond, both, either, is_symbolic, negate, truth
from d9mlint.python.domain.events import Event
from d9mlint.python.frameworks.jax import mode as jaxmode
from d9mlint.python.frameworks.tensorflow.determinism import (
    CUDNN_VARIABLE,
    ENABLE,
    FRONTEND_VARIABLE,
    FWR13Y,
    OPS_VARIABLE,
    PATCHES,
    patchable,
    reads_cudnn,
    reads_deterministic_ops,
    setting,
    switch,
)
from d9mlint.python.frameworks.torch import gpu as torchgpu
from d9mlint.python.frameworks.torch import mode as torchmode
from d9mlint.python.frameworks.torch.mode import torch_mode
from d9mlint.python.frameworks.used import frameworks_of
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.ops.opuse import shown

_RUNS = ("tensorflow.Session.run", "keras.Model.evaluate", "keras.Model.predict", "keras.Model.train_on_batch")
_LOADS = ("keras.models.load_model", "tensorflow.saved_model.load")
_SHAPES = ("input_shape", "batch_input_shape", "input_dim")
_NAMED = {OPS_VARIABLE, CUDNN_VARIABLE, FRONTEND_VARIABLE}


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """Every switch for which an earlier event surely came first."""
    yield from _tensorflow(program, rule)
    if "jax" in frameworks_of(program):
        yield from _jax(program, rule)


def _jax(program: Program, rule: Rule) -> Iterator[Draft]:
    """XLA's flags after JAX made its first array, unless they were already on there."""
    first = jaxmode.first_work(program)
    events = jaxmode.jax_mode(program).events
    if first is None or any(e.index < first.index for e in events):
        return
    for event in events[:1]:
        if event.certain and not _excluded(first, event):
            yield draft(
            program,
                rule, event, cond=both(*first.guards, jaxmode.wants(event)), name=jaxmode.FLAGS, first=first.raw,
                line=first.location.line, done="made JAX read them", remedy=rule.remedy(program.target, ("jax",)),
                related=[Related(first.location, "JAX starts its backend and reads the flags here")],
            )  # fmt: skip


def _tensorflow(program: Program, rule: Rule) -> Iterator[Draft]:
    seen: set[str] = set()
    for event in _switches(program):
        if event.detached or event.deferred or event.name in seen:
            continue
        first = _first(program, event)
        if first is None:
            continue
        at_first = switch(program, before=first).on if event.name not in (CUDNN_VARIABLE, FRONTEND_VARIABLE) else False
        cond = both(*first.guards, negate(at_first), setting(event).on if event.kind == "env" else True)
        if cond is False or not is_symbolic(both(cond, *event.guards)):
            continue
        seen.add(event.name)
        # Later ops do obey the call of enable_op_determinism: only what ran before it is lost.
        milder = event.name == ENABLE and not _trained(first)
        name = event.name if event.name in _NAMED else f"{shown(event)}()"
        yield draft(
            program,
            rule, event, cond=cond, severity="info" if milder else "", name=name, first=shown(first),
            line=first.location.line, done="made TensorFlow choose its kernels",
            related=[Related(first.location, "TensorFlow is already at work here")],
        )  # fmt: skip
    if "torch" in frameworks_of(program):
        yield from _of_torch(program, rule)


def _of_torch(program: Program, rule: Rule) -> Iterator[Draft]:
    """PyTorch's switch holds from the call on; cuBLAS reads its variable when its first handle is made."""
    mode = torch_mode(program)
    switches = [(a.event, a.on, "trained") for a in mode.asked if a.event.name in (torchmode.SWITCH, torchmode.DEBUG)]
    if program.target.fits("torch", "<2.10"):
        switches += [(e, mode.on, "run on the GPU") for e in program.env(torchmode.WORKSPACE)]
    for event, on, done in switches:
        first = next((e for e in program.events[: event.index] if _torch_works(e, done)), None)
        if first is None or event.detached or event.deferred or _excluded(first, event):
            continue
        before = either(*(both(*a.event.guards, a.on) for a in mode.asked if a.event.index < first.index))
        cond = both(*first.guards, on, torchgpu.on_gpu(program), negate(before) if event.kind == "call" else True)
        if truth(cond, event.guards) is False or not is_symbolic(cond):
            continue
        yield draft(
            program,
            rule, event, cond=cond, name=event.name if event.kind == "env" else f"{shown(event)}()", done=done,
            first=shown(first), line=first.location.line,
            related=[Related(first.location, "PyTorch is already at work here")],
        )  # fmt: skip
        return


def _torch_works(event: Event, done: str) -> bool:
    """Whether an event surely trained, or ran a layer."""
    if event.kind != "call" or not event.certain:
        return False
    if event.name.endswith(".backward"):
        return True
    return done != "trained" and event.name.startswith("torch.nn.") and event.name.endswith(".__call__")


def _switches(program: Program) -> list[Event]:
    found: list[Event] = []
    if program.target.fits("tensorflow", ">=2.8"):
        found += program.calls(ENABLE)
    if reads_deterministic_ops(program):
        found += program.env(OPS_VARIABLE)
    if reads_cudnn(program) and not reads_deterministic_ops(program):
        found += program.env(CUDNN_VARIABLE)
    if program.target.fits("tensorflow", ">=2.5,<2.8"):
        found += program.env(FRONTEND_VARIABLE)
    if patchable(program):
        found += program.calls(*PATCHES)
    return sorted([*found, *program.calls(FWR13Y)], key=lambda e: e.index)


def _first(program: Program, event: Event) -> Event | None:
    """The first event that surely made TensorFlow decide about determinism before ``event``."""
    graph = program.target.fits("tensorflow", "<2.0")
    inputs = False
    for other in program.events:
        if other.index >= event.index:
            return None
        if other.kind != "call" or not other.certain or other.inside("tfdata", "tfdata-parallel", "py_function"):
            continue
        if _excluded(other, event):
            continue
        if _trained(other) or (not graph and (_draws(other) or _builds(other, inputs))):
            return other
        if event.name in PATCHES and other.name.startswith("tensorflow.layers."):
            return other
        inputs = inputs or other.name in ("keras.Input", "keras.layers.Input", "keras.layers.InputLayer")
    return None


def _excluded(other: Event, event: Event) -> bool:
    joint: Cond = both(*other.guards, *event.guards)
    return joint is False


def _trained(event: Event) -> bool:
    if event.name in ("tensorflow.GradientTape", "tensorflow.gradients", "?.compute_gradients"):
        return False
    if event.name in _RUNS or event.name == "keras.Model.fit":
        return True
    return any(e.trains for e in event.effects) and event.name.endswith((".fit", ".apply_gradients", ".train"))


def _draws(event: Event) -> bool:
    """A random op, or a shuffled dataset; the constructor of a layer draws nothing yet."""
    if not any("tensorflow" in e.draws for e in event.effects):
        return False
    return event.name.startswith(("tensorflow.random.", "tensorflow.image.", "tensorflow.data.Dataset."))


def _builds(event: Event, inputs: bool) -> bool:
    """Weights are made: a layer that knows its input, a ready-made model, a layer called on something."""
    if event.name in _LOADS or (event.name.startswith("keras.applications.") and event.name.count(".") == 2):
        return event.name != "keras.applications.preprocess_input"
    if not event.name.startswith("keras.layers."):
        return False
    if event.name.endswith("().__call__"):
        return any(word in event.name for word in ("Conv", "Dense", "LSTM", "GRU", "Embedding"))
    weights = any(e.device_op for e in event.effects)
    return weights and (inputs or any(word in event.kwargs for word in _SHAPES))
