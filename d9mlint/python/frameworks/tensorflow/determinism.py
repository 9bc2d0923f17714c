"""TensorFlow's switches for deterministic ops: which one this version reads, and when the program turns it on.

Sources: NVIDIA/framework-reproducibility doc/d9m/tensorflow.md and tensorflow_status.md, fwr13y/d9m/tensorflow/*.py;
tensorflow/python/framework/config.py (enable_op_determinism).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from d9mlint.python.domain.conditions import Cond, both, either, flag_test, negate, opaque_test
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import CondValue, Const, FlagValue, Obj, Ref, Seq, Unknown, Value, alternatives
from d9mlint.python.frameworks.tensorflow.sessionruns import (
    INITIALIZERS,
    RUN,
    SESSIONS,
    asks_for,
    computes,
    computes_of,
    inside,
    steps_run,
)
from d9mlint.python.frameworks.tensorflow.waiting import with_steps
from d9mlint.python.frameworks.used import TENSORLAYERX, keras_backend, tlx_backend
from d9mlint.python.interpreter.program import LOOPS, Program
from d9mlint.python.interpreter.provenance import Makers, results

ENABLE = "tensorflow.config.experimental.enable_op_determinism"
FWR13Y = "fwr13y.d9m.tensorflow.enable_determinism"
PATCHES = ("tfdeterminism.patch", "fwr13y.d9m.tensorflow.patch")
SHELLS = ("fwd9m.tensorflow.patch", "fwd9m.tensorflow.enable_determinism")
"""Names of a package on PyPI that holds no code any more."""
ALL_IN_ONE = ("transformers.enable_full_determinism",)
OPS_VARIABLE = "TF_DETERMINISTIC_OPS"
CUDNN_VARIABLE = "TF_CUDNN_DETERMINISTIC"
FRONTEND_VARIABLE = "TF_CUDNN_USE_FRONTEND"
_ON = ("1", "true")
_OFF = ("0", "false", "")
"""TensorFlow's ReadBoolFromEnvVar lower-cases the text and takes these for true and false, all else is an error."""


# -- values of variables -------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Setting:
    """When a write to a boolean environment variable turns it on, off, or is no boolean at all."""

    on: Cond
    off: Cond
    junk: Cond


def setting(event: Event) -> Setting:
    """What an ``env`` event sets; what is not known is on under a condition that nobody can tell."""
    on: list[Cond] = []
    off: list[Cond] = []
    junk: list[Cond] = []
    for cond, leaf in alternatives(event.args[0] if event.args else Unknown()):
        if isinstance(leaf, Const):
            text = leaf.value.lower() if isinstance(leaf.value, str) else None
            (on if text in _ON else off if text in _OFF else junk).append(cond)
            continue
        held = _flag_on(leaf)
        on.append(both(cond, held))
        off.append(both(cond, negate(held)))
    return Setting(either(*on), either(*off), either(*junk))


def _flag_on(leaf: Value) -> Cond:
    if isinstance(leaf, CondValue):
        return leaf.cond
    if isinstance(leaf, FlagValue):
        flag = leaf.flag
        if flag.kind in ("on", "off", "bool") or isinstance(flag.default, int):
            return flag_test(flag, "truthy")
    return opaque_test(("unknown", id(leaf)), "a value that is not known")


# -- the switch ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Switch:
    """The deterministic-op mode: when it is on, by which events, and what this version wants."""

    on: Cond
    events: tuple[Event, ...]
    partial: tuple[Event, ...] = ()
    """Writes of TF_CUDNN_DETERMINISTIC, which cover cuDNN only."""


def switch(program: Program, *, before: Event | None = None) -> Switch:
    """The state of the switch, of all the program or of what comes ``before`` an event."""
    events = [e for e in _switching(program) if _counts(e, before)]
    partial = [e for e in program.env(CUDNN_VARIABLE) if _counts(e, before)] if reads_cudnn(program) else []
    on = either(*(both(*e.guards, turned_on(e)) for e in events))
    return Switch(on, tuple(events), tuple(partial))


def turned_on(event: Event) -> Cond:
    """When an event of the switch really turns it on."""
    return setting(event).on if event.kind == "env" else True


def _counts(event: Event, before: Event | None) -> bool:
    return not event.detached and (before is None or event.index < before.index)


def _switching(program: Program) -> list[Event]:
    events: list[Event] = []
    if program.target.fits("tensorflow", ">=2.8"):
        events += program.calls(ENABLE, *ALL_IN_ONE)
    if reads_deterministic_ops(program):
        events += program.env(OPS_VARIABLE)
    if patchable(program):
        events += program.calls(*PATCHES)
    if has_switch(program):
        events += program.calls(FWR13Y)
    return sorted(events, key=lambda e: e.index)


