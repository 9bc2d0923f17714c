"""What modules, classes and objects of a program hold under their public, or all, names."""

from __future__ import annotations

from collections.abc import Iterable

from d9mlint.python.domain.values import Bound, Class, Func, Inst, Module, Ref, Value


def public(holder: Value, *, private: bool = False) -> dict[str, Value]:
    """What a module, class or object of the program holds by name of what can be picked out of it."""
    if isinstance(holder, Module):
        return _meant(holder, functions(holder, private=private))
    return {} if isinstance(holder, Ref) else methods(holder, private=private)


def methods(holder: Value, *, private: bool = False) -> dict[str, Value]:
    """The public, or all, methods of a class of the program, or of one of its objects."""
    cls = holder.cls if isinstance(holder, Inst) else holder
    found: dict[str, Func] = {}
    for current in reversed(list(cls.line())) if isinstance(cls, Class) else ():
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
