"""Parameters that bindings of gin give (github.com/google/gin-config): a ``.gin`` file or ``--gin_bindings`` may give
each parameter of what is ``@gin.configurable`` another value than its default."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from d9mlint.model import Location
from d9mlint.python.domain.choices import choose
from d9mlint.python.domain.conditions import UNKNOWN_DEFAULT, Flag, either, flag_test, negate
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import (
    UNKNOWN,
    Class,
    Const,
    Dict,
    FlagValue,
    Func,
    Inst,
    Obj,
    Ref,
    Seq,
    Value,
)
from d9mlint.python.interpreter import calls
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library.arguments import shipped
from d9mlint.python.interpreter.library.arguments.flags import flag_of, flag_value
from d9mlint.python.interpreter.library.containers import fields
from d9mlint.python.source import facts as f
from d9mlint.python.source import ginfiles

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_MODULES = ("gin", "gin.config")
_CALLS = tuple(f"{one}.{name}" for one in _MODULES for name in ("configurable", "register", "external_configurable"))
_CONFIGURABLE = frozenset(_CALLS)
_REQUIRED = frozenset(f"{module}.REQUIRED" for module in _MODULES)
_NAME, _ALLOW, _DENY = "name", ("allowlist", "whitelist"), ("denylist", "blacklist")
_SCALARS = (bool, int, float, str, type(None))
_NAMED, _SHOWN = "gin-named", "gin-shown"
"""What is remembered of what is configurable: the thing by its name, and its name by the node that defines it."""
READ = "gin-read"
"""What is remembered where the program has read a file, or a text, by now."""
_MOST, _MOST_LEVELS = 8, 8
"""Different values of one parameter that are told apart, and how deep lists and macros in them go."""


# -- what is configurable ------------------------------------------------------------------------------------------


def register(interp: Interpreter, made: Func | Class) -> None:
    """Makes settings of the defaults of a function or class that a decorator makes configurable."""
    for decorator in made.decorators:
        event = decorator.event if isinstance(decorator, Obj) else None
        name = event.name if event is not None else decorator.name if isinstance(decorator, Ref) else ""
        if interp.knowledge.canonical(name) not in _CONFIGURABLE:
            continue
        given = {} if event is None else {**dict(zip((_NAME,), event.args, strict=False)), **event.kwargs}
        _open(interp, made, given)


def _register(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``gin.configurable(Net, module=__name__)``, ``gin.external_configurable(tf.train.AdamOptimizer)``."""
    made = event.args[0] if event.args else None
    if isinstance(made, (Func, Class)):
        _open(interp, made, {**dict(zip((_NAME,), event.args[1:], strict=False)), **event.kwargs})
        return made
    if isinstance(made, Ref):
        interp.note((_NAMED, made.name.rpartition(".")[2]), made)
        return made
    return None


def _open(interp: Interpreter, made: Func | Class, given: dict[str, Value]) -> None:
    own = given.get(_NAME)
    shown = own.value if isinstance(own, Const) and isinstance(own.value, str) else getattr(made.node, "name", "")
    shown = shown.rpartition(".")[2]
    allowed, denied = _listed(given, _ALLOW), _listed(given, _DENY)
    at = _place(made)
    interp.note((_NAMED, shown), made)
    interp.note((_SHOWN, id(made.node)), shown)
    holder, defaults = _bindable(made)
    for name, value in defaults.items():
        if not isinstance(value, Const) or not isinstance(value.value, _SCALARS):
            continue
        if name not in denied and (not allowed or name in allowed):
            bound = f"{shown}.{name}"
            setting = flag_value(interp, flag_of(bound, value.value, at, spelled=f"gin's {bound}"))
            interp.heap.set_default(holder, name, setting)


def _place(made: Func | Class) -> Location:
    return Location((made.closure if isinstance(made, Func) else made.frame).module.path, *made.node.place)


def _bindable(made: Func | Class) -> tuple[Func | Frame, dict[str, Value]]:
    """What holds the defaults of a function, a constructor or a dataclass, and these."""
    func = made.frame.vars.get("__init__") if isinstance(made, Class) else made
    if isinstance(func, Func):
        return func, dict(func.defaults)
    frame = made.frame if isinstance(made, Class) else made.closure
    names = [name for _, name, *_ in fields.of_class(made)] if isinstance(made, Class) else []
    return frame, {name: frame.vars[name] for name in names if name in frame.vars}


def _listed(given: dict[str, Value], keys: tuple[str, ...]) -> frozenset[str]:
    """The names in a list of parameters that may, or may not, be bound."""
    lists = (one for key in keys if isinstance(one := given.get(key), Seq))
    return frozenset(item.value for one in lists for item in one.items or () if isinstance(item, Const))


# -- what files bind -----------------------------------------------------------------------------------------------


