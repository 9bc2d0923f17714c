"""Calls outside the program whose result decides what the program does: environment, builtins, command line."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from d9mlint.model import Argument, Effect, Location
from d9mlint.python.domain.choices import choose
from d9mlint.python.domain.conditions import Flag, flag_test, negate
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.path import Path
from d9mlint.python.domain.taint import ARRAY, NUMBERS, taint, text_of
from d9mlint.python.domain.values import (
    NONE,
    UNKNOWN,
    Const,
    Dict,
    FlagValue,
    Inst,
    Module,
    Obj,
    Ref,
    Seq,
    Unknown,
    Value,
    alternatives,
)
from d9mlint.python.interpreter.hooks import Transfer, ask
from d9mlint.python.interpreter.library import streams
from d9mlint.python.interpreter.program import holds
from d9mlint.python.source import dotenv
from d9mlint.python.source import facts as f
from d9mlint.python.source.filenames import folder
from d9mlint.python.source.reading import CannotRead

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

HOLDER = "absl.flags.FlagHolder"
"""The type of what defines a flag of absl: ``SEED = flags.DEFINE_integer(...)``, read as ``SEED.value``."""
NAMESPACE = "argparse.Namespace"
PROCESS = "process"
"""The context of what runs in a copy of the process (``fork``), by the start method that the catalogue supposes."""
NAMED_PROCESS = "process "
"""How the context of a process begins that is told apart from others by its name."""
SPAWNED = "spawned"
"""The context of what runs in a process with an interpreter of its own, which no seed of its parent reaches."""
PICKLED = "pickled"
"""Besides, that of what such a process is handed by value: the file that the program starts with is not run there."""
_START_METHOD = ("multiprocessing.set_start_method",)
_CONTEXT = "multiprocessing.Context."
"""Methods of what ``multiprocessing.get_context(method)`` returns; it starts processes by its own method."""
_MP_CONTEXT = Argument(1, "mp_context")
_SET_BY_OTHERS = ("PYTHONHASHSEED", "PL_GLOBAL_SEED")
MAX_SOURCES = 8
"""Events that a value remembers having come from."""


# -- environment ---------------------------------------------------------------------------------------------------


def place_of(event: Event) -> tuple[int, int, int, int]:
    """The place of an event in its file."""
    loc = event.location
    return (loc.line, loc.column, loc.end_line, loc.end_column)


def bound(event: Event) -> tuple[Value | None, list[Value]]:
    """What a method is bound to and what it is given: ``super().forward(x)``, ``Base.forward(self, x)``."""
    args = list(event.args)
    is_bound = isinstance(event.receiver, (Inst, Obj)) or not args
    return (event.receiver, args) if is_bound else (args[0], args[1:])


def first(event: Event, index: int = 0) -> Value:
    """A positional argument, Unknown where it is absent."""
    return event.args[index] if index < len(event.args) else UNKNOWN


def _getenv(interp: Interpreter, event: Event, frame: Frame) -> Value:
    name = first(event)
    known = interp.variable(str(name.value)) if isinstance(name, Const) else None
    if known is not None:
        return interp.resolve(known)
    if isinstance(name, Const) and (own := seed_variable(str(name.value))) is not None:
        default = event.args[1] if len(event.args) > 1 else event.kwargs.get("default", NONE)
        if not isinstance(default, Const):
            missing = flag_test(own, "none")
            return choose([(negate(missing), FlagValue(own)), (missing, default)])
        if not default.value:  # (with a seed for a default there is always one)
            return FlagValue(own._replace(default=default.value))
    return Unknown(frozenset({"env"}), name=f"${name.value}" if isinstance(name, Const) else "")


def seed_variable(name: str) -> Flag | None:
    """A variable by which the user gives a seed, which is as good as a flag; None for those that others set.

    (Python reads PYTHONHASHSEED itself, Lightning sets PL_GLOBAL_SEED: lightning/fabric/utilities/seed.py.)
    """
    if "SEED" not in name.upper() or name in _SET_BY_OTHERS:
        return None
    return Flag(f"${name}", f"the environment variable {name}", None, "value", Location("", 1, 1, 1, 1))


def _setenv(interp: Interpreter, event: Event, frame: Frame) -> Value:
    interp.set_environment(first(event), first(event, 1), frame, place_of(event))
    return first(event, 1)


def set_default(interp: Interpreter, name: str, value: Value, frame: Frame, place: f.Place) -> None:
    """Sets a variable of the environment where it is not set."""
    for cond, known in alternatives(UNKNOWN if (set_to := interp.variable(name)) is None else set_to):
        if known is UNKNOWN:  # what is set to something unknown has a name
            interp.under(cond, partial(interp.set_environment, Const(name), value, frame, place))


def _setdefault(interp: Interpreter, event: Event, frame: Frame) -> Value:
    name = first(event)
    if isinstance(name, Const) and isinstance(name.value, str):
        set_default(interp, name.value, first(event, 1), frame, place_of(event))
    return _getenv(interp, event, frame)


def _update_environment(interp: Interpreter, event: Event, frame: Frame) -> Value:
    items = {k: v for a in event.args if isinstance(a, Dict) for k, v in a.items.items()} | event.kwargs
    for name, value in items.items():
        interp.set_environment(Const(name), value, frame, place_of(event))
    return NONE


def _drop_environment(interp: Interpreter, event: Event, frame: Frame) -> Value:
    name = first(event)
    if isinstance(name, Const):
        interp.heap.drop(interp.environment, str(name.value))
    return UNKNOWN


# python-dotenv 1.2 (dotenv/main.py): find_dotenv looks in the folder of the file that calls it and in those above,
# load_dotenv leaves alone what is set, unless `override`.


def _load_dotenv(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    given = event.args[0] if event.args else event.kwargs.get("dotenv_path")
    if "stream" in event.kwargs or len(event.args) > 1:
        return None
    path = _nearest(interp, frame, ".env") if given is None else _dotenv_at(interp, frame, given)
    override = event.kwargs.get("override")
    if path is None or not (override is None or isinstance(override, Const)):
        return None
    inside = Frame(Module("environment", path, None), None, Path())
    text = (interp.project.data(path) or b"")[: dotenv.MAX_BYTES].decode("utf-8", "replace")
    for name, value, place in dotenv.variables(text):
        new = Unknown(name=f"${name}") if value is None else Const(value)
        if isinstance(override, Const) and override.value:
            interp.set_environment(Const(name), new, inside, place)
        else:
            set_default(interp, name, new, inside, place)
    return None


def _find_dotenv(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    given = event.args[0] if event.args else event.kwargs.get("filename", Const(".env"))
    found = _nearest(interp, frame, given.value) if isinstance(given, Const) and isinstance(given.value, str) else None
    return None if found is None else Const(found)


def _dotenv_at(interp: Interpreter, frame: Frame, given: Value) -> str | None:
    """The file of a path that is known: relative to where the program is started, which may be any folder above it."""
    if not isinstance(given, Const) or not isinstance(given.value, str) or given.value.startswith("/"):
        return None
    return _nearest(interp, frame, given.value) if given.value else None


def _nearest(interp: Interpreter, frame: Frame, name: str) -> str | None:
    """The file of a name beside the one that asks, or in a folder above it."""
    at = folder(frame.module.path)
    while True:
        for path in dict.fromkeys((posixpath.normpath(posixpath.join(at, name)), posixpath.normpath(name))):
            try:
                if interp.project.data(path) is not None:
                    return path
            except CannotRead:
                return None
        if not at or at == "/":
            return None
        at = folder(at)


_INTS = "ints"
"""What a call returns, as the catalogue says it, that gives a list of integers."""
_NUMBERS = "numbers"
"""The same of a call that gives arrays, or lists, of numbers."""
_ITSELF = ("own",)
"""What a generator that is an object draws from: what it gives differs only where that has no seed."""
_CAST = ".astype"
"""A method that may make text of numbers, unless it is told a type of numbers: ``int``, ``np.float32``, ``"int64"``."""
_NUMERIC_TYPE = re.compile(r"(.*\.)?(bool|complex|u?int|b?float)(\d+|_)?")
_SCALAR = ".item"
"""A method that gives the one number of an array; of what a call has just loaded it may be anything."""
_ORDERLESS = (".max", ".min", ".any", ".all")
_NAME = "name"
_PATH_OF, _MOST_FOLDERS = "os.path.join", 4
_PARSER = "argparse.ArgumentParser"
_ADDS = "add_"
"""How names of functions begin that add their flags to a parser and hand it back: ``add_config_arguments(parser)``."""


# -- results and escapes -------------------------------------------------------------------------------------------


def _makes_another(event: Event, effect: Effect) -> bool:
    """Whether an effect that says what a call gives, and does nothing else, is one of calls with other arguments."""
    does = effect.draws or effect.creates or effect.seeds or effect.varies or effect.trains or effect.invokes
    return not does and bool(effect.when) and holds(event, effect.when) is False


def result_of(interp: Interpreter, event: Event) -> Value:
    """What an outside call returns."""
    symbolic = event.name.startswith(interp.hooks.symbolic)  # (it may be a node of a graph, whatever it begins with)
    given = (value for key, value in event.kwargs.items() if not (symbolic and key == _NAME))
    origins, order, sources = taint([*event.args, *given])
    origins -= NUMBERS
    returns = ""
    kept = False
    for effect in event.effects:
        if not effect.opens or streams.for_writing(event, effect):
            returns = returns or ("" if _makes_another(event, effect) else effect.returns)
        if effect.draws and not symbolic:
            origins |= {"random"} if effect.draws != _ITSELF else frozenset()
            sources = (*sources[-MAX_SOURCES:], event)
        if effect.origin == "fixed" or effect.shapes:
            origins, sources = frozenset(), ()
        elif effect.origin == "contents" or (effect.opens and not streams.for_writing(event, effect)):
            origins = frozenset()  # what is in a file is the same, whatever its name is made of
        elif effect.origin:
            origins, sources = origins | {effect.origin}, (*sources, event)
        if effect.order == "sorted":
            order, sources = "", ()
        elif effect.order == "kept":
            kept = True
        elif effect.order:
            order, sources, kept = effect.order, (event,), True
    receiver = event.receiver
    if receiver is not None:
        inherited = taint([receiver])
        origins, sources = origins | inherited[0], (*sources, *inherited[2])
        if event.name.startswith("?."):
            order = order or inherited[1]
        elif not returns and isinstance(receiver, Obj) and receiver.order and _keeps_items(interp, event):
            return Unknown(origins | {ARRAY}, receiver.order, sources)
    if returns == "self":
        return receiver if receiver is not None else UNKNOWN
    if returns in ("argument", "arguments"):
        alone = returns == "argument" or len(event.args) == 1
        return first(event) if alone else Seq("tuple", list(event.args))
    if returns == _INTS:
        return Seq("list", None, Unknown(frozenset({"int"})))
    if order and kept:
        return Seq("list", None, Unknown(origins, "", sources), order, sources)
    numbers = receiver is not None and event.name.endswith(interp.hooks.numeric)
    if returns == _NUMBERS:
        origins |= {ARRAY}
    elif returns:
        return Obj(returns, event, origins | {ARRAY} if numbers else origins)
    made = ask(interp.hooks.result, event, origins)
    if made is not None:
        return made  # type: ignore[no-any-return]
    if not event.effects and event.name.rpartition(".")[2].startswith(_ADDS) and _is_parser(first(event)):
        return first(event)
    if numbers:
        return Unknown(origins | {ARRAY}, order if kept else "", sources)
    if event.name.endswith(_SCALAR) and "()" not in event.name and not event.args:
        return Unknown(origins | {"int"}, order if kept else "", sources)
    if event.name.endswith(_CAST) and not _names_numbers(event.args[0] if event.args else event.kwargs.get("dtype")):
        origins -= {ARRAY}
    if event.name.startswith(("?.", "builtins.")) or (origins - {ARRAY} and not symbolic):
        if event.name == _PATH_OF and event.args and not order:
            return _joined(event.args)
        return Unknown(origins, order if kept else "", sources)
    drawn = any(effect.draws == _ITSELF for effect in event.effects)
    return Obj(f"{event.name}()", event, origins, "", (event,) if drawn else ())


def _joined(args: Sequence[Value]) -> Value:
    """A path in a folder that may be one of several, where one of them is of this run alone: each is told apart."""
    several = alternatives(args[0])
    names = [part for one in args[1:] for part in (Const("/"), one)]
    if not 1 < len(several) <= _MOST_FOLDERS:
        return text_of([args[0], *names], path=True)
    return choose([(cond, text_of([leaf, *names], path=True)) for cond, leaf in several])


def _keeps_items(interp: Interpreter, event: Event) -> bool:
    """Whether a method of an array gives what has its order, or was computed in that: all but extremes and tests."""
    return event.name.startswith(interp.hooks.arrays) and not event.name.endswith(_ORDERLESS)


def _names_numbers(value: Value | None) -> bool:
    """Whether a value is a type of numbers, or its name."""
    name = value.name if isinstance(value, Ref) else value.value if isinstance(value, Const) else None
    return isinstance(name, str) and _NUMERIC_TYPE.fullmatch(name) is not None


def _is_parser(value: Value | None) -> bool:
    return isinstance(value, Obj) and value.type == _PARSER


def escape(interp: Interpreter, value: Value) -> None:
    """Parsed arguments handed to something unknown: any flag may be read there."""
    for _, leaf in alternatives(value):
        parsed = leaf.type in (NAMESPACE, HOLDER) if isinstance(leaf, Obj) else False
        if parsed or (isinstance(leaf, Ref) and leaf.name == "absl.flags.FLAGS"):
            interp.note("flags-escape")


def invocation_context(interp: Interpreter, event: Event, context: str) -> str:
    """The context in which a call runs a function that it is handed; ``context`` is what the catalogue says."""
    context = ask(interp.hooks.invocation_context, event, context) or context
    made = _context_of(event) if context == PROCESS else None
    if made is not None:
        return SPAWNED if _starts_afresh(made) else context
    if context == PROCESS and any(_starts_afresh(e) for e in interp.story.calls(*_START_METHOD)):
        return SPAWNED
    return context


def _context_of(event: Event) -> Event | None:
    """The call of ``get_context`` that says how the processes start which a call starts, or whose pool it gives a task.

    ``get_context("spawn").Pool(4).map(...)``, ``ProcessPoolExecutor(mp_context=get_context("spawn")).submit(...)``.
    """
    made = event.receiver.event if isinstance(event.receiver, Obj) else None
    if event.name.startswith(_CONTEXT):
        return made
    if made is not None and made.name.startswith(_CONTEXT):
        return made.receiver.event if isinstance(made.receiver, Obj) else None
    return _given_context(event if made is None else made)


def _given_context(event: Event) -> Event | None:
    given = event.argument(_MP_CONTEXT) if event.name.endswith(".ProcessPoolExecutor") else None
    return given.event if isinstance(given, Obj) else None


def _starts_afresh(event: Event) -> bool:
    method = event.args[0] if event.args else event.kwargs.get("method")
    return isinstance(method, Const) and method.value in ("spawn", "forkserver")


def _parser(method: str) -> Transfer:
    def run(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
        if method != "define":  # parsers keep what they are told for themselves
            interp.linker.differs()
        return getattr(interp.command_line, method)(interp, event, frame)  # type: ignore[no-any-return]

    return run


TRANSFER: dict[str, Transfer] = {
    "os.getenv": _getenv, "os.environ.get": _getenv, "os.environ.pop": _drop_environment,
    "os.unsetenv": _drop_environment, "os.putenv": _setenv, "os.environ.setdefault": _setdefault,
    "dotenv.load_dotenv": _load_dotenv, "dotenv.main.load_dotenv": _load_dotenv,
    "dotenv.find_dotenv": _find_dotenv, "dotenv.main.find_dotenv": _find_dotenv,
    "os.environ.__setitem__": _setenv, "os.environ.update": _update_environment,
    "argparse.ArgumentParser": _parser("make_parser"),
    "optparse.OptionParser": _parser("make_parser"), "optparse.OptionGroup": _parser("group"),
    "argparse.ArgumentParser.add_option_group": _parser("group"),
    "argparse.ArgumentParser.add_argument": _parser("add_argument"),
    "argparse.ArgumentParser.add_argument_group": _parser("group"),
    "argparse.ArgumentParser.add_mutually_exclusive_group": _parser("group"),
    "argparse.ArgumentParser.add_subparsers": _parser("add_subparsers"),
    "argparse._SubParsersAction.add_parser": _parser("add_parser"),
    "argparse.ArgumentParser.set_defaults": _parser("set_defaults"),
    "argparse.ArgumentParser.parse_args": _parser("parse"),
    "argparse.ArgumentParser.parse_known_args": _parser("parse_known"),
    "absl.flags.DEFINE_integer": _parser("define"), "absl.flags.DEFINE_string": _parser("define"),
    "absl.flags.DEFINE_bool": _parser("define"), "absl.flags.DEFINE_boolean": _parser("define"),
    "absl.flags.DEFINE_float": _parser("define"), "absl.flags.DEFINE_enum": _parser("define"),
}  # fmt: skip
