"""What training of PyTorch goes on from: an optimizer's state, or weights that are a checkpoint of the same program."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from d9mlint.python.domain.conditions import Cond, both, by_default, conjuncts, either, literals, opaque
from d9mlint.python.domain.diagrams import simplified
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.tellable import is_told
from d9mlint.python.domain.values import Const, Dict, Obj, Text, Value, alternatives
from d9mlint.python.frameworks.torch.parameters.weights import is_loose
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.files.kept import besides_files, perhaps_saved, saved_there, with_moves
from d9mlint.python.judging.wording import describe
from d9mlint.python.rules.seeds.resumes.checkpoints import holds_optimizer, is_network, lacks_state, leaves, states
from d9mlint.python.rules.seeds.resumes.jax_states import PICKLED, PICKLES
from d9mlint.python.rules.seeds.resumes.resuming import THERE, from_own, resumes

SAVES = ("torch.save", "accelerate.Accelerator.save", "accelerate.utils.save", "torch_xla.core.xla_model.save")
OPTIMIZER = "torch.optim."
_LOAD, _UNPICKLES = ".load_state_dict", "torch.load"
_ASKED = re.compile(
    r"--?(load|model|ckpt|checkpoint)([-_]?(path|file|from|dir|name))? (is given|is set|> 0|is not)|--?load[-_]\w+ is"
)
"""Words of a flag that names a file to start from."""
_OTHER = re.compile(r"pre-?train|teacher|backbone|fine-?tune|init|embed|vgg|encoder", re.IGNORECASE)
"""Words of weights that something else has trained."""
_PRETRAINED = re.compile(
    r"--?pre-?trained([-_]?(model|weights|ckpt|checkpoint|path|file))* (is given|is set|is not)", re.IGNORECASE
)
"""Words of a flag for weights that may be another program's, or a checkpoint of this one."""
_CHECKPOINT = re.compile(r"ckpt|checkpoint|epoch|step|iter", re.IGNORECASE)
"""Words in the name of what is saved while it trains, to go on from."""
_ENDS = (_LOAD, _UNPICKLES, *PICKLED)


def loads(program: Program, steps: Sequence[Event]) -> list[Event]:
    """The calls that load what training goes on from: the optimizer's state first, else weights by a word.

    Weights come first where the optimizer's state is only kept under a setting; ``steps`` are those of the training.
    """
    found = [e for e in program.ending(_ENDS, "call") if not e.detached]
    optimizers = [e for e in found if e.name.startswith(OPTIMIZER)]
    saves = checkpoints(program)
    if optimizers and not any(_settings(program)):
        return _in_order(optimizers)
    own = [e for e in found if e not in optimizers and (resumes(e) or is_own(program, e, saves, steps))]
    own = own if optimizers else [e for e in own if not _is_start(e, found)]
    own = [e for e in own if setting(program, e)] if optimizers else own
    return [*_in_order(own), *_in_order(optimizers)] or _in_order(e for e in found if _goes_back(program, e, saves))


def _is_start(load: Event, found: Sequence[Event]) -> bool:
    """Whether weights that need not fit are loaded: those to start from, of another stage or another network."""
    here = [e for e in found if e.name.endswith(_LOAD) and (e.func, e.stack) == (load.func, load.stack)]
    fills = [load] if load.name.endswith(_LOAD) else [e for e in here if e.index > load.index and e.meets(load)]
    return bool(fills) and all(map(is_loose, fills))


def checkpoints(program: Program) -> list[Event]:
    """The calls that save weights or an optimizer's state, and those that move such a file."""
    saves = [e for e in program.calls(*SAVES) if not e.detached and lacks_state(program, e, random=True)]
    return with_moves(program, saves)


def _in_order(found: Iterable[Event]) -> list[Event]:
    return sorted(found, key=lambda load: sum(by_default(one) is False for one in load.guards))


def setting(program: Program, load: Event) -> str:
    """The setting under which alone the state of an optimizer is kept, where ``load`` takes weights without it."""
    if load.name.startswith(OPTIMIZER):
        return ""
    words = _texts_of([load])
    return next((test for test in _settings(program) if not any(test in text for text in words)), "")


def _settings(program: Program) -> list[str]:
    """The tests, as the code has them, under which alone states of optimizers are saved, and then loaded."""
    return program.once("settings-of-optimizers", _found_settings)


def _found_settings(program: Program) -> list[str]:
    optimizers = [e for e in program.beginning(OPTIMIZER) if e.name.endswith(_LOAD)]
    words = _texts_of([load for load in optimizers if not load.detached])
    saves = [(e, holds_optimizer(program, e)) for e in program.calls(*SAVES) if not e.detached] if words else []
    alone = {text for save, holds in saves if not holds for text in _tests(save)}
    asked = [
        [text for text in _tests(save) if text not in alone and any(text in one for one in words)]
        for save, holds in saves if holds
    ]  # fmt: skip
    return list(dict.fromkeys(each[0] for each in asked)) if all(asked) else []


