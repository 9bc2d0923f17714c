"""How far a training has come that goes on from a checkpoint: the batch, the epoch and the best result."""

from __future__ import annotations

import re
from collections.abc import Sequence

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Dict, Inst, Obj, Value, alternatives
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.files.kept import perhaps_there
from d9mlint.python.judging.loops import PASS, RANGES, header_of, is_fixed, left_out
from d9mlint.python.judging.wording import describe
from d9mlint.python.rules.seeds.resumes.lost import BEST, EPOCH, PLACE
from d9mlint.python.rules.seeds.resumes.resuming import RESUMES

_UNPICKLES = "torch.load"
_SKIPS = re.compile(
    r"(?<!no_)skip|fast_?forward|seek|consumed|(start|resume|completed|initial|init|first|begin|done|trained)[_-]?"
    r"(from|at|step|iter|itr|batch|index|idx|sample|offset)|islice|dropwhile", re.IGNORECASE,
)  # fmt: skip
"""Words of functions and parameters that pass over what is done, or begin with what is next."""
_AT_END = re.compile(r"len\(|last|end|final|per_epoch", re.IGNORECASE)
"""What a test says that lets a program save when the epoch is over."""
_BETTER = re.compile(r"best\w*\W* [<>]|[<>]=? \S*best", re.IGNORECASE)
"""What a test says of a result that is better than all before."""
_RESULTS = re.compile(
    r"best|metric|score|acc|loss|stats|histor|log|trainer|result|state$|progress|valid", re.IGNORECASE
)
"""Words in a key of a checkpoint that say that results are in it."""
_COUNT = re.compile(r"epoch|step|iter|update|batch", re.IGNORECASE)
_NUMBER = re.compile(r"(\w+_)?(epoch|step|iter(ation)?)(_done)?", re.IGNORECASE)
_WHOLE = ("torch.save", "torch.load")


def progress(
    program: Program, load: Event, saves: Sequence[Event], steps: Sequence[Event], sure: bool
) -> tuple[str, ...]:  # fmt: skip
    """The kinds of progress that are lost by what goes on from ``load``; ``saves`` are those of what it may load.

    ``sure``: it is a checkpoint of this program, whatever the names around the load say.
    """
    asked = (load.func.name if load.func is not None else "", *map(describe, load.guards))
    if not (sure or any(map(RESUMES.search, asked))):
        return ()  # (it may be another training that begins with these weights)
    after = [step for step in steps if step.index > load.index and step.meets(load)]
    own = [save for save in saves if _is_loaded(program, load, save)]
    counted = any(map(_holds_count, own))
    training = [step for step in after if any(set(step.loops) & set(save.loops) for save in own)]  # no warm-up
    found = {EPOCH} if any(_counts_anew(program, load, step, counted) for step in training) else set()
    if any(_begins_anew(program, load, step, own) for step in after):
        found.add(PLACE)
    if own and all(map(_forgets_best, own)):
        found |= {BEST} if any(_of_best(program, step) for step in after) else set()
    return tuple(kind for kind in (PLACE, EPOCH, BEST) if kind in found)


# -- the place in the data -----------------------------------------------------------------------------------------


def _begins_anew(program: Program, load: Event, step: Event, saves: Sequence[Event]) -> bool:
    """Whether a checkpoint is saved in the middle of a pass over data that a resumed run begins anew."""
    for number in reversed(step.loops):
        header = header_of(program, number)
        if header is None or header.kind != PASS:
            continue
        inside = [save for save in saves if number in save.loops and save.meets(step) and not _ends(save)]
        return bool(inside) and number not in load.loops and not _passes_over(program, header, step)
    return False


def _ends(save: Event) -> bool:
    """Whether a test asks for the last batch."""
    return any(_AT_END.search(describe(one)) for one in save.guards)


