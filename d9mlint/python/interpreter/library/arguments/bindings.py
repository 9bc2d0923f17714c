"""Parameters that bindings of gin give (github.com/google/gin-config): a ``.gin`` file or ``--gin_bindings`` may give
each parameter of what is ``@gin.configurable`` another value than its default."""

from __future__ import annotations

from typing import TYPE_CHECKING

from d9mlint.model import Location
from d9mlint.python.domain.values import Class, Const, Func, Obj, Ref, Seq, Value
from d9mlint.python.interpreter.library.arguments.flags import flag_of, flag_value

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
    holders = [made.defaults] if isinstance(made, Func) else [made.frame.vars]
    constructor = made.frame.vars.get("__init__") if isinstance(made, Class) else None
    if isinstance(constructor, Func):
        holders = [constructor.defaults]
    at = Location((made.closure if isinstance(made, Func) else made.frame).module.path, *made.node.place)
    for defaults in holders:
        for name, value in list(defaults.items()):
            if not isinstance(value, Const) or not isinstance(value.value, _SCALARS) or name.startswith("_"):
                continue
            if name in denied or (allowed and name not in allowed):
                continue
            bound = f"{shown}.{name}"
            defaults[name] = flag_value(interp, flag_of(bound, value.value, at, spelled=f"gin's {bound}"))


def _listed(given: dict[str, Value], keys: tuple[str, ...]) -> frozenset[str]:
    """The names in a list of parameters that may, or may not, be bound."""
    lists = (one for key in keys if isinstance(one := given.get(key), Seq))
    return frozenset(item.value for one in lists for item in one.items or () if isinstance(item, Const))
