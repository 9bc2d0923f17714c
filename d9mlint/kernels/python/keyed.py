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
        if not isinstance(node, ast.Assign) or handed.get(getattr(node.value, "id", "")) is not mention.node:
            continue
        target = node.targets[0] if len(node.targets) == 1 else None
        if not isinstance(target, ast.Subscript) or not isinstance(target.value, ast.Name):
            continue
        name = _text(keeper, target.slice, handed) if target.value.id in home.defined else ""
        if name:
            yield from _getting(files, home, target.value.id, name)


def _getting(files: PyFiles, home: PyFile, store: str, name: str) -> Iterator[tuple[PyFile, Mention]]:
    """The calls of functions of a module that give back what its dictionary holds under a name."""
    functions = [n for n in home.defined.values() if isinstance(n, ast.FunctionDef)]
    getters = [(n, key) for n in functions if (key := _gives(n, store)) is not None]
    for getter, key in getters[:_MAX_GETTERS]:
        names = set(files.names(home.module, getter.name))
        for other in files.readers(getter.name):
            for one in other.mentions.get(getter.name, ()):
                call = one.call if other is home or other.dotted(one.node) in names else None
                if call is not None and _text(getter, key, arguments(getter, call)) == name:
                    yield other, one


def _gives(function: ast.FunctionDef, store: str) -> ast.expr | None:
    """The key under which a function looks up what it gives back: of ``return STORE[key]``; None for others."""
    for node in below(function):
        value = node.value if isinstance(node, ast.Return) else None
        if isinstance(value, ast.Subscript) and getattr(value.value, "id", "") == store:
            return value.slice
    return None


def _text(function: ast.FunctionDef, key: ast.expr, handed: dict[str, ast.expr]) -> str:
    """The first text, as written, that a function is given for the key that it puts together of that."""
    names = {n.id for n in ast.walk(key) if isinstance(n, ast.Name)}
    for node in below(function):
        if isinstance(node, ast.Assign) and any(getattr(t, "id", "") in names for t in node.targets):
            names |= {n.id for n in ast.walk(node.value) if isinstance(n, ast.Name)}
    return next((text for name, given in handed.items() if name in names and (text := literal(given))), "")
