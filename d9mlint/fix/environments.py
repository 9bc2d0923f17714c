"""Seeds of environments of Gym, which take them otherwise since its release 0.26."""

from __future__ import annotations

import re

import libcst as cst

from d9mlint.fix import remedies
from d9mlint.fix.place import Place
from d9mlint.fix.tree import Statement

_OLD_GYM = re.compile(rb"^[ \t]*[\w.]+(?:, *[\w.]+){3} *= *[\w.\[\]]+\.step\(|\benvs?\.seed\(", re.M)
_RESET = "reset(seed=1)"


def takes_seed_at_reset(place: Place) -> bool:
    """Whether a call of ``reset`` may be given the seed: environments have that argument, and it is called once.

    A seed in each of several resets begins each episode alike.
    """
    return not _is_old_gym(place) and not _is_repeated(place)


def seeding_method(place: Place) -> str:
    """The call of a method that a remedy names for an object, and of an environment that for its release of Gym."""
    found = remedies.method(place.found.remedy, place.text)
    return _RESET if found == "seed(1)" and _RESET in place.found.remedy and not _is_old_gym(place) else found


def _is_old_gym(place: Place) -> bool:
    """Whether environments are those of gym before 0.26: ``step`` returns four values, or they have ``seed``.

    Source: github.com/openai/gym, release notes of 0.26.
    """
    sources = place.texts.values()
    return not any(b"gymnasium" in one for one in sources) and any(map(_OLD_GYM.search, sources))


def _is_repeated(place: Place) -> bool:
    """Whether a call may be made more than once: it stands in a loop, or in a class."""
    made, of = place.statement, place.tree
    around = [one.node for one in of.statements if _holds(one, made)] if made is not None and of is not None else []
    return any(isinstance(one, (cst.For, cst.While, cst.ClassDef)) for one in around)


def _holds(one: Statement, inner: Statement) -> bool:
    return one is not inner and one.begins <= inner.begins and inner.ends <= one.ends