def partly_on(program: Program) -> Cond:
    """When only cuDNN is made deterministic (TF_CUDNN_DETERMINISTIC without the rest)."""
    if not reads_cudnn(program):
        return False
    return either(*(both(*e.guards, setting(e).on) for e in program.env(CUDNN_VARIABLE) if not e.detached))


def attempted(program: Program) -> Cond:
    """When the program tries to turn determinism on in a way that does not work; other rules speak of these places."""
    conds: list[Cond] = []
    for event in program.env(OPS_VARIABLE, CUDNN_VARIABLE):
        if not event.detached:
            state = setting(event)
            conds.append(both(*event.guards, either(state.on, state.junk, plainly_off(program, event))))
    names = [*PATCHES, *SHELLS, FWR13Y]
    if program.target.fits("tensorflow", ">=2.8"):
        names.append(ENABLE)
    for event in (*program.calls(*names), *program.find("mention", *names)):
        if not event.detached:
            conds.append(both(*event.guards))
    return either(*conds)


def plainly_off(program: Program, event: Event) -> bool:
    """Whether a variable is set to 0 without a choice: no flag decides, and nothing else turns it on."""
    if both(*event.guards) is not True or setting(event).off is not True:
        return False
    return all(setting(e).on is False for e in program.env(event.name)) and switch(program).on is False


def perhaps_elsewhere(program: Program, known: Collection[str] = (ENABLE,)) -> bool:
    """Whether something that cannot be followed may turn the switch on: its name says so, or the variable is read.

    ``known`` are names of this kind whose effect is known.
    """
    named = program.once("possible-switches", _possible_switches)
    return program.story.truncated or any(name not in known for name in named)


def _possible_switches(program: Program) -> frozenset[str]:
    """Names of the calls that may turn it on; empty ones for reads of its variables."""
    found: set[str] = set()
    for event in program.calls("os.getenv", "os.environ.get"):
        name = event.args[0] if event.args and not event.detached else None
        if isinstance(name, Const) and name.value in (OPS_VARIABLE, CUDNN_VARIABLE):
            found.add("")
    for event in program.named(_names_switch, "call", "unresolved"):
        own = isinstance(event.receiver, Obj)  # what a package made speaks of itself: `augmenter.to_deterministic()`
        if not event.detached and not event.effects and not own:
            found.add(event.name)
    return frozenset(found)


def _names_switch(name: str) -> bool:
    """Whether a name says that something is determined, or can be reproduced."""
    last = name.rpartition(".")[2].lower()
    return "determini" in last or "reproducib" in last


# -- versions ------------------------------------------------------------------------------------------------------


def reads_deterministic_ops(program: Program) -> bool:
    """Whether this version reads TF_DETERMINISTIC_OPS (stock from 2.1, NVIDIA's containers from 19.06)."""
    return program.target.fits("tensorflow", ">=2.1") or program.target.fits("ngc", ">=19.06")


def reads_cudnn(program: Program) -> bool:
    """Whether this version reads TF_CUDNN_DETERMINISTIC (from 1.14, later ones beside the full switch)."""
    return program.target.fits("tensorflow", ">=1.14")


def patchable(program: Program) -> bool:
    """Whether the patch works: stock 1.14, 1.15 and 2.0; elsewhere it raises TypeError."""
    return program.target.fits("tensorflow", ">=1.14,<2.1") and program.target.version("ngc") is None


def has_switch(program: Program) -> bool:
    """Whether this version has any switch for deterministic ops."""
    return program.target.fits("tensorflow", ">=1.14") or program.target.fits("ngc", ">=19.06")


# -- training ------------------------------------------------------------------------------------------------------

_STEPS = ("apply_gradients", "minimize")
_OTHERS = ("torch.", "jax.", "flax.", "haiku.", "equinox.")
"""Names of gradients that are not TensorFlow's."""
_FIT_WORDS = frozenset({"epochs", "validation_data", "steps_per_epoch", "callbacks", "validation_split", "batch_size"})


_ESTIMATOR = "tensorflow.estimator.Estimator"
_NOT_TRAINING = tuple(f"{_ESTIMATOR}.{m}" for m in ("predict", "evaluate", "export_saved_model", "export_savedmodel"))


def trains(program: Program) -> list[Event]:
    """Events that compute gradients, without those of a ``model_fn`` that is only exported, evaluated or asked."""
    return program.once("trains", _trains)


def _trains(program: Program) -> list[Event]:
    if _only_built(program):
        return [e for e in program.trains if not builds(e)]
    used = any(not e.detached for e in program.calls(*_NOT_TRAINING))
    if not used or any(not e.detached and e.name.rpartition(".")[2] in LOOPS for e in program.trains):
        return program.trains
    return [e for e in program.trains if not e.deferred]


