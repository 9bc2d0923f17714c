"""Functions as commands: click, typer and fire call them with what stands on the command line."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from d9mlint.model import Argument, Location
from d9mlint.python.domain.choices import choose
from d9mlint.python.domain.conditions import UNKNOWN_DEFAULT, Flag, flag_test
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import (
    CALLABLE,
    NONE,
    UNKNOWN,
    Bound,
    Class,
    Const,
    Dict,
    Func,
    Inst,
    Module,
    Obj,
    Ref,
    Seq,
    Unknown,
    Value,
)
from d9mlint.python.interpreter import attributes, calls
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import environment, generics, members
from d9mlint.python.interpreter.library.arguments import composed, settings
from d9mlint.python.interpreter.library.arguments.commandline import COMMAND
from d9mlint.python.interpreter.library.arguments.flags import ANY_FLAGS, flag_of, flag_value
from d9mlint.python.interpreter.library.arguments.options import plain
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_GROUP = "click.Group"
_TYPER = "typer.Typer()"
_MAKES_GROUP = ("click.group", f"{_GROUP}.group")
_REGISTERS = (f"{_GROUP}.command", f"{_GROUP}.group", f"{_TYPER}.command", f"{_TYPER}.default")
"""Decorators that make a function a command of what they are a method of."""
_METHODS = ("command", "group", "add_command")
_PARAMETERS = ("typer.Option", "typer.Argument")
_COMPONENT = Argument(0, "component")
_COMPONENTS = ("components", "f", "func", "funcs", "class_or_function", "config_class")
"""Other names of that argument."""
_OF_ANYTHING = (
    "tyro.cli", "jsonargparse.CLI", "jsonargparse.auto_cli", "tap.tapify", "defopt.run", "plac.call", "clize.run",
    "cyclopts.run", "argh.dispatch_command", "argh.dispatch_commands", "simple_parsing.parse", "draccus.parse",
    "pyrallis.parse", "chz.entrypoint", "chz.nested_entrypoint",
)  # fmt: skip
_MOST_FLAGS = 200
_NAME = Argument(0, "name")
_WORD = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
"""Where a word begins within the name of a class."""


# -- what a command is called with ---------------------------------------------------------------------------------


def parameters(interp: Interpreter, func: Func) -> dict[str, Value]:
    """What click and hydra hand to a function that the program calls without arguments, by parameter name."""
    out: dict[str, Value] = {}
    for decorator in func.decorators:
        if not isinstance(decorator, Obj) or decorator.event is None:
            continue
        event = decorator.event
        if event.name in settings.OF_ANNOTATION:
            out.update(settings.of_main(interp, func) or composed.of_main(interp, func, event))
        if event.name != "click.option":
            continue
        names = [a.value for a in event.args if isinstance(a, Const) and isinstance(a.value, str)]
        spelled = next((n for n in names if n.startswith("--")), "")
        if not spelled:
            continue
        dashed = spelled.split("/")[0]
        name = next((n for n in names if not n.startswith("-")), "") or dashed.lstrip("-").replace("-", "_")
        kind = "on" if plain(event.kwargs.get("is_flag", NONE)) is True and "/" not in spelled else "value"
        kind = "bool" if "/" in spelled else kind
        given = event.kwargs.get("default")
        default = plain(given) if given is not None else (False if kind != "value" else None)
        required = plain(event.kwargs.get("required", NONE)) is True
        out[name] = flag_value(interp, Flag(name, dashed, default, kind, event.location, required))
    return out


def _of_signature(interp: Interpreter, func: Func) -> dict[str, Value]:
    """A flag for each parameter, as typer and fire make them; a class of settings has one for each field."""
    out: dict[str, Value] = {}
    location = Location(func.closure.module.path, *func.node.place)
    for index, param in enumerate(func.node.params):
        if param.kind not in ("pos", "kw") or (func.owner is not None and index == 0):
            continue
        given = func.defaults.get(param.name)
        if isinstance(given, Obj) and given.event is not None and given.event.name in _PARAMETERS:
            given = given.event.args[0] if given.event.args else given.event.kwargs.get("default")
        filled = settings.of_parameter(interp, func, param)
        if filled is not None:
            out[param.name] = filled
            continue
        required = given is None or (isinstance(given, Const) and given.value is ...)
        default = None if required or given is None else plain(given)
        out[param.name] = flag_value(interp, flag_of(param.name, default, location, required))
    return out


def take_flags(interp: Interpreter, func: Func, inner: Frame) -> None:
    """Parameters of a function that is handed what is not known, where the command line may hold any flags.

    They are flags, each with its default: ``def main(task, **kwargs): tasks[task](**kwargs)`` under fire.
    """
    if not interp.noted(ANY_FLAGS):
        return
    location = Location(func.closure.module.path, *func.node.place)
    for param in func.node.params:
        default, given = func.defaults.get(param.name), inner.vars[param.name]
        if isinstance(default, Const) and isinstance(given, Unknown) and given.name == param.name:
            inner.vars[param.name] = flag_value(interp, flag_of(param.name, default.value, location))


def set_by_name(interp: Interpreter, holder: Inst, frame: Frame, place: f.Place) -> None:
    """``setattr(holder, name, value)`` under a name that is not known.

    Where the command line may hold any flags (``def main(**kwargs)`` under fire), each constant is the default of one.
    Else an empty text is what a file of settings fills in (``dataset = ""``); other defaults stay what they are.
    """
    interp.heap.open(holder)
    flags = interp.noted(ANY_FLAGS)
    names = [name for cls in holder.cls.line() for name in cls.frame.vars]
    for name in [one for one in dict.fromkeys((*names, *holder.attrs)) if not one.startswith("_")][:_MOST_FLAGS]:
        held = holder.attrs.get(name) or attributes.class_attribute(interp, holder.cls, name)
        value = None if held is None else interp.resolve(held)
        if not isinstance(value, Const):
            continue
        if not flags:
            if value.value == "":
                interp.set_attribute(holder, name, Unknown(), frame, place)
        elif isinstance(value.value, (str, int, float, type(None))):
            flag = flag_of(name, value.value, Location(frame.module.path, *place))
            interp.set_attribute(holder, name, flag_value(interp, flag), frame, place)


# -- groups --------------------------------------------------------------------------------------------------------


def is_group(interp: Interpreter, func: Func) -> bool:
    """Whether ``click.group`` decorates a function: it has commands."""
    return any(calls.decorator_name(interp, decorator) in _MAKES_GROUP for decorator in func.decorators)


def method_of_group(interp: Interpreter, holder: Func, name: str) -> Value | None:
    """``cli.command``, ``cli.add_command``; None where ``holder`` is no group."""
    return Ref(f"{_GROUP}.{name}", holder) if name in _METHODS and is_group(interp, holder) else None


def register(interp: Interpreter, func: Func) -> None:
    """Keeps a function that a decorator makes a command."""
    for decorator in func.decorators:
        event = decorator.event if isinstance(decorator, Obj) else None
        if event is not None and event.name in _REGISTERS and event.receiver is not None:
            _keep(interp, event.receiver, event, func)


def _add_command(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``cli.add_command(train)``, ``app.add_typer(data, name="data")``."""
    command = environment.first(event)
    if event.receiver is not None and isinstance(command, (Func, Obj)):
        _keep(interp, event.receiver, event, command)
    return NONE