def _passes_over(program: Program, header: Event, step: Event) -> bool:
    """Whether a program may skip what is done: by a test, a function or a parameter of what gives the data."""
    if left_out(step, header) or program.once("skips", _skips):
        return True
    loaders = (leaf for _, leaf in alternatives(header.args[0]))
    made = (leaf.event for leaf in loaders if isinstance(leaf, Obj) and leaf.event is not None)
    given = (value for one in made for value in (*one.args, *one.kwargs.values()))
    return any(_takes_place(leaf) for value in given for _, leaf in alternatives(value))


def _takes_place(leaf: Value) -> bool:
    """Whether an object of the program's own is made with the place to begin at."""
    if not isinstance(leaf, Inst):
        return False
    return any(_SKIPS.search(name) for name in leaf.attrs)


def _skips(program: Program) -> bool:
    called = (e for e in program.events if e.kind == "call" and not e.detached)
    named = (e.name.rpartition(".")[2] for e in called if not e.name.startswith(_WHOLE))
    within = (e.func.name for e in program.events if e.func is not None and not e.detached)
    return any(map(_SKIPS.search, {*named, *within}))


# -- the number of the epoch ---------------------------------------------------------------------------------------


def _counts_anew(program: Program, load: Event, step: Event, counted: bool) -> bool:
    """Whether the loops around a step count from a fixed number, whatever was loaded before them.

    ``counted``: a number is in the checkpoint, which may come to where the loop begins by ways that are not seen.
    """
    counts = False
    for number in step.loops:
        header = header_of(program, number)
        if number in load.loops:
            continue
        if header is None:
            return False  # a `while`, or what is gone through is not known
        if header.name in RANGES:
            if not is_fixed(header) or (counted and len(header.args) > 1) or left_out(step, header):
                return False
            counts = counts or number == step.loops[0] or step.loops[step.loops.index(number) - 1] in load.loops
    return counts


def _holds_count(save: Event) -> bool:
    """Whether a checkpoint has a key for a number of epochs or steps, or keys that are not known."""
    leaves = [leaf for _, leaf in alternatives(save.args[0] if save.args else None)]
    return any(
        not isinstance(leaf, Dict) or leaf.open or any(_COUNT.search(str(key)) for key in leaf.items) for leaf in leaves
    )


def holds_number(save: Event) -> bool:
    """Whether a checkpoint is known to have the number of the epoch or step in it."""
    leaves = [leaf for _, leaf in alternatives(save.args[0] if save.args else None)]
    keys = [[str(key) for key in leaf.items] if isinstance(leaf, Dict) else [] for leaf in leaves]
    return bool(keys) and all(any(map(_NUMBER.fullmatch, each)) for each in keys)


# -- the best result -----------------------------------------------------------------------------------------------


def _of_best(program: Program, step: Event) -> bool:
    """Whether a program saves in the loops of a step what is better than all before."""
    saves = (e for e in program.calls("torch.save", "shutil.copyfile", "shutil.copy") if not e.detached)
    return any(set(e.loops) & set(step.loops) and any(_BETTER.search(describe(one)) for one in e.guards) for e in saves)


def _forgets_best(save: Event) -> bool:
    """Whether all that a checkpoint holds is known by its keys, and no results are among it."""
    leaves = [leaf for _, leaf in alternatives(save.args[0] if save.args else None)]
    return bool(leaves) and all(
        isinstance(leaf, Dict) and not leaf.open and not any(_RESULTS.search(str(key)) for key in leaf.items)
        for leaf in leaves
    )


# -- files ---------------------------------------------------------------------------------------------------------


def _is_loaded(program: Program, load: Event, save: Event) -> bool:
    """Whether a save may have written what is loaded: unless both paths are known, and begin otherwise."""
    reads = [e for e in program.calls(_UNPICKLES) if e.index <= load.index and e.meets(load) and e.args]
    path = reads[-1].args[0] if reads else None
    return save.meets(load) and (path is None or perhaps_there(path, [save]))
