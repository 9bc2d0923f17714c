"""Modules that give names when they are asked for: those behind ``if TYPE_CHECKING:``, and those of ``__getattr__``.

A package that imports its parts when they are used tells type checkers so where they are, and puts something else in
its place or finds them by the same names (docs.python.org/3/reference/datamodel.html, "Customizing module attribute
access").
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from d9mlint.python.domain.events import Frame
from d9mlint.python.domain.values import Class, Const, Dynamic, Func, Module, Value
from d9mlint.python.interpreter import calls, linking
from d9mlint.python.source import facts as f
from d9mlint.python.source.reading import CannotRead

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_CHECKING = "TYPE_CHECKING"
_GETTER, _REPLACED = "__getattr__", b"sys.modules[__name__]"


def given(interp: Interpreter, module: Module, name: str, frame: Frame, place: f.Place) -> Value | None:
    """What a module gives for a name that it has not bound; None where it is not known to give anything."""
    data = interp.project.peek(module.path) or b""
    if module.frame is None or name.encode() not in data:
        return None
    if _CHECKING.encode() in data and (node := _import_of(interp, module, name)) is not None:
        source = next(of for of, alias in node.names if alias == name)
        inside = linking.import_module(interp, node.module, node.level, module.frame, node.place)
        return linking.member(interp, inside, source, module.frame, node.place)
    getter = module.frame.vars.get(_GETTER)
    if isinstance(getter, Func):
        found = calls.call(interp, getter, [Const(name)], {}, frame, place)
        if isinstance(found, (Class, Func, Module)):
            return found
    lazy = getter is not None or _REPLACED in data
    return (
        Dynamic(f"the module `{module.name}` finds it when it is asked for", name=f"{module.name}.{name}")
        if lazy
        else None
    )


def _import_of(interp: Interpreter, module: Module, name: str) -> f.ImportFrom | None:
    """The import of a name that only type checkers run."""
    try:
        facts = interp.project.facts(module.path)
    except CannotRead:
        return None
    tests = (node for node in facts.body if isinstance(node, f.If) and _is_checking(node.test)) if facts else ()
    imports = (one for test in tests for one in _imports(test.body))
    return next((one for one in imports if any(alias == name for _, alias in one.names)), None)


def _is_checking(test: f.Expr) -> bool:
    return (isinstance(test, f.Name) and test.id == _CHECKING) or (isinstance(test, f.Attr) and test.name == _CHECKING)


def _imports(body: Sequence[f.Stmt]) -> Iterator[f.ImportFrom]:
    """The imports in a body, also those for which it asks whether a package is there."""
    for node in body:
        if isinstance(node, f.ImportFrom):
            yield node
        elif isinstance(node, (f.If, f.Try)):
            yield from _imports((*node.body, *node.orelse))
