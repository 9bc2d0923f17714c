"""Parameters that bindings of gin give (github.com/google/gin-config): a ``.gin`` file or ``--gin_bindings`` may give
each parameter of what is ``@gin.configurable`` another value than its default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from d9mlint.model import Location
from d9mlint.python.domain.values import Class, Const, Func, Obj, Ref, Seq, Value
from d9mlint.python.interpreter.library.arguments.flags import flag_of, flag_value
from d9mlint.python.interpreter.library.containers import fields

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_CONFIGURABLE = frozenset(
    f"{module}.{name}" for module in ("gin", "gin.config") for name in ("configurable", "register")
)
_NAME, _ALLOW, _DENY = "name", ("allowlist", "whitelist"), ("denylist", "blacklist")
_SCALARS = (bool, int, float, str, type(None))


def register(interp: Interpreter, made: Func | Class) -> None:
    """Makes settings of the defaults of a function or class that a decorator makes configurable."""
    for decorator in made.decorators:
        event = decorator.event if isinstance(decorator, Obj) else None
        name = event.name if event is not None else decorator.name if isinstance(decorator, Ref) else ""
        if interp.knowledge.canonical(name) not in _CONFIGURABLE:
            continue
        given = {} if event is None else {**dict(zip((_NAME,), event.args, strict=False)), **event.kwargs}
        _open(interp, made, given)


def _open(interp: Interpreter, made: Func | Class, given: dict[str, Value]) -> None:
    own = given.get(_NAME)
    shown = own.value if isinstance(own, Const) and isinstance(own.value, str) else getattr(made.node, "name", "")
    allowed, denied = _listed(given, _ALLOW), _listed(given, _DENY)
    at = Location((made.closure if isinstance(made, Func) else made.frame).module.path, *made.node.place)
    defaults, names = _bindable(made)
    for name in names:
        value = defaults.get(name)
        if not isinstance(value, Const) or not isinstance(value.value, _SCALARS):
            continue
        if name not in denied and (not allowed or name in allowed):
            bound = f"{shown}.{name}"
            defaults[name] = flag_value(interp, flag_of(bound, value.value, at, spelled=f"gin's {bound}"))


def _bindable(made: Func | Class) -> tuple[dict[str, Value], tuple[str, ...]]:
    """Where the defaults of a function, a constructor or a dataclass stand, and their names."""
    constructor = made.frame.vars.get("__init__") if isinstance(made, Class) else made
    if isinstance(made, Class) and not isinstance(constructor, Func):
        return made.frame.vars, tuple(name for _, name, *_ in fields.of_class(made))
    defaults = constructor.defaults if isinstance(constructor, Func) else {}
    return defaults, tuple(defaults)


def _listed(given: dict[str, Value], keys: tuple[str, ...]) -> frozenset[str]:
    """The names in a list of parameters that may, or may not, be bound."""
    lists = (one for key in keys if isinstance(one := given.get(key), Seq))
    return frozenset(item.value for one in lists for item in one.items or () if isinstance(item, Const))
