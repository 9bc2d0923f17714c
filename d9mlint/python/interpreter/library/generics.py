"""Classes that are given types between brackets: ``Collector[Stats](...)`` makes a ``Collector``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from d9mlint.python.domain.values import Class, Const, Func, Obj, Ref, Seq, Value
from d9mlint.python.interpreter import attributes
from d9mlint.python.interpreter.library import subclassing

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

ENUMS = frozenset({"enum.Enum", "enum.IntEnum", "enum.StrEnum", "enum.Flag", "enum.IntFlag"})
"""The classes whose subclasses have members: ``Split["TEST"]`` is one of them."""
UNION, ANNOTATED = "union", "annotated"
"""Kinds of what stands for one of several classes, and for a class with notes."""
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
    if isinstance(holder, Ref) and (one := _composed(holder, index)) is not None:
        return one
    return holder if isinstance(holder, Ref) and is_generic(holder) and _is_type(index) else None


def _composed(holder: Ref, index: Value) -> Value | None:
    """One of several classes of the program (``Union[Train, Show]``), a class with notes, and markers around these."""
    name = holder.name.rpartition(".")[2]
    if isinstance(index, Seq) and index.kind in (UNION, ANNOTATED):
        return index
    parts = index.items if isinstance(index, Seq) and index.items else []
    first = parts[0] if parts else None
    if name == "Annotated" and isinstance(first, Class):
        return Seq(ANNOTATED, list(parts))
    several = name == "Union" and len(parts) > 1
    return union(list(parts)) if several else None


def union(parts: Sequence[Value]) -> Seq | None:
    """One of several classes, which may have notes; None where something else is among them."""
    inner = [
        one for part in parts for one in (part.items or () if isinstance(part, Seq) and part.kind == UNION else [part])
    ]
    told = all(isinstance(one, Class) or (isinstance(one, Seq) and one.kind == ANNOTATED) for one in inner)
    return Seq(UNION, inner) if told else None


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
