"""What a call of PyTorch saves: whether weights or an optimizer's state are in it, and states of generators are not."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from d9mlint.model import Location
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Dict, Inst, Obj, Seq, Unknown, Value, alternatives
from d9mlint.python.frameworks.torch.modules.containers import MODULES
from d9mlint.python.interpreter.program import Program
from d9mlint.python.source import facts as f
from d9mlint.python.source.queries import inside

_OPTIMIZER, _STATE = "torch.optim.", ".state_dict"
_HALVES = (".half", ".bfloat16")
_KEY = "optim"
_WEIGHTS = ("state", "model", "net", "weight", "generator", "disc", "encoder", "decoder")
"""Words in a key of a checkpoint that say that weights are in it."""
_RANDOM = ("rng", "random", "generator_state", "sampler", "loader", "seed")
"""Words in a key of a checkpoint that say that random state may be in it."""

_PERHAPS = re.compile(r"opt|solver|train|learn|agent|engine|state$|^all", re.IGNORECASE)
"""Words in a key that an optimizer's state may be under, perhaps among other things."""


def lacks_state(program: Program, event: Event, random: bool = False) -> bool:
    """Whether weights or an optimizer's state, and nothing about random state (but for ``random``), is saved."""
    saved = event.args[0] if event.args else event.kwargs.get("obj")
    return saved is not None and any(_is_checkpoint(program, leaf, event, random) for _, leaf in alternatives(saved))


def best_known(saves: Sequence[Event]) -> list[Event]:
    """At each place the calls of whose values most is known: a callback is told before it is seen to be called."""
    untold = [_untold(event) for event in saves]
    least: dict[Location, tuple[int, int]] = {}
    for event, count in zip(saves, untold, strict=True):
        least[event.location] = min(count, least.get(event.location, count))
    return [event for event, count in zip(saves, untold, strict=True) if count == least[event.location]]


def _untold(save: Event) -> tuple[int, int]:
    """How much is not known as a whole of what is saved, and how many parts of a dict."""
    saved = leaves(*save.args[:1])
    parts = leaves(*(value for one in saved if isinstance(one, Dict) for value in one.items.values()))
    return sum(type(leaf) is Unknown for leaf in saved), sum(type(leaf) is Unknown for leaf in parts)


def _is_checkpoint(program: Program, saved: Value, event: Event, random: bool) -> bool:
    if isinstance(saved, Dict):
        keys = [str(key).lower() for key in saved.items]
        if any(id(leaf) in program.once("parts-of-states", _parts) for leaf in leaves(*saved.items.values())):
            return False  # nobody knows what else the program puts in there
        if not random and any(word in key for key in keys for word in _RANDOM):
            return False
        if saved.open:  # filled by a loop over what is kept: `for name, one in all: saved[name] = one.state_dict()`
            return any(made.func is event.func for made in program.once("states", states))
        named = any(word in key for key in keys for word in (_KEY, *_WEIGHTS))
        return named or any(is_state(program, leaf) for leaf in leaves(*saved.items.values()))
    if isinstance(saved, Seq):
        parts = leaves(*(saved.items or ()), saved.element)
        return any(_has_network(leaf) or is_state(program, leaf) for leaf in parts)
    return is_network(saved) or (is_state(program, saved) and not is_optimizer(saved))


def holds_optimizer(program: Program, save: Event) -> bool:
    """Whether the state of an optimizer is in what is saved."""
    kept = {id(made.result) for made in program.once("states", states) if made.name.startswith(_OPTIMIZER)}
    saved = [leaf for _, leaf in alternatives(save.args[0] if save.args else None)]
    parts = (one for leaf in saved for one in ([*leaf.items.values()] if isinstance(leaf, Dict) else [leaf]))
    return any(id(leaf) in kept or is_optimizer(leaf) for leaf in leaves(*parts))


