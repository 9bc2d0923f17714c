"""Classes that are given types between brackets: ``Collector[Stats](...)`` makes a ``Collector``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from d9mlint.python.domain.values import Class, Const, Func, Obj, Ref, Seq, Value
from d9mlint.python.interpreter import attributes
from d9mlint.python.interpreter.library import subclassing

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

ENUMS = frozenset({"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"})
"""The classes whose subclasses have members: ``Split["TEST"]`` is one of them."""
_CONTAINERS = frozenset({
    "builtins.list", "builtins.dict", "builtins.set", "builtins.frozenset", "builtins.tuple", "builtins.type",
    "collections.deque", "collections.defaultdict",
})  # fmt: skip
"""Generic classes of Python whose names begin with a small letter (PEP 585)."""


def of_types(interp: Interpreter, holder: Value, index: Value) -> Value | None:
    """What ``holder[index]`` is where the holder is a class and the index are its parameters; else None.

    That is the class itself, whose alias it makes (docs.python.org/3/library/stdtypes.html, "Generic Alias Type").
    """
    if isinstance(holder, Class):
        if not ENUMS.isdisjoint(holder.external()):
            name = index.value if isinstance(index, Const) else None
            return attributes.class_attribute(interp, holder, name) if isinstance(name, str) else None
        return None if _has_items(interp, holder) else holder
    return holder if isinstance(holder, Ref) and is_generic(holder) and _is_type(index) else None


def is_generic(ref: Ref) -> bool:
    """Whether a name outside the program is one of a class that may take types; those of ``typing`` are no classes."""
    first, _, last = ref.name.rpartition(".")
    named = last[:1].isupper() and not last.isupper()
    return ref.name in _CONTAINERS or (named and first != "typing")


def _has_items(interp: Interpreter, cls: Class) -> bool:
    """Whether brackets after a class ask its metaclass, or a method of its own, for something else."""
    if isinstance(attributes.class_attribute(interp, cls, "__class_getitem__"), Func):
        return True
    return any(
        isinstance(meta, Class) and attributes.class_attribute(interp, meta, "__getitem__") is not None
        for meta in subclassing.metaclasses(interp, cls)
    )


def _is_type(index: Value) -> bool:
    """Whether what stands between brackets is a type, or several with one among them that is known."""
    if isinstance(index, Seq):
        return any(map(_is_type, index.items or ()))
    return isinstance(index, (Class, Ref)) or (isinstance(index, Obj) and index.type.startswith("typing."))
