"""JAX's determinism on GPUs: the flags of XLA that a program sets, when they still count, and what it trains.

XLA reads ``XLA_FLAGS`` once, when JAX makes its first array or asks for devices, not when it is imported, and ends the
process when it meets a flag that it does not know (measured with jax 0.10.2 on a CPU). The flags by version are those
in the strings of jaxlib 0.4.13, 0.4.25, 0.4.26, 0.4.30, 0.5.3, 0.6.2, 0.8.3 and 0.10.2.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from d9mlint.model import Argument
from d9mlint.python.domain.conditions import Cond, both, either, flag_test, is_symbolic, negate, opaque_test
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, FlagValue, Func, Seq, Value, alternatives
from d9mlint.python.frameworks.flagtexts import contains, says
from d9mlint.python.frameworks.jax.calls import APPLIED, FUNCTION
from d9mlint.python.frameworks.jax.modules import INITIALIZING
from d9mlint.python.frameworks.tensorflow.devices import no_visible_gpus
from d9mlint.python.frameworks.used import keras_backend
from d9mlint.python.interpreter.calls import INFERENCE
from d9mlint.python.interpreter.program import LOOPS, Program

FLAGS = "XLA_FLAGS"
EXCLUDE = "--xla_gpu_exclude_nondeterministic_ops"
_SWITCH = re.compile(r"--xla_gpu_(deterministic_ops|exclude_nondeterministic_ops)(=(true|1|True))?(?=\s|$)")
_ASKED = re.compile(r"--xla_gpu_(\w*determinis\w*|autotune_level)")
_GRADIENTS = ("jax.", "flax.", "haiku.", "equinox.")
_HOST_PARTS = re.compile(r"--xla_force_host_platform_device_count=0*([2-9]|1\d)")
_MESHES = {"jax.make_mesh": "axis_shapes", "jax.experimental.mesh_utils.create_device_mesh": "mesh_shape"}
"""What arranges devices, and how its parameter for their numbers is called."""
_PLATFORMS = ("JAX_PLATFORMS", "JAX_PLATFORM_NAME")
_SETTINGS = ("jax_platforms", "jax_platform_name")
_UPDATES = frozenset({"apply_gradients", "apply_gradient", "apply_updates", "update"})
"""What makes new weights of gradients."""
_UPDATE = ("jax.config.update", "jax.config.config.update")
_NO_GPU = ("cpu", "tpu")
_WORKS = (
    "jax.devices", "jax.local_devices", "jax.device_count", "jax.local_device_count", "jax.default_backend",
    "jax.device_put", "jax.process_index", "jax.process_count",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class JaxMode:
    """When XLA runs deterministic kernels only, when something about it is asked for at all, and by which events."""

    on: Cond
    asked: Cond
    events: tuple[Event, ...]


def jax_mode(program: Program) -> JaxMode:
    """The state of the XLA flags; text that is not known is a condition that nobody can tell."""
    return program.once("jax-mode", _jax_mode)


def _jax_mode(program: Program) -> JaxMode:
    events = [e for e in program.env(FLAGS) if not e.detached]
    on = either(*(both(*e.guards, flags(e, _SWITCH)) for e in events))
    asked = either(*(both(*e.guards, flags(e, _ASKED)) for e in events))
    return JaxMode(on, asked, tuple(e for e in events if flags(e, _SWITCH) is not False))


def replacing(program: Program) -> Event | None:
    """The first write of XLA_FLAGS that drops what was there: flags that whoever starts the program has given."""
    kept = {event.location for event in program.calls("os.environ.setdefault")}
    writes = (e for e in program.env(FLAGS) if not (e.detached or e.inside("launch") or e.location in kept))
    return next((e for e in writes if all(isinstance(leaf, Const) for _, leaf in alternatives(e.args[0]))), None)


def wants(event: Event) -> Cond:
    """When a write of XLA_FLAGS asks for deterministic ops."""
    return flags(event, _SWITCH)


def wanted(event: Event) -> Cond:
    """When a write of a variable with flags surely asks for something about determinism."""
    return says(event.args[0], _ASKED)


def flags(event: Event, pattern: re.Pattern[str]) -> Cond:
    """When the text that an ``env`` event sets has a match for ``pattern``."""
    return either(*(both(cond, _says(leaf, pattern)) for cond, leaf in alternatives(event.args[0])))


def _says(leaf: Value, pattern: re.Pattern[str]) -> Cond:
    found = contains(leaf, pattern)
    return opaque_test(("unknown", id(leaf)), "a value that is not known") if found is None else found


def on_gpu(program: Program) -> Cond:
    """When JAX is not kept from the GPUs: by the platform that is asked for, or because none is visible."""
    hidden = no_visible_gpus(program)
    for event in program.env(*_PLATFORMS):
        hidden += [both(*event.guards, c, _other(leaf)) for c, leaf in alternatives(event.args[0])]
    for event in program.calls(*_UPDATE):
        names = [leaf.value if isinstance(leaf, Const) else None for _, leaf in alternatives(event.args[0])]
        if len(event.args) > 1 and all(name in _SETTINGS for name in names):
            hidden += [both(*event.guards, c, _other(leaf)) for c, leaf in alternatives(event.args[1])]
    asked = [both(*e.guards) for e in program.calls("jax.tools.colab_tpu.setup_tpu") if not e.detached]
    hidden += filter(is_symbolic, asked)  # where the notebook runs on a TPU ("COLAB_TPU_ADDR" in os.environ): not here
    return negate(either(*hidden))


def on_parts_of_host(program: Program) -> bool:
    """Whether the CPU is to look like several devices and just so many are asked for: a program meant for the CPU."""
    if not any(flags(e, _HOST_PARTS) is True and not e.detached for e in program.env(FLAGS)):
        return False
    shapes = [e.argument(Argument(0, key)) for name, key in _MESHES.items() for e in program.calls(name)]
    return any(_several(shape) for shape in shapes)


def _several(shape: Value | None) -> bool:
    if not isinstance(shape, Seq) or not shape.items:
        return False
    sizes = [one.value if isinstance(one, Const) else None for one in shape.items]
    return all(isinstance(size, int) for size in sizes) and any(size > 1 for size in sizes if isinstance(size, int))


def _other(leaf: Value) -> Cond:
    """When the first platform named is no GPU."""
    if isinstance(leaf, FlagValue):
        return either(*(flag_test(leaf.flag, "==", name) for name in _NO_GPU))
    if not isinstance(leaf, Const) or not isinstance(leaf.value, str):
        return False
    return leaf.value.partition(",")[0].strip().lower() in _NO_GPU


def trainings(program: Program) -> list[Event]:
    """Events that train with JAX, loops of Keras first, then gradients of which an update is made beside them."""
    found = [e for e in program.trains if _is_jax(program, e)]
    known = {id(e) for e in found}
    found += [e for e in program.events if _scaled(e) and not e.detached and id(e) not in known]
    return sorted(
        found,
        key=lambda e: (
            e.detached, e.name.rpartition(".")[2] not in LOOPS, id(e) not in known, not updates(program, e), e.index,
        ),
    )  # fmt: skip


def training_steps(program: Program) -> list[Event]:
    """Those of them that make new weights: not gradients that a network computes where it is evaluated, or made."""
    steps = [e for e in trainings(program) if not e.inside(INFERENCE, INITIALIZING) or updates(program, e)]
    typed = program.once("jax-typed", _typed)
    return [
        e for e in steps
        if not _functions(e) & program.once("jax-thrown-away", _thrown_away) and id(e.result) not in typed
    ]  # fmt: skip


def _typed(program: Program) -> frozenset[int]:
    """The transformed functions, by ``id``, that are made to see what type they have: ``type(jax.grad(f))``."""
    return frozenset(id(leaf) for e in program.calls("builtins.type") for _, leaf in alternatives(e.argument(FUNCTION)))


def _thrown_away(program: Program) -> frozenset[int]:
    """The functions whose gradients are computed, and never kept: to see how long it takes."""
    calls = [event for event in program.calls(*APPLIED) if not event.detached]
    kept = {node for event in calls if not event.discarded for node in _functions(event)}
    return frozenset(node for event in calls if event.discarded for node in _functions(event) if node not in kept)


def _functions(event: Event) -> frozenset[int]:
    """The functions of the program that a call is given first, by their definitions."""
    return frozenset(id(leaf.node) for _, leaf in alternatives(event.argument(FUNCTION)) if isinstance(leaf, Func))


def updates(program: Program, event: Event) -> bool:
    """Whether new weights are made in the function or file that a gradient is computed in."""
    return _body(event) in program.once("jax-updates", _updating)


def _updating(program: Program) -> frozenset[object]:
    return frozenset(_body(e) for e in program.events if e.name.rpartition(".")[2] in _UPDATES and not e.detached)


def _body(event: Event) -> object:
    """The function or file that a call stands in."""
    return event.location.path if event.func is None else id(event.func.node)


def _is_jax(program: Program, event: Event) -> bool:
    if event.name.startswith("keras."):
        return keras_backend(program) == "jax"
    return event.name.startswith(_GRADIENTS)


def _scaled(event: Event) -> bool:
    """``state.dynamic_scale.value_and_grad(...)``: Flax's gradients in half precision, reached through a state."""
    return event.kind == "call" and event.name.endswith(".value_and_grad") and not event.name.startswith("torch.")


def first_work(program: Program) -> Event | None:
    """The first event that surely made JAX start its backend, after which XLA_FLAGS is not read again."""
    return program.once("jax-first-work", _first_work)


def _first_work(program: Program) -> Event | None:
    return next((e for e in program.events if e.kind == "call" and e.certain and _works(e)), None)


def _works(event: Event) -> bool:
    if event.name in _WORKS:
        return True
    if not event.name.startswith(("jax.random.", "jax.numpy.")):
        return False
    return event.name.count(".") == 2 and any(
        e.returns.startswith(("jax.Array", "jax.random.Key")) for e in event.effects
    )


def known(program: Program, flag: str) -> bool:
    """Whether this version knows a flag: the finer one came with jax 0.4.29 (openxla/xla#12520)."""
    return flag != EXCLUDE or not program.target.fits("jax", "<0.4.29")


def reads_cudnn(program: Program) -> bool:
    """Whether the XLA of this version may read TF_CUDNN_DETERMINISTIC: that of jaxlib 0.6 does not have the name."""
    return not program.target.fits("jax", ">=0.6")
