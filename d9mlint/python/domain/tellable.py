"""Which conditions can be told to the user: tests of flags, and of settings that have a name."""

from __future__ import annotations

import re
from functools import lru_cache
from keyword import iskeyword

from d9mlint.python.domain import diagrams
from d9mlint.python.domain.conditions import Cond, Flag, Opaque, literal

_PLACE = r"""([^\W\d]\w*(?:\.[^\W\d]\w*)*)(?:\[(['"])\w+\2\]|\.get(?:_\w+)?\((['"])\w+\3[^()]{0,40}\)|\.[^\W\d]\w*)*"""
_SETTING = re.compile(_PLACE)
_CONFIG = r"_*(?:cfg|config|conf|params|hparams|hps|opts?|options|settings|args|flags)"
_CHOICE = re.compile(rf"(?=(?:\w+[._])*{_CONFIG}(?:[._\[]\w|\[)){_PLACE} (?:==|is|in|<=?|>=?) .{{1,40}}", re.IGNORECASE)
"""A comparison of what a config says with something."""
_OF_TEXT = re.compile(
    rf"(?=(?:\w+[._])*{_CONFIG}(?:[._\[]\w|\[)){_PLACE}\.(?:isnumeric|isdigit|isdecimal|startswith|endswith)\([^()]{{0,40}}\)",
    re.IGNORECASE,
)
"""A test of what a text of a config looks like: ``opt.source.isnumeric()``."""
_OF_CONFIG = re.compile(rf"(?:\w+[._])*{_CONFIG}[.\[]", re.IGNORECASE)
_PROGRESS = re.compile(r"^self\.(?:\w+_)?(?:step|epoch|iter|iteration|batch|count|index|idx)s?$")
"""How far an object has come, which nobody sets."""
_PART = re.compile(r"""(?:\[['"]|\.get(?:_\w+)?\(['"])(?P<name>\w+)['"](?:\]|[^()]{0,40}\))""")
"""How a program takes a part of a config by its name."""
_ONE_PROCESS = re.compile(r"(?:\w+[._])*rank (?:==|is) 0|\w+\[(['\"])(?:\w+_)?rank\1\] (?:==|is) 0")
"""Whether this is the first of several processes, or the only one: so every run has one in which it holds."""
FILE_TEST = re.compile(r"(?:exists|isfile|isdir|is_file|is_dir)\('([^'()]+)'\)")
"""Whether a file is there: ``isfile('rows.npy')``."""
_GIVEN = re.compile(r"(?:\w+[._])*(?:cfg|config|conf|(?:\w*_)?seed|random_state) is None")
"""Whether settings, or a seed, are given at all."""

SOME_NAME, ONE_OF_FILES = "the name", "the file"
UNNAMED = (SOME_NAME, ONE_OF_FILES)
"""What a choice among the program's own things is made by where nothing names it: nobody can be told what to set."""


def is_setting(cond: Cond) -> bool:
    """Whether it tests a setting whose value is not known, but whose name can be told.

    ``params.use_xla``, ``config["model"]["xla"]``, ``params.get("xla", False)``, ``config.mode == "fast"``; that a
    parameter is given for which ``**settings`` may hold something. (Whether a module is in training mode is none.)
    """
    one = literal(cond)
    return one is not None and one.opaque is not None and is_told(one.opaque, one.outcome is True)


def is_told(test: Opaque, outcome: bool) -> bool:
    """Whether it can be told that a test which cannot be read comes out like this."""
    return (test.by_default and not outcome) or _names_a_setting(test.text)


@lru_cache(maxsize=4096)
def _names_a_setting(text: str) -> bool:
    if is_given(text):
        return True
    match = _SETTING.fullmatch(text) or _CHOICE.fullmatch(text) or _OF_TEXT.fullmatch(text)
    parts = match[1].split(".") if match else ["if"]
    if parts[0] == "self" and _PROGRESS.search(text):
        return False
    return parts[-1] != "training" and not _ONE_PROCESS.fullmatch(text) and not any(iskeyword(part) for part in parts)


def is_file_test(text: str) -> bool:
    """Whether a test asks for a file whose name is known."""
    return FILE_TEST.fullmatch(text) is not None


def is_of_config(text: str) -> bool:
    """Whether a setting is one of a config, by its name."""
    return _OF_CONFIG.match(text) is not None


def name_of_setting(text: str) -> str:
    """A test of a part of a config, however the program gets at it: ``config.use_x``; empty for other tests.

    ``self.config["use_x"]`` and ``config.get("use_x", False)`` are the same part.
    """
    return _PART.sub(r".\g<name>", text.removeprefix("self.")) if is_of_config(text) else ""


def is_given(text: str) -> bool:
    """Whether a test is one for settings that are not given."""
    return _GIVEN.fullmatch(text) is not None


def _is_unnamed(test: object) -> bool:
    return isinstance(test, Flag) and test.spelled in UNNAMED


def loosened(cond: Cond, settings: bool = False) -> Cond:
    """What of a condition can be told (``settings``: also of settings): it holds wherever ``cond`` does."""
    if isinstance(cond, bool):
        return cond
    tests = [(variable, variable.name) for variable in cond.support if isinstance(variable.name, Opaque)]
    told = {variable for variable, test in tests if settings and (is_told(test, False) or is_file_test(test.text))}
    unnamed = [variable for variable in cond.support if _is_unnamed(variable.name)]
    found = diagrams.without(cond, [*unnamed, *(variable for variable, _ in tests if variable not in told)])
    for variable, test in tests:
        if variable in told and not is_told(test, True) and not is_file_test(test.text):
            found = diagrams.only_failing(found, variable)
    return found