def may_hold_optimizer(program: Program, save: Event) -> bool:
    """The same as far as nobody can tell: also in what is not known, or is kept under a word for it."""
    if holds_optimizer(program, save):
        return True
    saved = [leaf for _, leaf in alternatives(save.args[0] if save.args else None)]
    return not saved or any(not _has_none(program, leaf) for leaf in saved)


def _has_none(program: Program, saved: Value) -> bool:
    """Whether no optimizer's state is in a value: the weights of a network, or a dict all of whose keys are known."""
    if isinstance(saved, Dict):
        return not saved.open and not any(_PERHAPS.search(str(key)) for key in saved.items)
    return is_network(saved) or is_state(program, saved)


def is_rounded(program: Program, save: Event) -> bool:
    """Whether the weights in what is saved are a copy in 16 bits: ``deepcopy(net).half()``, or the state of one."""
    copies = program.once("copies-in-half", _copies_in_half)
    saved = [leaf for _, leaf in alternatives(save.args[0] if save.args else None)] if copies else []
    parts = (one for leaf in saved for one in ([*leaf.items.values()] if isinstance(leaf, Dict) else [leaf]))
    return any(id(leaf) in copies for leaf in leaves(*parts))


def _copies_in_half(program: Program) -> frozenset[int]:
    """The ``id`` of each copy in 16 bits, and of the state of each."""
    copies = {id(e.result) for e in program.calls("copy.deepcopy")}
    halves = (e for e in program.ending(_HALVES, "call") if copies)
    found = {id(e.result) for e in halves if not e.detached and _is_any(e.receiver, copies)}
    return frozenset(found | {id(e.result) for e in program.once("states", states) if _is_any(e.receiver, found)})


def _is_any(value: Value | None, ids: Collection[int]) -> bool:
    """Whether a value may be one of those with these ``id``."""
    return any(id(leaf) in ids for leaf in leaves(value))


def leaves(*items: Value | None) -> list[Value]:
    """What several values may be."""
    return [leaf for item in items for _, leaf in alternatives(item)]


def is_state(program: Program, leaf: Value) -> bool:
    """Whether a value is an optimizer, or the state of one or of a network, whatever it is kept under."""
    return is_optimizer(leaf) or any(made.result is leaf for made in program.once("states", states))


def states(program: Program) -> list[Event]:
    """The calls that take the state of something, for ``program.once``."""
    return [event for event in program.ending(_STATE, "call") if not _is_part(event)]


def _parts(program: Program) -> frozenset[int]:
    """The ``id`` of each state that the program adds something to."""
    calls = (event for event in program.ending(_STATE, "call") if event.result is not None)
    return frozenset(id(event.result) for event in calls if _is_part(event))


def _is_part(event: Event) -> bool:
    """Whether a method ``state_dict`` of the program adds to what it takes: ``state["more"] = self.more``."""
    func = event.func
    if func is None or func.name != _STATE[1:] or not isinstance(func.node, f.Def):
        return False
    assigns = inside(func.node.body, f.Assign)
    return any(isinstance(target, f.Sub) for assign in assigns for target in assign.targets)


def is_optimizer(leaf: Value) -> bool:
    """Whether a value is an optimizer as a whole."""
    return isinstance(leaf, Obj) and leaf.type.startswith(_OPTIMIZER)


def _has_network(leaf: Value) -> bool:
    """Whether an object of the program is a network, or has one or an optimizer; a row of a data set has none."""
    parts = leaves(*leaf.attrs.values()) if isinstance(leaf, Inst) else []
    return is_network(leaf) or any(is_network(one) or is_optimizer(one) for one in parts)


def is_network(leaf: Value) -> bool:
    """Whether a value is a network as a whole."""
    if isinstance(leaf, Inst):
        return not MODULES.isdisjoint(leaf.cls.external())
    return isinstance(leaf, Obj) and leaf.type.startswith("torch.nn.") and not leaf.type.endswith(f"{_STATE}()")
