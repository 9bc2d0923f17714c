"""When a program lets TensorFlow compute on GPUs: no variable, call or session hides them, and no TPU is used."""

from __future__ import annotations

from d9mlint.model import Argument
from d9mlint.python.domain.conditions import Cond, both, either, flag_test, is_symbolic, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.tellable import loosened
from d9mlint.python.domain.values import CondValue, Const, Dict, FlagValue, Seq, Value, alternatives
from d9mlint.python.frameworks.tensorflow.sessionruns import RUN, SESSIONS
from d9mlint.python.interpreter.program import Program

_TPU = ("tensorflow.tpu.experimental.initialize_tpu_system", "tensorflow.distribute.TPUStrategy",
        "tensorflow.distribute.experimental.TPUStrategy", "tensorflow.contrib.distribute.TPUStrategy")  # fmt: skip
_TPU_ESTIMATORS = ("tensorflow.contrib.tpu.TPUEstimator", "tensorflow.estimator.tpu.TPUEstimator")
_OTHER_TRAININGS = ("tensorflow.estimator.Estimator", "keras.Model.fit", RUN, "?.fit")
_USE_TPU = Argument(4, "use_tpu")
_MONITORED = "tensorflow.train.MonitoredTrainingSession"


def on_gpu(program: Program) -> Cond:
    """When the program does not hide the GPUs from TensorFlow and does not run on TPUs."""
    hidden: list[Cond] = no_visible_gpus(program)
    names = ("tensorflow.config.set_visible_devices", "tensorflow.config.experimental.set_visible_devices")
    for event in program.calls(*names):
        devices = event.args[0] if event.args else event.kwargs.get("devices")
        kind = event.args[1] if len(event.args) > 1 else event.kwargs.get("device_type")
        if isinstance(devices, Seq) and devices.items == [] and isinstance(kind, Const) and kind.value == "GPU":
            hidden.append(both(*event.guards) if not event.detached else False)
    opened = next((e.index for e in program.calls(*SESSIONS, _MONITORED) if not e.detached), len(program.events))
    for event in program.calls("tensorflow.ConfigProto"):
        counts = event.kwargs.get("device_count")
        count = counts.items.get("GPU") if isinstance(counts, Dict) else None
        later = event.index > opened  # (each session has devices of its own: a later one evaluates)
        if isinstance(count, Const) and count.value == 0 and not event.detached and not later:
            hidden.append(both(*event.guards))
    return loosened(negate(either(*hidden, on_tpu(program))))


def on_tpu(program: Program) -> Cond:
    """When the program runs on TPUs: it connects to them, or its Estimators do, which are compiled by XLA there."""
    strategies = [both(*e.guards) for e in program.calls(*_TPU) if not e.detached]
    return either(*strategies, *(_on_tpu(program, e) for e in program.calls(*_TPU_ESTIMATORS) if not e.detached))


def no_visible_gpus(program: Program) -> list[Cond]:
    """When CUDA_VISIBLE_DEVICES hides all GPUs, whatever the framework."""
    hidden: list[Cond] = []
    for event in program.env("CUDA_VISIBLE_DEVICES"):
        for cond, leaf in alternatives(event.args[0] if event.args else None):
            if isinstance(leaf, Const) and str(leaf.value).strip() in ("", "-1") and not event.detached:
                hidden.append(both(*event.guards, cond))
    return hidden


def _on_tpu(program: Program, event: Event) -> Cond:
    """When a ``TPUEstimator`` runs on TPUs: ``use_tpu`` is true by default; without them it is like any other.

    Where it is made under a condition that cannot be told (``if input("go on?") == "y":``), it counts if nothing else
    trains there.
    """
    value = event.argument(_USE_TPU)
    used = True if value is None else either(*(both(c, _truthy(leaf)) for c, leaf in alternatives(value)))
    cond = both(*event.guards, used)
    if is_symbolic(cond):
        return cond
    if used is not True:
        return used if is_symbolic(used) else False
    known = both(*(one for one in event.guards if is_symbolic(one)))
    others = (e for e in program.calls(*_OTHER_TRAININGS) if not e.detached)
    return False if any(both(known, *e.guards) is not False for e in others) else known


def _truthy(leaf: Value) -> Cond:
    if isinstance(leaf, FlagValue):
        return flag_test(leaf.flag, "truthy")
    if isinstance(leaf, CondValue):
        return leaf.cond
    return isinstance(leaf, Const) and bool(leaf.value)
