"""What ``add_argument`` is told: values of its arguments as plain Python."""

from __future__ import annotations

import argparse
from typing import Any

from d9mlint.python.domain.conditions import UNKNOWN_DEFAULT, Flag
from d9mlint.python.domain.values import Const, Ref, Seq, Value

NOT_KNOWN = object()
"""The default of a flag whose default is not known."""
_NAMED = {"argparse.REMAINDER": argparse.REMAINDER}
"""Constants by the names that programs give them."""


def for_argparse(options: dict[str, Any]) -> dict[str, Any]:
    """The keyword arguments with which a parser of our own reads the same flag."""
    allowed = {"action", "default", "type", "dest", "nargs", "choices", "const"}
    out = {k: v for k, v in options.items() if (k in allowed and v != UNKNOWN_DEFAULT) or k == "default"}
    if out.get("action") in ("store_true", "store_false", "count"):
        out = {k: v for k, v in out.items() if k in ("action", "default", "dest")}
    if out.get("default") == UNKNOWN_DEFAULT:
        out["default"] = NOT_KNOWN  # no text, so that argparse does not convert it
    if isinstance(out.get("type"), str):
        del out["type"]
    out.pop("choices", None)
    return out


def choices(given: Value | None, flag: Flag) -> tuple[Any, ...]:
    """The values that a flag can have; argparse does not hold a default to the choices."""
    if not isinstance(given, Seq) or given.items is None or not all(isinstance(one, Const) for one in given.items):
        return ()
    values = tuple(one.value for one in given.items if isinstance(one, Const))
    return values if flag.required or flag.default in values else ()


def plain(value: Value) -> Any:
    """The constant that a value is, else ``UNKNOWN_DEFAULT``."""
    if isinstance(value, Ref) and value.name in _NAMED:
        return _NAMED[value.name]
    return value.value if isinstance(value, Const) else UNKNOWN_DEFAULT


def default_of(value: Value) -> Any:
    """A default; a list of constants (for ``nargs``) as a tuple, which can be a part of a condition."""
    if isinstance(value, Seq) and value.kind in ("list", "tuple") and value.items is not None:
        parts = tuple(plain(item) for item in value.items)
        return UNKNOWN_DEFAULT if UNKNOWN_DEFAULT in parts else parts
    return plain(value)
