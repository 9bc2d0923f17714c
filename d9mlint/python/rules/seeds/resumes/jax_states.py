"""Checkpoints of Flax, Orbax, clu or pickle: they hold arrays, and no generator of the host."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from d9mlint.model import Argument, Rule
from d9mlint.python.domain.conditions import both, by_default, symbolic_part
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Dict, Obj, Ref, Value, alternatives
from d9mlint.python.frameworks.used import frameworks_of
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.randomness import Draw, draws
from d9mlint.python.rules.seeds.resumes.carried_keys import split_on
from d9mlint.python.rules.seeds.resumes.lost import KEYS, OPTIMIZER, told
from d9mlint.python.rules.seeds.resumes.resuming import both_remedies, feeds, from_own, places, resumes

_JAX_SAVES = re.compile(
    r"flax\.training\.checkpoints\.save_checkpoint(_multiprocess)?|orbax\.checkpoint\.(\w+\.)*\w+\(\)\.save"
    r"|clu\.checkpoint\.\w+\(\)\.save"
)
_JAX_LOADS = re.compile(
    r"flax\.training\.checkpoints\.restore_checkpoint|orbax\.checkpoint\.(\w+\.)*\w+\(\)\.restore"
    r"|clu\.checkpoint\.\w+\(\)\.restore(_or_initialize)?"
)
_UPDATES, _STATELESS = re.compile(r"optax\.\w+\(\)\.update"), "optax.sgd()"
_OBJECT, _TARGET = Argument(0, "obj"), Argument(1, "target")
_WEIGHTS = re.compile(r"(\w+_)?(params?|parameters|weights|variables)", re.IGNORECASE)
_PLAIN = re.compile(
    rf"{_WEIGHTS.pattern}|\w*(step|epoch|config|batch_stats|metrics?|loss|seed|key|rng|iteration)s?", re.IGNORECASE
)
"""Names of what is no optimizer's."""
_OWN_FOLDER = ".restore_or_initialize"
"""What takes up the newest checkpoint of the folder in which the same object saves."""
PICKLED, PICKLES = ("pickle.load", "cloudpickle.load", "dill.load"), ("pickle.dump", "cloudpickle.dump", "dill.dump")
_KEEP = "save and restore the key with the state, or make the keys of each step by `jax.random.fold_in(key, step)`"
_SHUFFLES = ("tensorflow.data.Dataset.shuffle", "tensorflow.data.Dataset.sample_from_datasets")


def of_jax(program: Program, rule: Rule) -> Iterator[Draft]:
    """Where a checkpoint of Flax, Orbax or pickle that is asked for is restored: arrays, and no generator of the host.

    What a pipeline of tf.data shuffles is drawn as it is gone through, wherever it was made; a thread that was started
    before goes on drawing.
    """
    if "jax" not in frameworks_of(program):
        return
    done = [e for e in program.events if e.kind == "call" and not e.detached]
    for load in (e for e in done if _JAX_LOADS.fullmatch(e.name) or e.name in PICKLED):
        pickled = load.name in PICKLED
        saves = [e for e in done if (e.name in PICKLES and e.loops if pickled else _JAX_SAVES.fullmatch(e.name))]
        whole = any(by_default(one) is False for one in load.guards) or from_own(load, saves)
        asked = resumes(load) or (whole and not pickled) or load.name.endswith(_OWN_FOLDER)
        saved = next((e for e in saves if e.meets(load)), None)
        loops = {number for e in program.trains if e.index > load.index and e.meets(load) for number in e.loops}
        if not asked or saved is None or not loops or (pickled and loops.isdisjoint(saved.loops)):
            continue
        drawn = next((d.event for d in draws(program) if feeds(d, load, loops) or _fetches(d, load)), None)
        also = (OPTIMIZER,) if _forgets_optimizer(program, saved, loops) else ()
        split = split_on(program, load, loops)
        also = (*also, KEYS) if split is not None else also
        if drawn is not None or also:
            yield draft(
                program, rule, saved, cond=symbolic_part(both(*load.guards)), related=places(load, drawn or split),
                remedy=_remedy(program, rule, also, drawn), lacks=told(also, drawn is not None),
                holds="the weights" if OPTIMIZER in also else "the training state",
            )  # fmt: skip
            return


def _forgets_optimizer(program: Program, saved: Event, loops: set[int]) -> bool:
    """Whether weights and numbers alone are saved by a program that updates the state of an optimizer of optax."""
    updates = (e for e in program.named(_UPDATES.fullmatch) if not e.detached and loops & {*e.loops})
    if not any(e.meets(saved) and not e.name.startswith(_STATELESS) for e in updates):
        return False
    kept = saved.argument(_OBJECT if saved.name in PICKLES else _TARGET)
    leaves = [leaf for _, leaf in alternatives(kept)]
    return bool(leaves) and all(map(_is_weights, leaves))


def _is_weights(leaf: Value) -> bool:
    """Whether a value is that of weights, by the names in it: ``state.params``, ``{"params": params, "step": 3}``."""
    if isinstance(leaf, Dict):
        names = [str(key) for key in leaf.items]
        return not leaf.open and all(map(_PLAIN.fullmatch, names)) and any(map(_WEIGHTS.fullmatch, names))
    if isinstance(leaf, Obj) and leaf.event is not None and leaf.event.name == "optax.apply_updates":
        return True
    return isinstance(leaf, Ref) and _WEIGHTS.fullmatch(leaf.name.rpartition(".")[2]) is not None


def _remedy(program: Program, rule: Rule, also: Sequence[str], drawn: Event | None) -> str:
    more = "save and restore the state of the optimizer with the weights" if OPTIMIZER in also else ""
    if KEYS in also:
        more = f"{more}; {_KEEP}" if more else _KEEP
    return more if drawn is None else both_remedies(more, rule, program, "jax")


def _fetches(draw: Draw, load: Event) -> bool:
    """Whether a draw is made for data that are fetched as they are needed: by a pipeline, or a thread in its loop."""
    goes_on = draw.event.name in _SHUFFLES or (draw.event.inside("thread") and bool(draw.event.loops))
    return goes_on and not draw.event.detached and draw.event.meets(load)
