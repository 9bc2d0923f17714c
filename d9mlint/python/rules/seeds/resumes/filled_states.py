"""Training that goes on from a checkpoint which fills a dict of objects: Fabric's, and the distributed one of PyTorch.

It holds what is in the dict, and no generator: lightning/fabric/fabric.py of 2.0 to 2.6 (``save``, ``load``),
torch/distributed/checkpoint/state_dict_saver.py and state_dict_loader.py of 2.2 to 2.11.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import Argument, Rule
from d9mlint.python.domain.conditions import both, symbolic_part
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import is_number
from d9mlint.python.domain.values import Const, Dict, Obj, Value, alternatives
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.files.kept import besides_files
from d9mlint.python.judging.randomness import draws
from d9mlint.python.rules.seeds.resumes.checkpoints import is_network, states
from d9mlint.python.rules.seeds.resumes.lost import OPTIMIZER, lost, told
from d9mlint.python.rules.seeds.resumes.progress import progress
from d9mlint.python.rules.seeds.resumes.resuming import feeds, places, with_states

_FABRIC, _SPREAD = "lightning.fabric.Fabric.", "torch.distributed.checkpoint."
_SAVED = {
    f"{_FABRIC}save": Argument(1, "state"), f"{_SPREAD}save": Argument(0, "state_dict"),
    f"{_SPREAD}async_save": Argument(0, "state_dict"), f"{_SPREAD}save_state_dict": Argument(0, "state_dict"),
}  # fmt: skip
_LOADED = {
    f"{_FABRIC}load": Argument(1, "state"), f"{_SPREAD}load": Argument(0, "state_dict"),
    f"{_SPREAD}load_state_dict": Argument(0, "state_dict"),
}  # fmt: skip
_RANDOM = re.compile(r"rng|random|seed|generator|loader|sampler", re.IGNORECASE)
"""Words in a key that say that random state may be in a checkpoint."""


def of_filled(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first call that saves such a dict, of a training that one is loaded for."""
    saves = [e for e in program.calls(*_SAVED) if not e.detached]
    for load in program.calls(*_LOADED) if saves else ():
        met = [save for save in saves if save.meets(load) and save.name.startswith(load.name.rpartition(".")[0])]
        state = [leaf for _, leaf in alternatives(load.argument(_LOADED[load.name]))]
        after = [e for e in program.events if _steps(e) and e.index > load.index and e.meets(load)]
        loops = {number for event in (*after, *program.trains) if event.index > load.index for number in event.loops}
        known = [leaf for leaf in state if isinstance(leaf, Dict)]
        if load.detached or not met or not loops or not known or len(known) < len(state):
            continue
        found = (d.event for d in draws(program) if feeds(d, load, loops) and d.event.index > load.index)
        keeps = any(leaf.open or any(_RANDOM.search(str(key)) for key in leaf.items) for leaf in known)
        drawn = None if keeps else next(found, None)
        held = _held(program, known)
        behind = () if held is None else lost(program, load, after, held)
        also = (*behind, *(kind for kind in progress(program, load, met, after, True) if kind not in behind))
        if drawn is not None or also:
            cond = besides_files([symbolic_part(both(*load.guards))])
            yield draft(
                program, rule, met[0], cond=cond, related=places(load, drawn), lacks=told(also, drawn is not None),
                holds="the weights" if OPTIMIZER in also else "the objects in its dict",
                remedy=with_states(also, drawn is not None, False, rule, program, met[:1]),
            )  # fmt: skip
            return


def _steps(event: Event) -> bool:
    """Whether a call steps an optimizer or what goes with it, in a loop."""
    named = event.kind == "call" and event.name.startswith("torch.optim.") and event.name.endswith(".step")
    return named and bool(event.loops) and not event.detached


def _held(program: Program, known: list[Dict]) -> frozenset[int] | None:
    """The ``id`` of each object in the dicts, or whose state is in them; None where there may be others in them."""
    held: list[Value] = [leaf for one in known for item in one.items.values() for _, leaf in alternatives(item)]
    ids = {id(leaf) for leaf in held}
    taken = [e for e in program.once("states", states) if id(e.result) in ids]
    states_of = {id(e.result) for e in taken}
    plain = all(
        isinstance(leaf, (Const, Obj)) or is_number(leaf) or is_network(leaf) or id(leaf) in states_of for leaf in held
    )
    if not plain or any(one.open for one in known):
        return None
    return frozenset(ids | {id(leaf) for e in taken for _, leaf in alternatives(e.receiver)})
