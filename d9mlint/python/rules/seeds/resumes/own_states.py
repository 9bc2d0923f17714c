"""Objects of a program's own classes that are carried on in its training: in which checkpoints.

A running mean that the data are scaled by, averages of the weights in a dict, a scale of the loss.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Class, Dict, Inst
from d9mlint.python.frameworks.torch.modules.containers import MODULES
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.files.kept import perhaps_there
from d9mlint.python.rules.seeds.resumes.checkpoints import is_network, is_state, leaves
from d9mlint.python.rules.seeds.resumes.lost import AVERAGE, SCALER, STATISTICS
from d9mlint.python.source.facts import Def
from d9mlint.python.source.queries import carried_on

_KINDS = (
    (re.compile(r"(?i:loss|grad)\w*Scaler|(?i:dynamic\w*scaler)"), SCALER),
    (re.compile(r"E[mM][aA](?![a-z])|(?i:exp\w*_?moving_?av)"), AVERAGE),
    (re.compile(r"(?i:running_?(mean|st|mom)|reward_?scal)|Normali[sz]er|R[mM]S(?![a-z])|ZFilter"), STATISTICS),
)  # fmt: skip
"""What the names of such classes say that they hold."""
_SHOWN = re.compile(r"meter|metric|logg|track|monitor|loss$|acc", re.IGNORECASE)
"""Words in the names of classes whose numbers are only shown, mostly."""
_KEEPS = re.compile(r"(state_dict|save|get_state|getstate|to_dict|dump)\w*", re.IGNORECASE)
"""Names of methods that give or write such a state."""
_WRITES = re.compile(r"(numpy\.(save|savez\w*|savetxt)|pickle\.dump|cPickle\.dump|dill\.dump|joblib\.dump|json\.dump)")
_READS = "torch.load"
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def own_states(program: Program, load: Event, saves: Sequence[Event], steps: Sequence[Event]) -> tuple[str, ...]:
    """The kinds of what such objects hold that no checkpoint has, as far as one can tell; mostly none."""
    loops = {number for step in steps for number in step.loops}
    found: dict[str, bool] = {}
    for event in program.events:
        kind = _kind(event)
        if not kind or found.get(kind) or event.detached or event.index < load.index:
            continue
        owner = event.func.owner if event.func is not None else None
        if owner is not None and loops.intersection(event.loops) and event.meets(load):
            found[kind] = not _kept(program, owner, saves)
    return tuple(kind for kind, is_lost in found.items() if is_lost)


def _kind(event: Event) -> str:
    """What an object holds in whose method an event is, if that changes by what it was; mostly nothing."""
    func = event.func
    owner = func.owner if func is not None else None
    if func is None or owner is None or not isinstance(func.node, Def) or func.name.startswith("__init"):
        return ""
    name = owner.node.name
    kind = next((kind for pattern, kind in _KINDS if pattern.search(name)), "")
    shown = not kind or _SHOWN.search(name) or not MODULES.isdisjoint(owner.external())
    return "" if shown or not carried_on(func.node.body) else kind


def _kept(program: Program, owner: Class, saves: Sequence[Event]) -> bool:
    """Whether the state of such an object may be in something that is saved: by keys, or what is not known."""
    inside = (event.func for event in program.events if event.func is not None and event.func.owner is owner)
    if any(_KEEPS.match(func.name) for func in inside):
        return True  # a method of its own gives it
    if any(not event.detached for event in program.named(_WRITES.fullmatch)):
        return True
    names = {word.lower() for word in _WORDS.findall(owner.node.name) if len(word) > 2} | _fields(owner)
    reads = [event.args[0] for event in program.calls(_READS) if event.args and not event.detached]
    read = [save for save in saves if any(perhaps_there(path, [save]) for path in reads)]
    return not read or any(_may_hold(program, save, names) for save in read)


def _may_hold(program: Program, save: Event, names: set[str]) -> bool:
    saved = leaves(save.args[0]) if save.args else []
    for leaf in saved:
        if is_network(leaf) or is_state(program, leaf):
            continue
        if not isinstance(leaf, Dict) or leaf.open or any(isinstance(x, Inst) for x in leaves(*leaf.items.values())):
            return True
        if any(name in str(key).lower() for key in leaf.items for name in names):
            return True
    return not saved


def _fields(owner: Class) -> set[str]:
    """What the methods of a class carry on."""
    methods = (one.node for one in owner.frame.vars.values() if hasattr(one, "node"))
    return {name.strip("_").lower() for node in methods if isinstance(node, Def) for name in carried_on(node.body)}
