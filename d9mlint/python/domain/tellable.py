"""Which conditions can be told to the user, and what they come to when no flag is given."""

from __future__ import annotations

import re
from keyword import iskeyword

from d9mlint.python.domain.guards import (
    UNKNOWN_DEFAULT,
    All,
    AnyOf,
    Cond,
    FlagTest,
    Not,
    OpaqueTest,
    both,
    either,
    test_value,
)  # fmt: skip

_PLACE = r"""([^\W\d]\w*(?:\.[^\W\d]\w*)*)(?:\[(['"])\w+\2\]|\.get\((['"])\w+\3[^()]{0,40}\)|\.[^\W\d]\w*)*"""
_SETTING = re.compile(_PLACE)
_CONFIG = r"(?:cfg|config|conf|params|hparams|hps|opts?|options|settings|args|flags)"
_CHOICE = re.compile(rf"(?=(?:\w+[._])*{_CONFIG}(?:[._\[]\w|\[)){_PLACE} (?:==|is|in|<=?|>=?) .{{1,40}}", re.IGNORECASE)
"""A comparison of what a config says with something."""


GIVEN = re.compile(r"(?:\w+[._])*(?:cfg|config|conf) is None")
"""Whether settings are given at all."""


def by_default(cond: Cond) -> bool | None:
    """Whether the condition holds when no flag is given; None where that is not known."""
    if isinstance(cond, bool):
        return cond
    if isinstance(cond, Not):
        inner = by_default(cond.of)
        return None if inner is None else not inner
    if isinstance(cond, (All, AnyOf)):
        wanted = isinstance(cond, AnyOf)
        answers = [by_default(c) for c in cond.of]
        if wanted in answers:
            return wanted
        return None if None in answers else not wanted
    if isinstance(cond, FlagTest) and cond.flag.default != UNKNOWN_DEFAULT and not cond.flag.required:
        return test_value(cond, cond.flag.default)
    return None


def is_symbolic(cond: Cond) -> bool:
    """Whether the condition speaks only of flags, so that it can be told to the user."""
    return isinstance(cond, bool) or cond.symbolic


def loosened(cond: Cond, settings: bool = False) -> Cond:
    """What of a condition can be told: it holds wherever ``cond`` does, and perhaps elsewhere."""
    if is_symbolic(cond) or (settings and is_setting(cond)):
        return cond
    if isinstance(cond, All):
        return both(*(loosened(part, settings) for part in cond.of))
    return either(*(loosened(part, settings) for part in cond.of)) if isinstance(cond, AnyOf) else True


def is_setting(cond: Cond) -> bool:
    """Whether it tests a setting whose value is not known, but whose name can be told.

    ``params.use_xla``, ``config["model"]["xla"]``, ``params.get("xla", False)``, ``config.mode == "fast"``; that a
    parameter is given for which ``**settings`` may hold something. (Whether a module is in training mode is none.)
    """
    atom = cond.of if isinstance(cond, Not) else cond
    if not isinstance(atom, OpaqueTest):
        return False
    if (atom.by_default and atom is not cond) or GIVEN.fullmatch(atom.text):
        return True
    match = _SETTING.fullmatch(atom.text) or _CHOICE.fullmatch(atom.text)
    parts = match[1].split(".") if match else ["if"]
    return parts[-1] != "training" and not any(iskeyword(part) for part in parts)
