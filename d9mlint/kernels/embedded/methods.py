"""Methods that apply an atomic to what their object holds, where others call them: ``sem = Lock(p)``, ``sem.add()``.

The class of an object is known where all that sets the variable makes one, also through a function of the project that
returns one or says so by its annotation, and where the annotation of a parameter does.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.kernels.python.calls import parameters, positional
from d9mlint.kernels.python.files import PyFile, PyFiles
from d9mlint.kernels.python.words import Mention, below, set_to

_MAX_LINKS = 4


class Method(NamedTuple):
    """A method that wraps an atomic."""

    file: PyFile
    owner: ast.ClassDef
    name: str

    @property
    def key(self) -> tuple[str, str, str]:
        """What tells it from other methods."""
        return self.file.path, self.owner.name, self.name


def around(file: PyFile, mention: Mention, root: str) -> Method | None:
    """The method around an atomic whose target is reached through ``root``, where that is the object."""
    scopes = mention.scopes
    if len(scopes) != 2 or not isinstance(scopes[0], ast.ClassDef) or not isinstance(scopes[1], ast.FunctionDef):
        return None
    first = next((a.arg for a in positional(scopes[1])), "")
    return Method(file, scopes[0], scopes[1].name) if root and root == first else None


def calls(files: PyFiles, method: Method) -> Iterator[tuple[PyFile, Mention, ast.Call]]:
    """The calls of a method on variables that hold an object of its class."""
    names = frozenset(files.names(method.file.module, method.owner.name))
    for path in files.mentioning(f".{method.name}(".encode()):
        file = files.file(path)
        for mention in file.mentions.get(method.name, ()) if file is not None else ():
            node, call = mention.node, mention.call
            held = node.value if isinstance(node, ast.Attribute) else None
            if file is None or call is None or not isinstance(held, ast.Name):
                continue
            if _holds(files, file, mention, held.id, names):
                yield file, mention, call


def _holds(files: PyFiles, file: PyFile, mention: Mention, variable: str, names: frozenset[str]) -> bool:
    """Whether a variable is an object of a class, by all that sets it in the innermost function that does."""
    for scope in reversed(mention.scopes):
        if isinstance(scope, ast.ClassDef):
            continue
        values = set_to(scope, variable)
        if values:
            return all(_makes(files, file, value, names, _MAX_LINKS) for value in values)
        annotations = {a.arg: a.annotation for a in parameters(scope)}
        if variable in annotations:
            return _names(file, annotations[variable], names)
    return False


def _makes(files: PyFiles, file: PyFile, value: ast.expr, names: frozenset[str], steps: int) -> bool:
    """Whether an expression makes an object of a class, also through functions that return one."""
    if not isinstance(value, ast.Call) or steps <= 0:
        return False
    dotted = file.dotted(value.func)
    if dotted in names:
        return True
    module, _, name = dotted.rpartition(".")
    home = file if module == file.module else files.file(files.modules[module]) if module in files.modules else None
    function = home.defined.get(name) if home is not None else None
    if home is None or not isinstance(function, ast.FunctionDef):
        return False
    if function.returns is not None:
        return _names(home, function.returns, names)
    given = [node.value for node in below(function) if isinstance(node, ast.Return) and node.value is not None]
    return bool(given) and all(_makes(files, home, one, names, steps - 1) for one in given)


def _names(file: PyFile, annotation: ast.expr | None, names: frozenset[str]) -> bool:
    return annotation is not None and file.dotted(annotation) in names