def _texts_of(events: Iterable[Event]) -> set[str]:
    """What the tests say that calls stand under."""
    tests = (one.opaque for event in events for cond in event.guards for one in literals(cond))
    return {test.text for test in tests if test is not None}


def _tests(save: Event) -> list[str]:
    """The settings that have to be on for a call."""
    tests = (opaque(part) for cond in save.guards for part in conjuncts(cond))
    return [test.text for test in tests if test is not None and is_told(test, True)]


def is_own(program: Program, load: Event, saves: Sequence[Event], steps: Sequence[Event] = ()) -> bool:
    """Whether what the program itself saves is loaded where that is asked for (`--start_epoch 20`) or is there already.

    (That it is loaded unasked is a matter of its own, `leftover-checkpoint`, with another cure.)
    """
    if load.name != _UNPICKLES or not from_own(load, saves):
        return False
    asked = any(by_default(one) is False or THERE.search(describe(one)) for one in load.guards)
    return asked or (_taken_up(load, saves, steps) and _into_saved(program, load))


def _taken_up(load: Event, saves: Sequence[Event], steps: Sequence[Event]) -> bool:
    """Whether a program loads its own file, before it saves any, only where something holds: an earlier run left it."""
    if any(save.index < load.index and save.meets(load) for save in saves):
        return False
    after = next((step for step in steps if step.index > load.index and step.meets(load)), None)
    if after is None or not perhaps_saved(load.args[0], saves):
        return False
    return load.tried > after.tried or simplified(both(*load.guards), both(*after.guards)) is not True


def _into_saved(program: Program, load: Event) -> bool:
    """Whether what is read goes, as far as can be told, into a network whose weights the program saves."""
    fills = (e for e in program.ending(_LOAD, "call") if e.index > load.index and not e.detached)
    given = [e.receiver for e in fills if (e.func, e.stack) == (load.func, load.stack)]
    taken = [e for e in program.once("states", states) if not e.detached]
    unknown = any(e.name.startswith("?.") for e in taken)  # one of several networks, mostly
    saved = {id(e.receiver) for e in taken}
    return unknown or not given or any(id(network) in saved for network in given)


def of_own(load: Event, saves: Sequence[Event]) -> Cond:
    """When a file is loaded that these calls save, of the several that it may be."""
    if load.name != _UNPICKLES or not load.args:
        return True
    found = [cond for cond, leaf in alternatives(load.args[0]) if saved_there(leaf, saves)]
    return besides_files([either(*found)]) if found else True


def _goes_back(program: Program, load: Event, saves: Sequence[Event]) -> bool:
    """Whether a flag asks for a file whose weights go, as they are, into the very network that the program saves."""
    words = [describe(one) for one in load.guards]
    asked = any(_ASKED.search(text) and not _OTHER.search(text) for text in words)
    if not asked and not (any(map(_PRETRAINED.search, words)) and any(map(_is_checkpoint, saves))):
        return False
    if load.name.endswith(_LOAD):
        made = (one.receiver for one in program.once("states", states) if not one.detached)
        return _reads(program, load) and any(network is load.receiver for network in made)
    here, later = (load.func, load.stack), program.events[load.index + 1 :]
    if any(e.name.endswith(_LOAD) and e.kind == "call" and (e.func, e.stack) == here for e in later):
        return False  # no network as a whole: what fills one with it is looked at by itself
    kept = program.calls(*(PICKLES if load.name.endswith(PICKLED) else SAVES))
    return any(is_network(leaf) for e in kept for leaf in leaves(*e.args[:1]))


def _reads(program: Program, load: Event) -> bool:
    """Whether weights are loaded all and as a file has them: ``net.load_state_dict(torch.load(path)["net"])``."""
    if not load.args or is_loose(load):
        return False
    given = [leaf for _, leaf in alternatives(load.args[0])]
    read = [e for e in program.calls(_UNPICKLES) if e.index < load.index]
    if any(e.result is leaf for e in read for leaf in given):
        return True
    here = (load.func, load.stack)
    own = {id(made.result) for made in program.once("states", states)}  # in which some weights of a file were put
    return not any(isinstance(leaf, Dict) or id(leaf) in own for leaf in given) and any(
        (e.func, e.stack) == here for e in read
    )


def _is_checkpoint(save: Event) -> bool:
    """Whether a call saves while it trains, under a name that tells how far it has come."""
    return bool(save.loops) and any(_CHECKPOINT.search(text) for value in save.args[1:2] for text in _texts(value))


def _texts(path: Value) -> Iterator[str]:
    """What is known of a path."""
    for _, leaf in alternatives(path):
        if isinstance(leaf, Const):
            yield str(leaf.value)
        elif isinstance(leaf, Text):
            yield from (text for part in leaf.parts for text in _texts(part))
        elif isinstance(leaf, Obj) and leaf.event is not None and leaf.event.name == "os.path.join":
            yield from (text for part in leaf.event.args for text in _texts(part))
