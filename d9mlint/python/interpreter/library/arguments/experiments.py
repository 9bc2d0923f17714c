"""Sacred's experiments: functions that it calls with entries of a configuration, and the seed that it draws for them.

Source: sacred.readthedocs.io (configuration, randomness) and sacred/initialize.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

from d9mlint.model import Argument
from d9mlint.python.domain.choices import choose
from d9mlint.python.domain.conditions import Flag, flag_test, negate
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import (
    UNKNOWN,
    Const,
    Dict,
    FlagValue,
    Func,
    Inst,
    Obj,
    Ref,
    Unknown,
    Value,
)
from d9mlint.python.interpreter import calls
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import environment
from d9mlint.python.interpreter.library.arguments.commandline import COMMAND, number
from d9mlint.python.interpreter.library.arguments.flags import flag_of, flag_value
from d9mlint.python.interpreter.library.arguments.options import plain
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_EXPERIMENT = "sacred.Experiment"
_KINDS = (_EXPERIMENT, "sacred.Ingredient")
_COMMANDS = ("main", "automain", "command")
_MAIN = frozenset({"main", "automain"})
_CONFIG = "config"
_CAPTURED = (*_COMMANDS, "capture", "pre_run_hook", "post_run_hook")
"""Decorators whose functions take from the configuration what their callers do not give."""
_SEED = "seed"
_GENERATOR = "numpy.random.RandomState"
_NAMED = Argument(0, "command_name")
_UPDATES = Argument(1, "config_updates")


def register(interp: Interpreter, func: Func, frame: Frame) -> None:
    """Keeps a function that a decorator gives to an experiment, and runs the experiment where that says so."""
    for experiment, kind in _roles(func):
        if kind in _COMMANDS:
            _keep(interp, "commands", experiment, func)
        elif kind == _CONFIG:
            _keep(interp, "scopes", experiment, func)
        if kind == "automain" and func.closure.module.name == "__main__":
            event = interp.event("call", f"{_EXPERIMENT}.automain", frame, func.node.place, receiver=experiment)
            _start(interp, event, frame)


def _roles(func: Func) -> Iterator[tuple[Value, str]]:
    """The experiments or ingredients that a function is given to, and as what."""
    for decorator in func.decorators:
        made = decorator.event if isinstance(decorator, Obj) else None
        name = decorator.name if isinstance(decorator, Ref) else "" if made is None else made.name
        holder = decorator.receiver if isinstance(decorator, Ref) else None if made is None else made.receiver
        kind, _, last = name.rpartition(".")
        if holder is not None and kind in _KINDS:
            yield holder, last


def _keep(interp: Interpreter, what: str, experiment: Value, one: Value) -> None:
    key = ("experiment", what, id(experiment))
    interp.note(key, (*(interp.noted(key) or ()), one))


def _kept(interp: Interpreter, what: str, experiment: Value) -> tuple[Value, ...]:
    return interp.noted(("experiment", what, id(experiment))) or ()


# -- the configuration ---------------------------------------------------------------------------------------------


def parameters(interp: Interpreter, func: Func, frame: Frame, place: f.Place) -> dict[str, Value]:
    """What a function gets from the configuration for the parameters that its caller leaves out.

    ``_rnd`` is a generator of its own, made from the seed of the run.
    """
    found: dict[str, Value] = {}
    for experiment, kind in _roles(func):
        known = interp.noted(("experiment", "config", id(experiment)))
        if kind not in _CAPTURED or not isinstance(known, Dict):
            continue
        given = {**known.items, "_config": known, "_seed": known.items.get(_SEED, UNKNOWN)}
        names = [param.name for param in func.node.params]
        if "_rnd" in names:
            event = interp.event("call", f"{_EXPERIMENT}._rnd", frame, place, receiver=experiment)
            given["_rnd"] = event.result = Obj(_GENERATOR, event)
        found.update((name, given[name]) for name in names if name in given)
    return found


def _configuration(interp: Interpreter, experiment: Value, event: Event) -> Dict:
    """The entries of the configuration, each a flag with its default; where no seed is set one is drawn."""
    entries: dict[str, Value] = {}
    more = False
    for added in _kept(interp, "added", experiment):
        entries.update((str(key), value) for key, value in added.items.items()) if isinstance(added, Dict) else None
        more = more or not isinstance(added, Dict) or added.open
    for scope in _kept(interp, "scopes", experiment):
        if isinstance(scope, Func):
            entries.update(_of_scope(interp, scope))
    config = {name: _as_flag(interp, name, value, event) for name, value in entries.items()}
    updates = event.argument(_UPDATES)
    if event.name != f"{_EXPERIMENT}.run_commandline" and isinstance(updates, Dict):
        config.update((str(key), value) for key, value in updates.items.items())
    if _SEED not in config:
        known = more and interp.knowledge.on_in_configs(_SEED)
        config[_SEED] = Unknown(name=_SEED) if known else _drawn(interp, event)
    return Dict(dict(config), more)


def _of_scope(interp: Interpreter, scope: Func) -> dict[str, Value]:
    """The local variables of a function that ``@experiment.config`` decorates."""
    if not isinstance(scope.node, f.Def):
        return {}
    inner = Frame(scope.closure.module, scope.closure, interp.path, scope)
    interp.entered.add(id(scope.node))
    interp.block(scope.node.body, inner)
    return {name: value for name, value in inner.vars.items() if not name.startswith("_")}


def _as_flag(interp: Interpreter, name: str, value: Value, event: Event) -> Value:
    """``with name=...`` gives an entry another value than its constant; what is made of others stays that."""
    if not isinstance(value, Const) or isinstance(value.value, (list, tuple)):
        return value
    return flag_value(interp, flag_of(name, value.value, event.location, spelled=name))


def _drawn(interp: Interpreter, event: Event) -> Value:
    """The seed that is given on the command line, else one that is drawn anew in each run."""
    drawn = Unknown(frozenset({"entropy"}), "", (event,), _SEED)
    argv = interp.command_line.argv
    if argv is not None:
        words = (word.partition(f"{_SEED}=") for word in argv)
        return next((Const(number(text)) for before, equals, text in words if equals and not before), drawn)
    flag = Flag(_SEED, f"`with {_SEED}=`", None, "value", event.location)
    absent = flag_test(flag, "none")
    return choose([(negate(absent), FlagValue(flag)), (absent, drawn)])


# -- runs ----------------------------------------------------------------------------------------------------------


def _add_config(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``experiment.add_config({...})``, ``add_config(lr=0.1)``, ``add_config("config.yaml")``."""
    if event.receiver is not None:
        given = dict[object, Value](event.kwargs) if not event.args else None
        _keep(interp, "added", event.receiver, event.args[0] if given is None else Dict(given, event.star))
    return None


