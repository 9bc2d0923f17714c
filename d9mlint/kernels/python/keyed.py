"""Things that a function of the project keeps in a dictionary under a name, and the calls that take them out again.

``keep("blur", kernel)`` of ``def keep(name, kernel): KEPT[name] = kernel`` is met where ``taken("blur")`` of
``def taken(name): return KEPT[name]`` is called.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from d9mlint.kernels.python.calls import literal
from d9mlint.kernels.python.entities import Entity, entity_of, kernels_made
from d9mlint.kernels.python.files import PyFile, PyFiles
from d9mlint.kernels.python.registered import arguments, definition
from d9mlint.kernels.python.words import Mention, below

_MAX_GETTERS = 8


def kept(files: PyFiles, entity: Entity, file: PyFile, mention: Mention) -> Iterator[Entity]:
    """The names that a builder's kernels are given where it is mentioned, and who takes a kernel out that is kept."""
    yield from (one.above(entity) for one in kernels_made(file, mention, entity))
    for other, place in _taken(files, file, mention) if entity.kind == "kernel" else ():
        user = entity_of(other, place)
        if user is not None:
            yield user.above(entity)


def _taken(files: PyFiles, file: PyFile, mention: Mention) -> Iterator[tuple[PyFile, Mention]]:
    """The places that take out what is mentioned here as an argument of a call that keeps it."""
    call = mention.parents[-1] if mention.parents else None
    if not isinstance(call, ast.Call) or mention.node not in call.args:
        return
    home, keeper = definition(files, file, call.func)
    if home is None or keeper is None:
        return
    handed = arguments(keeper, call)
    for node in below(keeper):
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
            continue
        assert isinstance(node, ast.Assign)
        if handed.get(getattr(node.value, "id", "")) is not mention.node or target.value.id not in home.defined:
            continue
        name = _text(keeper, target.slice, call)
        if name:
            yield from _getting(files, home, target.value.id, name)


def _getting(files: PyFiles, home: PyFile, store: str, name: str) -> Iterator[tuple[PyFile, Mention]]:
    """The calls of functions of a module that give back what its dictionary holds under a name."""
    getters = [n for n in home.defined.values() if isinstance(n, ast.FunctionDef) and _gives(n, store) is not None]
    for getter in getters[:_MAX_GETTERS]:
        names = set(files.names(home.module, getter.name))
        key = _gives(getter, store)
        for path in files.holding(getter.name):
            other = files.file(path)
            for one in other.mentions.get(getter.name, ()) if other is not None else ():
                assert other is not None
                meant = one.call is not None and (other.dotted(one.node) in names or other is home)
                if meant and one.call is not None and key is not None and _text(getter, key, one.call) == name:
                    yield other, one


def _gives(function: ast.FunctionDef, store: str) -> ast.expr | None:
    """The key under which a function looks up what it gives back: of ``return STORE[key]``; None for others."""
    for node in below(function):
        value = node.value if isinstance(node, ast.Return) else None
        if isinstance(value, ast.Subscript) and getattr(value.value, "id", "") == store:
            return value.slice
    return None


def _text(function: ast.FunctionDef, key: ast.expr, call: ast.Call) -> str:
    """The first text, as written, that a call gives a function for the key that this puts together of it."""
    handed = arguments(function, call)
    names = {n.id for n in ast.walk(key) if isinstance(n, ast.Name)}
    for node in below(function):
        if isinstance(node, ast.Assign) and any(getattr(t, "id", "") in names for t in node.targets):
            names |= {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
    return next((text for name, given in handed.items() if name in names and (text := literal(given))), "")