def given(
    interp: Interpreter, func: Func, made: Inst | None, args: Sequence[Value], kwargs: Mapping[str, Value],
    frame: Frame, place: f.Place,
) -> dict[str, Value]:  # fmt: skip
    """What the files bind to the parameters of a call that it leaves out, or hands ``gin.REQUIRED``."""
    known = interp.command_line.bindings
    owner = made.cls if made is not None else func
    name = interp.noted((_SHOWN, id(owner.node)))
    if name is None:
        return {}
    interp.linker.differs()  # (which program binds something to it is not the module's)
    bound = known.of(name)
    positional = [param.name for param in func.node.params if param.kind == "pos"][: len(args)]
    found: dict[str, Value] = {}
    for param in func.node.params:
        asked = _is_required(kwargs[param.name]) if param.name in kwargs else param.name not in positional
        if asked and param.name in bound:
            values = [known.plain(one) for one in bound[param.name]]
            flag = _flag(f"{name}.{param.name}", values, _place(owner))
            value = _bound(interp, func.defaults.get(param.name), values, flag, frame, place)
            if value is not None:
                found[param.name] = value
    return found


def _is_required(value: Value | None) -> bool:
    return isinstance(value, Ref) and value.name in _REQUIRED


def _flag(name: str, values: Sequence[Any], at: Location) -> Flag:
    """The setting by which files differ, with what they say as its values."""
    texts = tuple(map(_text, values))
    return Flag(name, f"gin's {name}", UNKNOWN_DEFAULT, "value", at, True, (), texts)


def _bound(
    interp: Interpreter, default: Value | None, values: Sequence[Any], flag: Flag, frame: Frame, place: f.Place
) -> Value | None:  # fmt: skip
    """What a parameter is, by which of the files is given; None where its default is a setting that says it already."""
    if isinstance(default, FlagValue) and all(isinstance(one, _SCALARS) for one in values):
        return None
    if all(isinstance(one, _SCALARS) for one in values):
        at, spelled = flag.location, flag.spelled
        one = flag_of(flag.name, values[0], at, spelled=spelled)
        return flag_value(interp, one if len(values) == 1 else shipped.differing(flag.name, tuple(values), at, spelled))
    tests = [flag_test(flag, "==", _text(one)) for one in values[:_MOST]]
    optional = default is not None and not _is_required(default) and not (
        isinstance(default, (Const, FlagValue)) and _of(default) is None
    )  # fmt: skip
    if len(values) == 1 and not optional:
        return _made(interp, values[0], frame, place, 0)
    options = [
        (test, interp.under(test, partial(_made, interp, one, frame, place, 0)) or UNKNOWN)
        for test, one in zip(tests, values, strict=False)
    ]
    rest = (negate(either(*tests)), default if optional and default is not None else UNKNOWN)
    return choose([*options, rest] if optional or len(values) > _MOST else options)


def _of(default: Const | FlagValue) -> Any:
    return default.value if isinstance(default, Const) else default.flag.default


def _made(interp: Interpreter, value: Any, frame: Frame, place: f.Place, level: int) -> Value:
    """What stands for a value in a file; what ``@name()`` makes is made anew, as gin does for each call."""
    if level > _MOST_LEVELS:
        return UNKNOWN
    again = partial(_made, interp, frame=frame, place=place, level=level + 1)
    if isinstance(value, ginfiles.Reference):
        target = interp.noted((_NAMED, value.name.rpartition("/")[2].rpartition(".")[2]))
        if target is None or not value.called:
            return target or UNKNOWN
        return calls.call(interp, target, [], {}, frame, place)
    if isinstance(value, ginfiles.Macro):
        found = interp.command_line.bindings.plain(value)
        return UNKNOWN if isinstance(found, ginfiles.Macro) else again(found)
    if isinstance(value, (list, tuple)):
        return Seq("tuple" if isinstance(value, tuple) else "list", [again(one) for one in value])
    if isinstance(value, dict):
        return Dict({key: again(one) for key, one in value.items()})
    return Const(value)


def _text(value: Any) -> str:
    """A value as it is written in a file."""
    if isinstance(value, ginfiles.Reference):
        return f"@{value.name}{'()' if value.called else ''}"
    return f"%{value.name}" if isinstance(value, ginfiles.Macro) else repr(value)


def _parse(interp: Interpreter, event: Event, frame: Frame) -> None:
    """``gin.parse_config_file(path)``: from here on what the files of the project bind may hold.

    ``gin.parse_config(text)``, ``gin.parse_config_files_and_bindings(paths, texts)``: so does what the program says.
    """
    known = interp.command_line.bindings
    interp.linker.differs()
    interp.note(READ)
    given = [value for key, value in event.kwargs.items() if key in ("bindings", "config_str", "bindings_str")]
    texts = [*(event.args if event.name.endswith(".parse_config") else event.args[1:]), *given]
    for value in texts:
        parts = value.items or () if isinstance(value, Seq) else (value,)
        for part in parts:
            if isinstance(part, Const) and isinstance(part.value, str):
                known.tell(part.value)
    if not event.name.endswith(".parse_config"):
        known.look(interp)


_PARSES = ("parse_config", "parse_config_file", "parse_config_files_and_bindings")
TRANSFER: dict[str, Transfer] = {
    **dict.fromkeys(_CALLS, _register),
    **{f"{module}.{name}": _parse for module in _MODULES for name in _PARSES},
}