def _keep(interp: Interpreter, group: Value, event: Event, command: Func | Obj) -> None:
    """``event`` may name the command; it has the name of its function otherwise."""
    names = [value for value in (*event.args, event.kwargs.get("name")) if isinstance(value, Const)]
    default = command.name.replace("_", "-") if isinstance(command, Func) else ""
    name = str(next((one.value for one in names if isinstance(one.value, str)), default))
    interp.note(("commands", id(group)), (*_commands(interp, group), (name, command)))


def _commands(interp: Interpreter, group: Value) -> tuple[tuple[str, Value], ...]:
    return interp.noted(("commands", id(group))) or ()


def run_group(interp: Interpreter, group: Value, frame: Frame, place: f.Place) -> None:
    """Runs the commands of a group, each under the condition that it is given."""
    commands = dict(_commands(interp, group))
    if isinstance(group, Obj) and len(commands) == 1:  # typer takes no name then
        _start(interp, next(iter(commands.values())), frame, place)
    else:
        _choose(interp, commands, frame, place, signature=isinstance(group, Obj))


def scripts(interp: Interpreter, module: Module, functions: Sequence[str]) -> None:
    """Runs the functions of an entry that console scripts call, as it does not call them itself.

    Of several each is a command of its own.
    """
    if module.frame is None:
        return
    found = {name: module.frame.vars.get(name) for name in functions}
    commands = {name: one for name, one in found.items() if isinstance(one, (Func, Obj)) and not _has_run(interp, one)}
    place = next((one.node.place for one in commands.values() if isinstance(one, Func)), f.NOWHERE)
    if len(functions) == 1:
        for one in commands.values():
            _start(interp, one, module.frame, place, signature=False)
    elif commands:
        _choose(interp, commands, module.frame, place, signature=False)


def _has_run(interp: Interpreter, command: Value) -> bool:
    return isinstance(command, Func) and id(command.node) in interp.entered


def _choose(
    interp: Interpreter, commands: Mapping[str, Value], frame: Frame, place: f.Place, *, signature: bool = True
) -> None:  # fmt: skip
    argv = interp.command_line.argv
    if argv is not None:
        named = {name.replace("_", "-"): one for name, one in commands.items()}
        for word in [word for word in argv if word.replace("_", "-") in named][:1]:
            _start(interp, named[word.replace("_", "-")], frame, place, signature)
        return
    location = Location(frame.module.path, *place)
    flag = Flag(COMMAND, COMMAND, UNKNOWN_DEFAULT, "value", location, True, tuple(commands))
    for name, one in commands.items():
        interp.under(flag_test(flag, "==", name), partial(_start, interp, one, frame, place, signature))


