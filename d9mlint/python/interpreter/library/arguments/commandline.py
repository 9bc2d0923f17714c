"""Command lines: the flags of argparse and absl as symbols, or as values where arguments are given."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from d9mlint.model import UsageError
from d9mlint.python.domain.choices import choose, overwrite
from d9mlint.python.domain.conditions import UNKNOWN_DEFAULT, Flag, flag_test
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import (
    NONE,
    STATE,
    UNKNOWN,
    Const,
    Dict,
    FlagValue,
    Inst,
    Obj,
    Ref,
    Seq,
    Unknown,
    Value,
)
from d9mlint.python.interpreter.library.arguments.ginbindings import Bindings
from d9mlint.python.interpreter.library.arguments.options import NOT_KNOWN, choices, default_of, for_argparse, plain
from d9mlint.python.interpreter.library.environment import HOLDER, NAMESPACE

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_TYPES = {"builtins.int": int, "builtins.float": float, "builtins.str": str}
_NAMED_TYPES = {"int": int, "float": float, "string": str, "str": str}
"""The same as optparse names them."""
COMMANDS = "argparse._SubParsersAction"
"""The type of what ``add_subparsers`` gives."""
COMMAND = "the command"
"""What a command is called where the program gives it no name."""
_OPTPARSE = "optparse."
_FLAGS = "absl.flags.FLAGS."


class _Parser:
    """One ``ArgumentParser`` of the program: its flags by destination."""

    def __init__(self) -> None:
        self.flags: dict[str, Flag] = {}
        self.opposites: dict[str, Flag] = {}
        """The other spelling of a flag that two switches set: ``--x`` and ``--no-x``."""
        self.offered: dict[str, Value | None] = {}
        """The choices that flags are said to have, by destination."""
        self.options: list[tuple[list[str], dict[str, Any]]] = []
        self.open = False
        self.subparsers = False
        self.main: _Parser | None = None
        """The parser that this one is a command of."""
        self.commands: dict[str, _Parser] = {}
        self.differing: set[str] = set()
        """Flags that several commands have, each with a default of its own."""
        self.given: dict[str, Value] = {}
        """What ``set_defaults`` says of names that are no flags, such as the function of a command."""
        self.pairs = False
        """Whether ``parse_args`` gives a pair, as optparse's does: the flags, and what else the command line holds."""


