"""What a flag gives to functions and classes whose parameters and fields the command line fills."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from d9mlint.model import Location
from d9mlint.python.domain.conditions import UNKNOWN_DEFAULT, Flag
from d9mlint.python.domain.values import UNKNOWN, Const, FlagValue, Value
from d9mlint.python.interpreter.library.arguments.commandline import number

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

ANY_FLAGS = "any-flags"
"""What is remembered where a program takes flags of any name."""


def flag_of(
    name: str, default: Any, location: Location, required: bool = False, spelled: str = ""
) -> Flag:  # fmt: skip
    """A flag of a parameter or field, with dashes where nothing else is ``spelled``; its default tells its kind."""
    kind = "bool" if isinstance(default, bool) else "value"
    return Flag(name, spelled or f"--{name.replace('_', '-')}", default, kind, location, required)


def flag_value(interp: Interpreter, flag: Flag) -> Value:
    """What a flag gives: a value that depends on it, or that of the arguments that the program is judged with."""
    interp.note(("flag", flag.name), flag)
    interp.note(("read-flag", flag.name), flag.name)
    argv = interp.command_line.argv
    return FlagValue(flag) if argv is None else _value(flag, argv)


def _value(flag: Flag, argv: Sequence[str]) -> Value:
    words = iter(argv)
    for word in words:
        name, equals, text = word.partition("=")
        if name.replace("_", "-") == flag.spelled.replace("_", "-"):
            if flag.kind in ("on", "bool") and not equals:
                return Const(True)
            return Const(number(text if equals else next(words, "")))
        if flag.kind == "bool" and name == f"--no-{flag.spelled.lstrip('-')}":
            return Const(False)
    return UNKNOWN if flag.default == UNKNOWN_DEFAULT or flag.required else Const(flag.default)
