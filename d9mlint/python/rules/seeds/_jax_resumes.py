"""Checkpoints of Flax, Orbax, clu or pickle: they hold arrays, and no generator of the host."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import both, by_default, symbolic_part
from d9mlint.python.domain.events import Event
from d9mlint.python.frameworks.used import frameworks_of
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.randomness import Draw, draws
from d9mlint.python.rules.seeds._lost import told
from d9mlint.python.rules.seeds._resuming import feeds, from_own, places, resumes

_JAX_SAVES = re.compile(
    r"flax\.training\.checkpoints\.save_checkpoint(_multiprocess)?|orbax\.checkpoint\.(\w+\.)*\w+\(\)\.save"
    r"|clu\.checkpoint\.\w+\(\)\.save"
)
_JAX_LOADS = re.compile(
    r"flax\.training\.checkpoints\.restore_checkpoint|orbax\.checkpoint\.(\w+\.)*\w+\(\)\.restore"
    r"|clu\.checkpoint\.\w+\(\)\.restore(_or_initialize)?"
)
_OWN_FOLDER = ".restore_or_initialize"
"""What takes up the newest checkpoint of the folder in which the same object saves."""
PICKLED, PICKLES = ("pickle.load", "cloudpickle.load", "dill.load"), ("pickle.dump", "cloudpickle.dump", "dill.dump")
_SHUFFLES = ("tensorflow.data.Dataset.shuffle", "tensorflow.data.Dataset.sample_from_datasets")


def of_jax(program: Program, rule: Rule) -> Iterator[Draft]:
    """Where a checkpoint of Flax, Orbax or pickle that is asked for is restored: arrays, and no generator of the host.

    What a pipeline of tf.data shuffles is drawn as it is gone through, wherever it was made.
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
        drawn = next((d.event for d in draws(program) if feeds(d, load, loops) or _shuffles(d, load)), None)
        if drawn is not None:
            related = places(load, drawn)
            resumed = symbolic_part(both(*load.guards))
            yield draft(program, rule, saved, cond=resumed, related=related, holds="the training state", lacks=told(()))
            return


def _shuffles(draw: Draw, load: Event) -> bool:
    return draw.event.name in _SHUFFLES and not draw.event.detached and draw.event.meets(load)