class CommandLine:
    """All flags of a program. ``argv`` of None leaves them symbolic; a list fixes them as the parser would."""

    def __init__(self, argv: Sequence[str] | None) -> None:
        self.argv = None if argv is None else list(argv)
        self.bindings = Bindings()

    # -- argparse --------------------------------------------------------------------------------------------------

    def make_parser(self, interp: Interpreter, event: Event, frame: Frame) -> Value:
        """``ArgumentParser(...)``."""
        parser = Obj("argparse.ArgumentParser", event)
        state = _Parser()
        state.pairs = event.name.startswith(_OPTPARSE)
        parents = event.kwargs.get("parents")
        if isinstance(parents, Seq) and parents.items is not None:
            for parent in parents.items:
                if isinstance(parent, Obj) and isinstance(_state(parent), _Parser):
                    inherited = _state(parent)
                    state.flags.update(inherited.flags)
                    state.options.extend(inherited.options)
        elif parents is not None:
            state.open = True
        parser.attrs[STATE] = Const(state)
        return parser

    def add_subparsers(self, interp: Interpreter, event: Event, frame: Frame) -> Value:
        """``add_subparsers``: what makes the parsers of commands."""
        state = _state(event.receiver)
        state.subparsers = True
        dest = event.kwargs.get("dest")
        name = str(dest.value) if isinstance(dest, Const) and dest.value else COMMAND
        state.flags[COMMAND] = Flag(name, name, UNKNOWN_DEFAULT, "value", event.location, True)
        commands = Obj(COMMANDS, event)
        commands.attrs[STATE] = Const(state)
        return commands

    def add_parser(self, interp: Interpreter, event: Event, frame: Frame) -> Value:
        """``add_parser``: the flags of a command are in the same namespace as those before it."""
        parser = self.make_parser(interp, event, frame)
        state, main = _state(parser), _state(event.receiver)
        state.main = main
        name, chosen = event.args[0] if event.args else None, main.flags.get(COMMAND)
        if isinstance(name, Const) and isinstance(name.value, str) and chosen is not None:
            main.commands[name.value] = state
            chosen = chosen._replace(choices=(*chosen.choices, name.value))
            main.flags[COMMAND] = main.flags[chosen.name] = chosen
        for flag in list(state.flags.values()):
            _share(main, flag)
        return parser

    def group(self, interp: Interpreter, event: Event, frame: Frame) -> Value:
        """Groups add to the same parser; ``OptionGroup(parser, ...)`` is handed it."""
        of_parser = event.receiver if isinstance(event.receiver, (Obj, Inst)) else None
        return of_parser or (event.args[0] if event.args else UNKNOWN)

    def add_argument(self, interp: Interpreter, event: Event, frame: Frame) -> Value:
        """``add_argument``."""
        state = _state(event.receiver)
        names = [a.value for a in event.args if isinstance(a, Const) and isinstance(a.value, str)]
        if not names:
            state.open = True
            return UNKNOWN
        options = {k: plain(v) for k, v in event.kwargs.items()}
        action = options.get("action", "store")
        spelled = next((n for n in names if n.startswith("--")), names[0])
        dest = options.get("dest") or spelled.lstrip("-").replace("-", "_")
        kind = {"store_true": "on", "store_false": "off"}.get(str(action), "value")
        implied = {"on": False, "off": True}.get(kind)
        default = default_of(event.kwargs["default"]) if "default" in event.kwargs else implied
        type_ = event.kwargs.get("type")
        if isinstance(type_, Const) and type_.value in _NAMED_TYPES:
            options["type"] = _NAMED_TYPES[type_.value]
        elif type_ is not None and not (isinstance(type_, Ref) and type_.name in _TYPES):
            options["type"] = str
            kind = "bool" if isinstance(default, bool) else kind
        elif isinstance(type_, Ref):
            options["type"] = _TYPES[type_.name]
        flag = Flag(
            str(dest),
            spelled,
            default,
            kind,
            event.location,
            options.get("required") is True or not spelled.startswith("-"),
        )
        state.offered.setdefault(flag.name, event.kwargs.get("choices"))
        flag = flag._replace(choices=choices(state.offered[flag.name], flag))
        if flag.name in state.flags:  # a second spelling (--no-x): the default is that of the first
            state.options.append((names, options))
            if {flag.kind, state.flags[flag.name].kind} == {"on", "off"}:
                state.opposites[flag.name] = flag._replace(default=state.flags[flag.name].default)
                self._spell(state, flag.name)
            return UNKNOWN
        state.flags[flag.name] = flag
        state.options.append((names, options))
        interp.note(("flag", flag.name), flag)
        if state.main is not None:
            _share(state.main, flag)
        return UNKNOWN

    def set_defaults(self, interp: Interpreter, event: Event, frame: Frame) -> Value:
        """``set_defaults``."""
        state = _state(event.receiver)
        for name, value in event.kwargs.items():
            if name in state.flags:
                flag = state.flags[name]._replace(default=plain(value))
                state.flags[name] = flag._replace(choices=choices(state.offered.get(name), flag))
                self._spell(state, name)
            else:
                state.given[name] = value
        return NONE

    def _spell(self, state: _Parser, name: str) -> None:
        """Of two switches, the one that changes the default is the flag: giving the other one does nothing."""
        flag, other = state.flags[name], state.opposites.get(name)
        if other is not None and flag.default is (flag.kind == "on"):
            state.flags[name] = other._replace(default=flag.default)
            state.opposites[name] = flag

    def add_given(self, parser: Value, given: Mapping[str, Value]) -> None:
        """What parsing puts into the namespace under names that are no flags of their own."""
        _state(parser).given.update(given)

    def parse(self, interp: Interpreter, event: Event, frame: Frame) -> Value:
        """``parse_args``."""
        namespace = self._namespace(interp, event)
        return Seq("tuple", [namespace, UNKNOWN]) if _state(event.receiver).pairs else namespace

    def _namespace(self, interp: Interpreter, event: Event) -> Obj:
        state = _state(event.receiver)
        interp.note("parsed")
        namespace = Obj(NAMESPACE, event)
        namespace.attrs[STATE] = Const(state)
        if self.argv is not None:
            namespace.attrs.update(self._parsed(state, self.argv))
        else:
            namespace.attrs.update(_given(state))
        return namespace

    def parse_known(self, interp: Interpreter, event: Event, frame: Frame) -> Value:
        """``parse_known_args``."""
        return Seq("tuple", [self._namespace(interp, event), UNKNOWN])

    def read(self, interp: Interpreter, namespace: Obj, name: str) -> Value:
        """``args.name``."""
        state = _state(namespace)
        flag = state.flags.get(name)
        if flag is None:
            return Unknown(name=name)
        if name in state.differing and self.argv is None:
            inner = ((c, one.flags[name]) for c, one in state.commands.items() if name in one.flags)
            return interp.resolve(
                choose([(flag_test(state.flags[COMMAND], "==", c), FlagValue(its)) for c, its in inner])
            )
        if self.argv is None and (flag.kind, flag.default) in (("on", True), ("off", False)):
            return Const(flag.default)  # giving the switch changes nothing
        return FlagValue(flag) if self.argv is None else Unknown(name=name)

    def _parsed(self, state: _Parser, argv: Sequence[str]) -> dict[str, Value]:
        at, command = next(((i, word) for i, word in enumerate(argv) if word in state.commands), (len(argv), ""))
        after: dict[str, Value] = {}
        if command:
            after = self._parsed(state.commands[command], argv[at + 1 :])
            after[state.flags[COMMAND].name] = Const(command)
        parser = _Quiet(add_help=False, allow_abbrev=True)
        for names, options in state.options:
            try:
                parser.add_argument(*names, **for_argparse(options))
            except (TypeError, ValueError, argparse.ArgumentError):
                continue
        found, rest = parser.parse_known_args(list(argv[:at]))
        unknown = [word for word in rest if word.startswith("--")]
        if unknown and not state.open and not state.subparsers:
            raise UsageError(f"the program has no argument {unknown[0]} (after --); it knows: {_spellings(state)}")
        out: dict[str, Value] = dict(state.given)
        for name, value in vars(found).items():
            out[name] = UNKNOWN if value is NOT_KNOWN or isinstance(value, list) else Const(value)
        return out | after

    def all_values(self, interp: Interpreter, namespace: Obj) -> Dict:
        """``vars(args)``: every flag by its name."""
        state = _state(namespace)
        flags = {name: self.read(interp, namespace, name) for name in state.flags}
        return Dict({**flags, **{k: v for k, v in namespace.attrs.items() if k != STATE}}, state.open)

    # -- absl ------------------------------------------------------------------------------------------------------

    def define(self, interp: Interpreter, event: Event, frame: Frame) -> Value:
        """``flags.DEFINE_*(name, default, help)``."""
        name = event.args[0] if event.args else event.kwargs.get("name")
        if not isinstance(name, Const) or not isinstance(name.value, str):
            return UNKNOWN
        default = event.args[1] if len(event.args) > 1 else event.kwargs.get("default", NONE)
        return self._define(interp, name.value, default, event)

    def _define(self, interp: Interpreter, name: str, default: Value, event: Event) -> Value:
        kind = "bool" if event.name.endswith(("bool", "boolean")) else "value"
        flag = Flag(name, f"--{name}", plain(default), kind, event.location)
        interp.note(("absl", name), flag)
        interp.note(("flag", name), flag)
        interp.note("parsed")
        holder = Obj(HOLDER, event)
        holder.attrs["name"] = Const(name)
        holder.attrs["value"] = self._absl_value(interp, flag)
        return holder

    def define_absl(self, interp: Interpreter, name: str, value: Value, event: Event) -> Value:
        """Defines a flag whose value is not one of its default's own: a tree of settings, each with a flag."""
        interp.note(("absl-value", name), value)
        return self._define(interp, name, UNKNOWN, event)

    def _absl_value(self, interp: Interpreter, flag: Flag) -> Value:
        given: Value | None = interp.noted(("absl-value", flag.name))
        if given is not None:
            return given
        if self.argv is None:
            return FlagValue(flag)
        value: Value = UNKNOWN if flag.default == UNKNOWN_DEFAULT else Const(flag.default)
        words = iter(self.argv)
        for word in words:
            name, equals, text = word.lstrip("-").partition("=")
            if not word.startswith("-") or name not in (flag.name, f"no{flag.name}"):
                continue
            if flag.kind == "bool":
                value = Const(not name.startswith("no") if not equals else text.lower() in ("1", "true", "t", "yes"))
            else:
                value = Const(number(text if equals else next(words, "")))
        return value

    def absl_flag(self, interp: Interpreter, dotted: str) -> Value | None:
        """The value of ``FLAGS.name``; None when ``dotted`` is not a defined flag."""
        if not dotted.startswith(_FLAGS):
            return None
        name = dotted[len(_FLAGS) :]
        flag: Flag | None = interp.noted(("absl", name))
        if flag is None:
            return None
        interp.note(("read-flag", name), name)
        return self._absl_value(interp, flag)

    def all_absl_values(self, interp: Interpreter) -> Dict:
        """``FLAGS.flag_values_dict()``: every flag by its name; libraries may define more."""
        return Dict({flag.name: self._absl_value(interp, flag) for flag in interp.all_noted("absl")}, True)

    def assign_absl(self, interp: Interpreter, name: str, value: Value) -> None:
        """``FLAGS.name = value``."""
        interp.note(("absl-value", name), value)


