"""Where the recordings of two runs part, rank by rank: what one rank sends to the others is told where it comes in."""

from __future__ import annotations

from d9mlint.model import Culprit
from d9mlint.model.trace import OP
from d9mlint.trace import align, explain
from d9mlint.trace.recording import Recording
from d9mlint.trace.roots import COLLECTIVE

_SAME = "all ranks send the same, and the result differs: they are added up in another order"


def culprits(one: Recording, other: Recording) -> tuple[Culprit, ...]:
    """As of single processes; that which only others have brought is left out where one of these explains it."""
    others = dict(other.ranks)
    pairs = [(name, first, others[name]) for name, first in one.ranks if name in others]
    if not pairs or align.ops(one):
        pairs.insert(0, ("", one, other))
    told: dict[object, Culprit] = {}
    names: dict[object, list[str]] = {}
    for name, first, second in pairs:
        for culprit in explain.culprits(first, second):
            key = (culprit.path, culprit.line, culprit.kind, culprit.op, culprit.note)  # ranks compute other values
            told.setdefault(key, culprit)
            names.setdefault(key, []).append(name)
    own = {key: culprit for key, culprit in told.items() if culprit.kind != COLLECTIVE}
    if not own:
        return tuple(culprit._replace(kind=OP, note=_SAME) for culprit in told.values())
    return tuple(_in_ranks(culprit, names[key]) for key, culprit in own.items())[: explain.MOST]


def _in_ranks(culprit: Culprit, names: list[str]) -> Culprit:
    where = ", ".join(name.replace("-", " ") for name in names if name)
    return culprit._replace(note=f"{culprit.note} (in {where})") if where else culprit
