"""Weights of TensorFlow and Keras that nothing trains, and that stay as they were drawn where a default run loads none.

Which network a load fills is not asked: each of them needs something that a default run does not have.
"""

from __future__ import annotations

import re

from d9mlint.python.domain.conditions import Cond, both, by_default, either, negate, symbolic_part
from d9mlint.python.domain.events import Event
from d9mlint.python.interpreter.program import Program

_LOADS = re.compile(
    r"\w*(load_(state|checkpoint|ckpt|weights|model|pretrained|params)|restore|set_weights|set_value|assign|from_pretrained|"
    r"from_saved|init_from)\w*|read",
    re.IGNORECASE,
)
"""Last names of what may give variables the values of a file, by all appearance."""
_READS = re.compile(r"(builtins|io|pathlib|tensorflow\.io|os|json|yaml|numpy|\?)\..*read\w*|.*get_weights")
"""Calls of such a name that only read a file."""
_APPLIES = re.compile(r"(keras\..*|\?)\.(predict|predict_on_batch|predict_generator|evaluate)|tensorflow\.Session\.run")
_DROPS = "ropout"
"""In the name of a layer that has no weights."""


def drawn(program: Program, draw: Event) -> Cond:
    """When the weights that a call draws are those of a result, although nothing trains them."""
    return False if _DROPS in draw.name else program.once("untrained-tensorflow", _drawn)


def _drawn(program: Program) -> Cond:
    if by_default(program.training) is not False or program.story.truncated:
        return False
    calls = [e for e in program.events if e.kind in ("call", "unresolved") and not e.detached]
    loads = [e for e in calls if _LOADS.fullmatch(e.name.rpartition(".")[2]) and not _READS.fullmatch(e.name)]
    conds = [both(*e.guards, *e.excluded) for e in loads]
    if not loads or any(by_default(cond) is not False for cond in conds):
        return False
    applied = (e for e in calls if _APPLIES.fullmatch(e.name) and by_default(both(*e.guards, *e.excluded)) is not False)
    if not any(e.index > loads[0].index for e in applied):
        return False
    return negate(either(*map(symbolic_part, conds)))