def _start(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """Runs the main function of an experiment, or the command that the user gives in its place."""
    experiment = event.receiver
    if not isinstance(experiment, (Obj, Inst)):
        return None
    config = _configuration(interp, experiment, event)
    event.kwargs = {**event.kwargs, _SEED: config.items[_SEED]}
    interp.note(("experiment", "config", id(experiment)), config)
    commands = {one.name: one for one in _kept(interp, "commands", experiment) if isinstance(one, Func)}
    main = next((name for name, one in commands.items() if not _MAIN.isdisjoint(kind for _, kind in _roles(one))), None)
    named = _named(interp, event, main)
    commands = {named: commands[named]} if named in commands else commands
    flag = Flag(COMMAND, COMMAND, main, "value", event.location, main is None, tuple(commands))
    place = environment.place_of(event)
    for name, one in commands.items():
        run = partial(calls.call, interp, one, [], {}, frame, place)
        interp.under(flag_test(flag, "==", name) if len(commands) > 1 else True, run)
    return UNKNOWN


def _named(interp: Interpreter, event: Event, main: str | None) -> object:
    """The command that the program names, or the arguments that it is judged with do; else None."""
    if event.name.endswith((".run", ".run_command")):
        return plain(event.argument(_NAMED) or Const(main))
    argv = interp.command_line.argv
    return None if argv is None else next((word for word in argv if word.isidentifier() and word != "with"), main)


TRANSFER: dict[str, Transfer] = {
    f"{_EXPERIMENT}.add_config": _add_config, "sacred.Ingredient.add_config": _add_config,
    **{f"{_EXPERIMENT}.{name}": _start for name in ("run", "run_command", "run_commandline")},
}  # fmt: skip
