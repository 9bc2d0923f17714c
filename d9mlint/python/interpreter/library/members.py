"""The members of modules, classes and objects of the program that a name may mean which is only known at run time.

What an object is given under such a name (``setattr(self, f"layer{i}", Layer())``) it holds under what is known of the
name, and gives where one like it is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING

from d9mlint.python.domain.choices import same
from d9mlint.python.domain.values import (
    CALLABLE,
    Bound,
    Class,
    Const,
    Dict,
    Func,
    Inst,
    Module,
    Obj,
    Ref,
    Text,
    Unknown,
    Value,
    alternatives,
)

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_HOLE = "*"
"""What stands for a part of a name that is not known; no name that a program writes has it."""


def public(holder: Value, *, private: bool = False) -> dict[str, Value]:
    """What a module, class or object of the program has under public, or all, names that can be called."""
    if isinstance(holder, Module):
        return _meant(holder, functions(holder, private=private))
    return {} if isinstance(holder, Ref) else methods(holder, private=private)


def holds_callables(table: Dict) -> bool:
    """Whether a dict is a table of functions or classes, or of modules that have them."""
    items = table.items.values()
    return any(isinstance(leaf, (*CALLABLE, Class, Module)) for item in items for _, leaf in alternatives(item))


def holds_objects(table: Dict) -> bool:
    """Whether a dict is a table of objects of the program, of whatever classes."""
    return all(isinstance(leaf, Inst) for item in table.items.values() for _, leaf in alternatives(item))


def methods(holder: Value, *, private: bool = False) -> dict[str, Value]:
    """The public, or all, methods of a class of the program, or of one of its objects."""
    cls = holder.cls if isinstance(holder, Inst) else holder
    found: dict[str, Func] = {}
    for current in reversed(cls.line()) if isinstance(cls, Class) else ():
        named = _public(current.frame.vars.items(), private)
        found.update((name, value) for name, value in named if isinstance(value, Func))
    return {name: Bound(value, holder) if isinstance(holder, Inst) else value for name, value in found.items()}


def functions(module: Module, *, private: bool = False) -> dict[str, Value]:
    """The functions and classes of the program that stand in a module under public, or all, names."""
    names = module.frame.vars if module.frame is not None else {}
    return {name: value for name, value in _public(names.items(), private) if isinstance(value, (Func, Class))}


def _meant(module: Module, found: dict[str, Value]) -> dict[str, Value]:
    """Without the functions that a module has imported for its own use; a package imports for others."""
    own: dict[str, Value] = {
        name: one for name, one in found.items()
        if isinstance(one, Class) or (isinstance(one, Func) and one.closure.module is module)
    }  # fmt: skip
    return found if module.path.endswith("__init__.py") else own or found


def _public(items: Iterable[tuple[str, Value]], private: bool) -> list[tuple[str, Value]]:
    return [(name, value) for name, value in items if private or not name.startswith("_")]


# -- names that are only known at run time ---------------------------------------------------------------------------


def hole_of(name: Text) -> Value | None:
    """The one thing in a text that is not known."""
    holes = [part for part in name.parts if not isinstance(part, Const)]
    return holes[0] if holes and all(part is holes[0] or same(part, holes[0]) for part in holes) else None


def fitting(interp: Interpreter, holder: Value, name: Text) -> dict[str, Value]:
    """The members whose names a text can make, by what fills its hole: ``globals()["_augment_" + kind]``."""
    known = [re.escape(str(part.value)) if isinstance(part, Const) else None for part in name.parts]
    first = known.index(None)
    pattern = re.compile(
        "".join((r"(\w*)" if at == first else r"\1") if p is None else p for at, p in enumerate(known))
    )
    its = {**public(holder, private=True), **_own(interp, holder)}
    found = {hit[1]: value for key, value in its.items() if (hit := pattern.fullmatch(key))}
    return {text: value for text, value in found.items() if first or not text.startswith("_")}


def _own(interp: Interpreter, holder: Value) -> dict[str, Value]:
    """The functions and objects that an object holds itself."""
    if not isinstance(holder, Inst):
        return {}
    for name, value in holder.attrs.items():
        interp.heap.read(holder, name, value)
    return {name: value for name, value in holder.attrs.items() if _is_thing(value)}


def _is_thing(value: Value) -> bool:
    return any(isinstance(leaf, (*CALLABLE, Class, Inst, Obj)) for _, leaf in alternatives(value))


def keep(interp: Interpreter, holder: Inst, name: Value, value: Value) -> None:
    """``setattr(holder, name, value)`` under a name that is not known: one value stands for all under such names."""
    if _is_thing(value) and (pattern := _pattern(name)):
        interp.heap.set(holder, pattern, True, value)


def kept(interp: Interpreter, holder: Inst, name: Value | str) -> Value | None:
    """What an object was given under names that were not known, of which this may be one; None where it was not."""
    wanted = name if isinstance(name, str) else _pattern(name)
    if wanted in holder.attrs:
        interp.heap.read(holder, wanted, holder.attrs[wanted])
        return interp.resolve(holder.attrs[wanted])
    for pattern, value in holder.attrs.items():
        if _HOLE in pattern and len(pattern) > 1 and re.fullmatch(re.escape(pattern).replace(r"\*", r"\w+"), wanted):
            interp.heap.read(holder, pattern, value)
            return interp.resolve(value)
    return None


def _pattern(name: Value) -> str:
    """What is known of a name, with a mark for each part that is not; empty where it is no name."""
    if isinstance(name, Text):
        return "".join(str(part.value) if isinstance(part, Const) else _HOLE for part in name.parts)
    return _HOLE if isinstance(name, Unknown) else ""