_BUILDS = (*_STEPS, "compute_gradients", "gradients")
OUTSIDE = "tensorflow.contrib.opt.ExternalOptimizerInterface.minimize"
"""A call that does all steps of an optimizer outside of the graph, in the session that it is handed."""


def _only_built(program: Program) -> bool:
    """Whether a graph has a training step that no session runs: one that is built for all, in a program that evaluates.

    It is run where anything is handed it, or a session what nobody knows.
    """
    steps = {id(e) for e in program.trains if builds(e, whole=True)}
    if not steps or not program.calls(*SESSIONS):
        return False
    done = [e for e in program.events if e.kind == "call" and not e.detached]
    asked = [e for e in done if e.name.endswith(".run") and e.args]
    makers = results(program)
    told = [v for e in asked for a in e.args[:1] for v in inside(a)]
    known = any(isinstance(v, Obj) and not v.type.endswith(INITIALIZERS) for v in told)
    hidden = [v for v in told if (isinstance(v, (Unknown, Ref)) and id(v) not in makers) or _open(v)]
    if not told or not all(known and _part(v) for v in hidden):
        return False
    given = (v for e in done for a in (e.receiver, *e.args, *e.kwargs.values()) if a is not None for v in inside(a))
    return not any(isinstance(value, Obj) and id(value.event) in steps for value in given)


def _open(value: Value) -> bool:
    """Whether a list may hold more than is known: one that a loop or a branch has added to."""
    return isinstance(value, Seq) and value.items is None


def _part(value: Value) -> bool:
    """Whether a value that is not known is a part of what a call gives: ``loss, norm = f(x)``. No step is one."""
    return type(value) is Unknown and not value.name


def builds(event: Event, *, whole: bool = False) -> bool:
    """Whether a call only makes gradients in a graph, or the ``whole`` step that applies them."""
    made = event.name.startswith(("tensorflow.", "?.")) and event.name != OUTSIDE
    return made and event.name.endswith(_STEPS if whole else _BUILDS)


def trainings(program: Program) -> list[Event]:
    """Events that train with TensorFlow, the ones that say it best first: loops and steps, then bare gradients."""
    found = [e for e in trains(program) if _is_tensorflow(program, e)]
    found += [e for e in fitted(program) if not e.trains and e not in found]
    return sorted([*found, *_runs(program, found)], key=lambda e: (e.detached, _rank(e), e.index))


def _runs(program: Program, found: list[Event]) -> list[Event]:
    """Where a session runs a training step, else what is computed of gradients, else what may wait for a step."""
    made = with_steps(program, {id(e) for e in found})
    makers = results(program) if made else Makers()
    runs = program.calls(RUN) if made else []
    return (
        [*(e for e in runs if asks_for(e, made, makers)), *(steps_run(program, made, makers) if made else ())]
        or [e for e in runs if computes_of(program, e, made)]
        or [e for e in runs if _may_run(e, found) and computes(e, makers)]
    )


def _rank(event: Event) -> int:
    last = event.name.rpartition(".")[2]
    if last in LOOPS or event.name == OUTSIDE:
        return 0
    return 1 if last in _STEPS else 2


def fitted(program: Program) -> tuple[Event, ...]:
    """Where networks are trained that a call made which is not known, and compiled before, as Keras' are."""
    return program.once("fitted-networks", _fitted) if program.imports("tensorflow", "keras", "tf_keras") else ()


def _fitted(program: Program) -> tuple[Event, ...]:
    called = (e for e in program.ending("().fit", "call") if not e.detached)
    return tuple(e for e in called if any(True for _ in program.calls(f"{e.name.removesuffix('.fit')}.compile")))


def _may_run(event: Event, built: Sequence[Event]) -> bool:
    """Whether a loop runs something of a graph with a training step, which may wait for that without being told so."""
    return bool(event.loops) and all(builds(one) and one.index < event.index for one in built)


def _is_tensorflow(program: Program, event: Event) -> bool:
    """Methods of unknown objects train with TensorFlow only where nothing else is likely (flax, scikit-learn)."""
    if event.name.endswith(".backward") or event.name.startswith(_OTHERS):
        return False
    if event.name.startswith("keras.") and keras_backend(program) != "tensorflow":
        return False
    if event.name.startswith(TENSORLAYERX) and tlx_backend(program) != "tensorflow":
        return False
    if not event.name.startswith("?."):
        return True
    if program.imports("jax", "flax", "torch") or keras_backend(program) != "tensorflow":
        return False
    if event.name != "?.fit":
        return True
    return bool(_FIT_WORDS & set(event.kwargs) or program.calls("?.compile", "keras.Model.compile"))
