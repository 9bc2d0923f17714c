"""Networks that follow another one while that is trained, by averages or copies written by hand: in which checkpoints.

``for mean, new in zip(average.parameters(), net.parameters()): mean.mul_(0.99).add_(new, alpha=0.01)``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Dict, Inst, Obj, Seq, Value, alternatives
from d9mlint.python.frameworks.torch.modules.containers import MODULES
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import made_of, results
from d9mlint.python.rules.seeds.resumes.checkpoints import leaves

_ZIP, _OPTIMIZERS, _STATE = "builtins.zip", "torch.optim.", ".state_dict"
_WEIGHTS = (".parameters", ".named_parameters", ".buffers")
_LOADS = (".load_state_dict", ".load")
_DEEPCOPY = "copy.deepcopy"
_MOST_LEVELS = 3


def forgotten(program: Program, load: Event, saves: Sequence[Event], steps: Sequence[Event]) -> bool:
    """Whether a network follows another one in the loops of ``steps``, and no checkpoint has it as far as one can tell.

    What is known: the keys of all that is saved, and what every state that is loaded goes into.
    """
    if not saves or not all(_is_known(save) for save in saves):
        return False
    loops = {number for step in steps for number in step.loops}
    kept = {id(one) for save in saves for one in _held(program, save)}
    loads = [e for e in program.ending(_LOADS) if not (e.index < load.index and _copies(program, e))]
    filled = {id(leaf) for e in loads for leaf in leaves(e.receiver)}
    trained = {id(one) for one in _trained(program)}
    for pairs in program.calls(_ZIP):
        if pairs.detached or not loops.intersection(pairs.loops) or not pairs.meets(load) or pairs.index < load.index:
            continue
        networks = [one for value in pairs.args[:2] for one in _owners(program, value)]
        others = [one for one in networks if id(one) not in trained]
        if len(networks) == 2 and len(others) == 1 and id(others[0]) not in kept | filled:
            return True
    return False


def _copies(program: Program, load: Event) -> bool:
    """Whether what goes into a network comes from another one, and from no file."""
    return any(made.name.endswith(_STATE) for value in load.args[:1] for made in made_of(value, results(program)))


def _is_known(save: Event) -> bool:
    """Whether it is known what a call saves: a state, or a dict all of whose keys are known."""
    return bool(save.args) and all(
        not isinstance(leaf, (Seq, Inst)) and not _is_open(leaf) for leaf in leaves(save.args[0])
    )


def _is_open(value: Value) -> bool:
    return isinstance(value, Dict) and (
        value.open or any(isinstance(one, Inst) for one in leaves(*value.items.values()))
    )


def _held(program: Program, save: Event) -> Iterator[Value]:
    """The networks whose states are in what is saved, and those that are parts of these."""
    saved = leaves(save.args[0])
    parts = leaves(*(one for leaf in saved for one in (leaf.items.values() if isinstance(leaf, Dict) else (leaf,))))
    for part in parts:
        for made in made_of(part, results(program)):
            if made.name.endswith(_STATE):
                for owner in leaves(made.receiver):
                    yield from _within(owner)


def _within(network: Value, level: int = 0) -> Iterator[Value]:
    yield network
    if isinstance(network, Inst) and level < _MOST_LEVELS:
        for value in network.attrs.values():
            for leaf in leaves(value):
                yield from _within(leaf, level + 1)


def _owners(program: Program, weights: Value) -> Iterator[Value]:
    """The network whose parameters these are, where it is but one."""
    for made in made_of(weights, results(program)):
        if made.name.endswith(_WEIGHTS):
            found = [leaf for _, leaf in alternatives(made.receiver)]
            if len(found) == 1 and (_is_network(found[0]) or _is_copy(program, found[0])):
                yield found[0]


def _trained(program: Program) -> Iterator[Value]:
    """The networks whose parameters an optimizer is given, and their parts."""
    for made in program.events:
        if made.kind == "call" and made.name.startswith(_OPTIMIZERS) and made.args:
            for owner in _owners(program, made.args[0]):
                yield from _within(owner)


def _is_copy(program: Program, value: Value) -> bool:
    """Whether a value is a copy of something; of another network, as it has parameters."""
    made = results(program).get(id(value))
    return made is not None and made.name == _DEEPCOPY


def _is_network(value: Value) -> bool:
    if isinstance(value, Inst):
        return not MODULES.isdisjoint(value.cls.external())
    return isinstance(value, Obj)
