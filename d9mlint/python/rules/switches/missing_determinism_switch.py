"""missing-determinism-switch: training on a GPU with deterministic ops of TensorFlow or JAX never switched on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import both, truth
from d9mlint.python.domain.events import Event
from d9mlint.python.frameworks.jax import mode as jaxmode
from d9mlint.python.frameworks.jax import sizes as jaxsizes
from d9mlint.python.frameworks.registry import judged_as
from d9mlint.python.frameworks.tensorflow.determinism import OUTSIDE, builds, has_switch, trainings
from d9mlint.python.frameworks.tensorflow.exact import exact
from d9mlint.python.frameworks.tensorflow.fetching import step_fetched
from d9mlint.python.frameworks.tensorflow.graphs import origins
from d9mlint.python.frameworks.tensorflow.sessionruns import FETCHES, RUN
from d9mlint.python.frameworks.used import frameworks_of
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_by
from d9mlint.python.judging.drafts import Draft, draft, lower
from d9mlint.python.judging.ops.cures import hindrance, raising
from d9mlint.python.judging.ops.opcalls import call_of
from d9mlint.python.judging.ops.opuse import Use, shown, uses
from d9mlint.python.rules.switches import _missing_switch

_NO_SWITCH = (
    "TensorFlow before 1.14 has no switch for deterministic ops on the GPU: upgrade to 1.15{}, which runs code of "
    "TensorFlow 1, set `TF_CUDNN_DETERMINISTIC` to 1 there and patch it with the package `tensorflow-determinism` "
    "(from 2.1 on it needs no package), or train on the CPU"
)
"""(With what keeps the program from that release.)"""
_LOADS = "keras.models.load_model"
_BIAS_ADD = "tf.nn.bias_add"
_BIASES = frozenset({"tf.keras.layers.Dense", _BIAS_ADD})
_UNPATCHED = "write `x + bias` for `tf.compat.v1.nn.bias_add(x, bias)`, which the patch leaves as it is; "
"""(``tensorflow.nn.bias_add`` is another name of it, and the one that tfdeterminism/patch.py replaces.)"""
_OWN_BIAS = (
    "; or leave the biases out and add variables of your own with `+`, whose gradients are summed in a fixed order"
)
_REPLACES = "this replaces what anyone has put into `XLA_FLAGS` before, a flag for deterministic ops, too"
_THERE = "add it to what line {0.line} of `{0.path}` writes, which replaces what was there before"
_BY_NAMES = "newest release with "
"""How the reason of a version begins that only names in the code tell: those that a newer release lacks."""
_OLDER = " (that is from 2.8 on; in 2.1 to 2.7 set TF_DETERMINISTIC_OPS to 1 before the first op instead)"
_JAX_LIBRARIES = ("flax", "optax", "haiku", "equinox", "keras")
"""What a program imports that trains networks with JAX; others may only differentiate some function."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """One finding a framework, at the first call that trains."""
    yield from _missing_switch.by_framework(program, rule, _tensorflow, _jax)


def _jax(program: Program, rule: Rule) -> Iterator[Draft]:
    off = _missing_switch.off_in_jax(program)
    if off is False:
        return
    found = jaxmode.training_steps(program)
    event = next((e for e in found if truth(off, e.guards) is not False), None)
    if event is None:
        return
    tiny = jaxsizes.tiny(program)
    others = _missing_switch.other_branches(event, found)
    sure = bool(program.imports(*_JAX_LIBRARIES))
    varying = [use for use in _missing_switch.varying(program) if use.op.framework == "jax" and use.sure]
    replacing = jaxmode.replacing(program)
    there = f"; {_THERE.format(replacing.location)}" if replacing else ""
    yield draft(
        program, rule, _missing_switch.any_of(event, found), cond=off,
        remedy=f"{rule.remedy(program.target, ('jax',))}{there}",
        severity="info" if tiny else "",
        confidence="low" if tiny or jaxmode.on_parts_of_host(program) else "" if sure else lower(rule.confidence),
        related=[
            *(Related(u.event.location, f"the {u.effect} of `{shown(u.event)}` varies") for u in varying),
            *([Related(replacing.location, _REPLACES)] if replacing else ()),
            *(Related(e.location, f"in another branch `{_missing_switch.method(e.raw)}` trains here") for e in others),
        ],
        name=_missing_switch.trainers(event, others), does=_missing_switch.does(event),
        state="XLA's deterministic ops off",
        ops="gradients of larger products than those here" if tiny else _missing_switch.listed(varying),
        of_calls=[call_of(program, use) for use in varying],
    )  # fmt: skip


def _tensorflow(program: Program, rule: Rule) -> Iterator[Draft]:
    off = _missing_switch.off_in_tensorflow(program)
    if off is False:
        return
    every = trainings(program)
    steps = [event for event in every if event.name != RUN]
    if steps and all(event.on_cpu() for event in steps):
        return  # a session runs the steps where they were built
    found = [event for event in every if not event.on_cpu()]
    known, used = has_switch(program), frameworks_of(program)
    lasting = _missing_switch.is_told if not known else lambda use: use.status.deterministic_mode == "varies"
    varying = _missing_switch.varying(program, lambda use: use.op.framework != "jax" and not lasting(use))
    seen = varying or _missing_switch.varying(program, lambda use: use.op.framework != "jax")
    event = next((e for e in _with_first(program, varying, found) if truth(off, e.guards) is not False), None)
    if event is None or (seen and not varying) or (not seen and exact(program)):
        return  # what varies does so whatever the switch, and is told by itself; or nothing does
    met = _missing_switch.met(program, lasting) if varying and not _may_be_loaded(event, found) else True
    certain = known or any(use.sure for use in varying)  # without a switch: whatever the program does about it
    # Another program calls it, most likely: this one only imports its module.
    elsewhere = event.detached and event.location.path != program.story.entry
    yield draft(
        program, rule, _missing_switch.any_of(event, found), cond=both(off, met, step_fetched(program)),
        related=[Related(u.event.location, f"the {u.effect} of `{shown(u.event)}` varies") for u in varying],
        severity="" if certain else "info",
        confidence=lower(rule.confidence) if elsewhere else "",
        remedy=_remedy(program, rule, used, varying) if known else _without(program, varying),
        name=_missing_switch.method(event.raw), does=_missing_switch.does(event),
        state="deterministic ops off" if known else "a TensorFlow that has no deterministic ops",
        ops=_missing_switch.listed(varying), of_calls=[call_of(program, use) for use in varying],
    )  # fmt: skip


def _with_first(program: Program, varying: Sequence[Use], found: Sequence[Event]) -> list[Event]:
    """The calls that train, those first whose session can run what varies: it runs ops that were built before.

    What makes a step of a graph comes after what runs one; before what only some flag reaches what a default run does,
    before a step in which nothing varies one in which something does.
    """
    first = min((use.event.index for use in varying), default=0)
    varies = {id(use.event) for use in varying}

    def rank(event: Event) -> tuple[bool, ...]:
        runs = event.name == RUN
        calm = event.name != OUTSIDE and (not runs or varies.isdisjoint(origins(program, event.argument(FETCHES))))
        return event.detached, runs and event.index < first, builds(event), _missing_switch.by_flag(event), calm

    return sorted(found, key=rank)


def _may_be_loaded(training: Event, every: Sequence[Event]) -> bool:
    """Whether the model may come from a file in place of the code that makes it: it is the same network then, too."""
    there = (event for event in every if event.location == training.location)
    return any(made.name == _LOADS for event in there for made in made_by(event.receiver))


def _remedy(program: Program, rule: Rule, used: Sequence[str], varying: Sequence[Use]) -> str:
    """The remedy of the version, what it leaves as it is, and what it makes raise."""
    found = (u for u in uses(program) if judged_as(u.op) == "tensorflow" and u.likely and not u.event.detached)
    raised = raising(program, (u for u in found if u.status.deterministic_mode == "raises"))
    patched = program.target.fits("tensorflow", "<2.1") and any(_is_unpatched(use) for use in varying)
    return f"{_UNPATCHED if patched else ''}{rule.remedy(program.target, used)}{_for_older(program)}{raised}"


def _is_unpatched(use: Use) -> bool:
    """Whether a bias is added by a name that `tfdeterminism.patch()` does not replace (tfdeterminism/patch.py)."""
    return use.op.name == _BIAS_ADD and use.event.raw.startswith("tensorflow.compat.v1.")


def _without(program: Program, varying: Sequence[Use]) -> str:
    """What to do where there is no switch."""
    upgrade = _NO_SWITCH.format(hindrance(program, "tensorflow"))
    return upgrade + (_OWN_BIAS if varying and all(use.op.name in _BIASES for use in varying) else "")


def _for_older(program: Program) -> str:
    """In a remedy, what older releases have instead, where the code shows that it was written for one."""
    tensorflow = program.target.packages.get("tensorflow")
    old = tensorflow is not None and tensorflow.reason.startswith(_BY_NAMES)
    return _OLDER if old and program.target.fits("tensorflow", ">=2.8") else ""
