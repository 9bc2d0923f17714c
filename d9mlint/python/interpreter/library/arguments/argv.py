"""Command lines that a program takes apart itself, or has taken apart by what its help says: ``sys.argv``, docopt."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from d9mlint.model import Location
from d9mlint.python.domain.choices import choose
from d9mlint.python.domain.conditions import UNKNOWN_DEFAULT, Flag, flag_test, negate
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import ABSENT, UNKNOWN, Const, Dict, FlagValue, Ref, Seq, Unknown, Value
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import environment
from d9mlint.python.interpreter.library.arguments.commandline import number
from d9mlint.python.interpreter.library.arguments.flags import flag_value

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_WORDS = "sys.argv"
_OPTION = re.compile(r"^\s+(-\S.*)$")
_SPELLED = re.compile(r"(--?[^\s=,]+)(?:(?:=|[ ])(<[^>]+>|[A-Z][A-Z_-]*))?")
_DEFAULT = re.compile(r"\[default:\s*(.*?)\]", re.IGNORECASE)
_LATER_IN_LINE = "  "
"""What stands between an option and what is said of it."""


def count(interp: Interpreter, value: Value) -> Value | None:
    """How many words ``sys.argv`` has, the program's name among them; None for all other values."""
    if not isinstance(value, Ref) or value.name != _WORDS:
        return None
    given = interp.command_line.argv
    if given is not None:
        return Const(len(given) + 1)
    spelled = f"`len({_WORDS})`"
    return FlagValue(Flag(spelled, spelled, UNKNOWN_DEFAULT, "value", Location("", 1, 1, 1, 1)))


def word(interp: Interpreter, holder: Ref, index: Value) -> Value | None:
    """``sys.argv[number]`` where the words are known; None where they are not, and for all other values."""
    given = interp.command_line.argv
    at = index.value if isinstance(index, Const) else None
    if holder.name != _WORDS or given is None or not isinstance(at, int) or not 0 < at <= len(given):
        return None
    return Const(number(given[at - 1]))


def _getopt(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``getopt.getopt(words, "s:", ["seed="])``: a pair for each option that is given."""
    short, long = environment.first(event, 1), environment.first(event, 2)
    letters = short.value if isinstance(short, Const) and isinstance(short.value, str) else ""
    names = [one.value for one in (long.items or ()) if isinstance(one, Const)] if isinstance(long, Seq) else []
    spelled = [f"-{letter}" for letter in letters if letter != ":"] + [f"--{str(name).rstrip('=')}" for name in names]
    pairs = [_pair(interp, one, event.location) for one in spelled]
    return Seq("tuple", [Seq("list", pairs), UNKNOWN])


def _pair(interp: Interpreter, spelled: str, location: Location) -> Value:
    """An option and its text, where it is given."""
    value = flag_value(interp, Flag(spelled.lstrip("-"), spelled, None, "value", location))
    if not isinstance(value, FlagValue):
        known = isinstance(value, Const) and value.value is None
        return ABSENT if known else Seq("tuple", [Const(spelled), value])
    missing = flag_test(value.flag, "none")
    return choose([(negate(missing), Seq("tuple", [Const(spelled), Unknown()])), (missing, ABSENT)])


def _docopt(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``docopt(__doc__)``: a dict of what the text says there is; commands and positional words are not known.

    Options stand in lines that begin with a dash; their defaults in brackets (github.com/docopt/docopt, README).
    """
    text = event.args[0] if event.args else event.kwargs.get("doc")
    if not isinstance(text, Const) or not isinstance(text.value, str):
        return Dict({}, True)
    flags = _options(text.value, event.location)
    return Dict({flag.spelled: flag_value(interp, flag) for flag in flags}, True)


def _options(text: str, location: Location) -> Iterator[Flag]:
    """The options that a help text describes."""
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if (match := _OPTION.match(line)) is None:
            continue
        head, _, about = match[1].partition(_LATER_IN_LINE)
        for more in lines[at + 1 :]:  # what is said of it may go on
            if not more.strip() or _OPTION.match(more):
                break
            about += f" {more.strip()}"
        spelled = _SPELLED.findall(head)
        names = [name for name, _ in spelled]
        name = next((one for one in names if one.startswith("--")), names[0] if names else "")
        if not name:
            continue
        takes = any(argument for _, argument in spelled)
        found = _DEFAULT.search(about)
        default = (found[1] if found else None) if takes else False
        yield Flag(name.lstrip("-").replace("-", "_"), name, default, "value" if takes else "on", location)


TRANSFER: dict[str, Transfer] = {
    "getopt.getopt": _getopt, "getopt.gnu_getopt": _getopt, "docopt.docopt": _docopt,
}  # fmt: skip