def _start(interp: Interpreter, command: Value, frame: Frame, place: f.Place, signature: bool = True) -> Value:
    """Runs one command; ``signature``: its parameters are its flags."""
    if isinstance(command, Obj):  # a typer application inside another one
        run_group(interp, command, frame, place)
        return NONE
    func = command.func if isinstance(command, Bound) else command
    given = _of_signature(interp, func) if signature and isinstance(func, Func) else {}
    others = signature and isinstance(func, Func) and any(param.kind == "**" for param in func.node.params)
    if others:
        interp.note(ANY_FLAGS)
    return calls.call(interp, command, [], given, frame, place, others)


# -- calls ---------------------------------------------------------------------------------------------------------


def _run_typer(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``app()``."""
    if event.receiver is not None:
        run_group(interp, event.receiver, frame, environment.place_of(event))
    return NONE


def _run_function(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``typer.run(main)``."""
    return _start(interp, environment.first(event), frame, environment.place_of(event))


def _of_anything(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``tyro.cli(main)``, ``CLI(Settings)``: calls a function, or makes a class, with flags for its parameters.

    Sources: brentyi.github.io/tyro, jsonargparse.readthedocs.io (``CLI``), github.com/swansonk14/typed-argument-parser
    (``tapify``); of several components the first word names one.
    """
    place = environment.place_of(event)
    named = next((event.kwargs[name] for name in _COMPONENTS if name in event.kwargs), None)
    component = event.argument(_COMPONENT) or named
    if isinstance(component, Class):
        return settings.filled(interp, component, frame, place, "--{}")
    if isinstance(component, CALLABLE):
        return _start(interp, component, frame, place)
    if isinstance(component, Seq) and component.kind == generics.UNION:
        return _one_of_classes(interp, component.items or (), frame, place)
    commands: dict[str, Value] = {}
    if isinstance(component, Dict):
        commands = {str(name): one for name, one in component.items.items()}
    elif isinstance(component, Seq):
        commands = {one.name: one for one in component.items or () if isinstance(one, Func)}
    _choose(interp, commands, frame, place)
    return UNKNOWN if commands else None  # (each has run, under the condition that it is asked for)


def _one_of_classes(interp: Interpreter, classes: Sequence[Value], frame: Frame, place: f.Place) -> Value:
    """``tyro.cli(Union[Train, Show])``: an object of the class that the first word names."""
    named = dict(map(_subcommand, classes))
    argv = interp.command_line.argv
    if argv is not None:
        named = {name: one for name, one in named.items() if name in argv} or named
    location = Location(frame.module.path, *place)
    flag = Flag(COMMAND, COMMAND, UNKNOWN_DEFAULT, "value", location, True, tuple(named))
    made = ((name, settings.of_class(interp, one, frame, place, "--{}")) for name, one in named.items())
    return choose([(flag_test(flag, "==", name) if len(named) > 1 else True, one) for name, one in made])


def _subcommand(one: Value) -> tuple[str, Value]:
    """The word for a class, and the class: ``Annotated[Train, subcommand("train")]``, or by its own name."""
    cls, *notes = (one.items or (one,)) if isinstance(one, Seq) else (one,)
    made = (note.event for note in notes if isinstance(note, Obj) and note.event is not None)
    given = (event.argument(_NAME) for event in made if event.name.endswith(".subcommand"))
    told = next((str(name.value) for name in given if isinstance(name, Const)), "")
    own = cls.node.name if isinstance(cls, Class) else ""
    return told or _WORD.sub("-", own).lower(), cls


def _fire(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``fire.Fire(component)``: a function, a class, an object, a dict of these, or all that the module has.

    Source: google.github.io/python-fire/guide.
    """
    place = environment.place_of(event)
    component = event.argument(_COMPONENT)
    if component is None:
        _choose(interp, _of_script(interp, frame.module), frame, place)
        return NONE
    if isinstance(component, Class):
        init = attributes.class_attribute(interp, component, "__init__")
        given = _of_signature(interp, init) if isinstance(init, Func) else {}
        component = calls.call(interp, component, [], given, frame, place)
    if isinstance(component, Inst):
        _choose(interp, members.methods(component), frame, place)
    elif isinstance(component, Dict):
        items = {str(k): v for k, v in component.items.items() if isinstance(v, (*CALLABLE, Class))}
        _choose(interp, items, frame, place)
    elif isinstance(component, CALLABLE):
        _start(interp, component, frame, place)
    return NONE


def _of_script(interp: Interpreter, module: Module) -> dict[str, Value]:
    """The functions of a script that no other one calls; those that are called are no commands by all appearance."""
    found = members.functions(module)
    own = {name: one for name, one in found.items() if isinstance(one, Func) and one.closure is module.frame}
    read = frozenset[str]().union(*(interp.project.reads(one.node) for one in own.values()))
    return {name: one for name, one in own.items() if name not in read}


TRANSFER: dict[str, Transfer] = {
    "fire.Fire": _fire, "fire.core.Fire": _fire, "typer.run": _run_function, f"{_TYPER}.__call__": _run_typer,
    **dict.fromkeys(_OF_ANYTHING, _of_anything),
    f"{_TYPER}.add_typer": _add_command, f"{_GROUP}.add_command": _add_command,
}  # fmt: skip
