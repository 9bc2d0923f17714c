"""Named tuples that ``collections.namedtuple`` and ``typing.NamedTuple`` make: their fields, by name and in order."""

from __future__ import annotations

from typing import TYPE_CHECKING

from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.reflected import Fields
from d9mlint.python.domain.values import Const, Dict, Obj, Seq, Unknown, Value
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import environment

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_MAKERS = ("collections.namedtuple", "typing.NamedTuple")
_FIELDS = "_fields"
_DEFAULTS = "_field_defaults"


def _class(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``namedtuple("Point", "x y", defaults=[0])``; None where the names are not known."""
    given = event.args[1] if len(event.args) > 1 else event.kwargs.get("field_names", event.kwargs.get("fields"))
    names = _names(given)
    if not names or event.star:
        return None
    made = Obj(f"{event.name}()", event)
    made.attrs[_FIELDS] = Seq("tuple", [Const(name) for name in names])
    defaults = event.kwargs.get("defaults")
    values = defaults.items or [] if isinstance(defaults, Seq) else []
    made.attrs[_DEFAULTS] = Dict(dict(zip(names[len(names) - len(values) :], values, strict=False)))
    return made


def _names_of(cls: Value | None) -> list[str]:
    """The names of the fields of a class that a call has made."""
    return _names(cls.attrs.get(_FIELDS)) if isinstance(cls, Obj) else []


def _held(event: Event) -> dict[str, Value] | None:
    """What the named tuple holds whose method is called, by name."""
    held = event.receiver
    if not isinstance(held, Fields) or held.items is None:
        return None
    return dict(zip(held.names, held.items, strict=True))


def _names(given: Value | None) -> list[str]:
    """``"x y"``, ``"x, y"``, ``["x", "y"]``, ``[("x", int), ("y", int)]``."""
    if isinstance(given, Const) and isinstance(given.value, str):
        return given.value.replace(",", " ").split()
    items = given.items if isinstance(given, Seq) and given.items else []
    firsts = [one.items[0] if isinstance(one, Seq) and one.items else one for one in items]
    names = [one.value for one in firsts if isinstance(one, Const) and isinstance(one.value, str)]
    return names if len(names) == len(items) else []


def _instance(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``Point(1, y=2)``; None where arguments are unpacked from something unknown."""
    cls = event.receiver
    names = _names_of(cls)
    if not names or event.star or len(event.args) > len(names):
        return None
    defaults = cls.attrs.get(_DEFAULTS) if isinstance(cls, Obj) else None
    fields: dict[str, Value] = {name: Unknown(name=name) for name in names}
    fields.update(defaults.items if isinstance(defaults, Dict) else {})
    fields.update(zip(names, event.args, strict=False))
    fields.update((name, value) for name, value in event.kwargs.items() if name in fields)
    return Fields(fields)


def _replace(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``point._replace(x=3)``."""
    held = _held(event)
    return None if held is None else Fields({**held, **event.kwargs})


def _as_dict(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``point._asdict()``."""
    held = _held(event)
    return None if held is None else Dict({**held})


def _make(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``Point._make(values)``."""
    given = environment.first(event)
    names = _names_of(event.receiver)
    if not isinstance(given, Seq) or given.items is None or len(given.items) != len(names):
        return None
    return Fields(dict(zip(names, given.items, strict=True)))


TRANSFER: dict[str, Transfer] = {
    **dict.fromkeys(_MAKERS, _class), **{f"{maker}().__call__": _instance for maker in _MAKERS},
    **{f"{maker}()._make": _make for maker in _MAKERS},
    "builtins.tuple._replace": _replace, "builtins.tuple._asdict": _as_dict,
}  # fmt: skip