class _Quiet(argparse.ArgumentParser):
    """A parser that reports instead of leaving the process."""

    def error(self, message: str) -> Any:
        raise UsageError(f"the program would refuse these arguments: {message}")


def number(text: str) -> Any:
    """What a word of a command line stands for: a number, or itself."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _state(value: Value | None) -> _Parser:
    """What a parser (or an instance of a subclass) knows of its flags."""
    if not isinstance(value, (Obj, Inst)):
        return _Parser()
    found = value.attrs.get(STATE)
    if isinstance(found, Const) and isinstance(found.value, _Parser):
        return found.value
    state = _Parser()
    if isinstance(value, Inst):
        value.attrs[STATE] = Const(state)
    return state


def _given(state: _Parser) -> dict[str, Value]:
    """What ``set_defaults`` puts into the namespace, each under the command that says so."""
    out = dict(state.given)
    for command, inner in state.commands.items():
        chosen = flag_test(state.flags[COMMAND], "==", command)
        for name, value in _given(inner).items():
            out[name] = overwrite(out.get(name), chosen, value)
    return out


def _share(main: _Parser, flag: Flag) -> None:
    """Makes a command's flag known to the parser that reads it; what two commands have of one name has no default."""
    known = main.flags.get(flag.name)
    if known is not None and (known.default, known.kind) != (flag.default, flag.kind):
        main.differing.add(flag.name)
        flag = flag._replace(default=UNKNOWN_DEFAULT, kind="value", required=False, choices=())
    main.flags[flag.name] = flag
    if main.main is not None:
        _share(main.main, flag)


def _spellings(state: _Parser) -> str:
    return ", ".join(sorted(flag.spelled for flag in state.flags.values()))
