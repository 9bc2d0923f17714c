"""Which kernels of a module of CUDA in a string a Python function asks for: ``MODULE.get_function("flip")``."""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping

from d9mlint.kernels.embedded.sources import pieces
from d9mlint.kernels.python.entities import Entity
from d9mlint.kernels.python.files import PyFile
from d9mlint.kernels.python.words import below
from d9mlint.kernels.source.unit import parsed

_GETTER = "get_function"
"""Of CuPy's ``RawModule`` and PyCUDA's ``SourceModule``."""
_WORD = re.compile(r"\w+")


def asked_for(launcher: Entity) -> frozenset[str] | None:
    """The names of the kernels that a function takes out of modules; None where it takes none, or by no names."""
    found: set[str] = set()
    for node in below(launcher.node):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == _GETTER:
            name = _name(node.args[0]) if node.args else ""
            if not name:
                return None
            found.add(name)
    return frozenset(found) or None


def _name(given: ast.expr) -> str:
    """``shift`` of ``"shift<int>"``, also where only what stands in the brackets is put in."""
    parts = given.values[:1] if isinstance(given, ast.JoinedStr) else [given]
    text = parts[0].value if parts and isinstance(parts[0], ast.Constant) else ""
    whole = isinstance(text, str) and (parts[0] is given or "<" in text)
    return str(text).partition("<")[0].rpartition("::")[2].strip() if whole else ""


def entries(file: PyFile) -> Mapping[str, frozenset[str]]:
    """By the functions in the CUDA sources of a file, the kernels that come to them by calls, themselves included."""
    found: dict[str, set[str]] = {}
    for piece in pieces(file):
        data = piece.text.encode("utf-8", "replace")
        unit = parsed(file.path, data)
        functions = list(unit.functions())
        names = {function.name for function in functions}
        calls: dict[str, set[str]] = {}
        for function in functions:
            calls.setdefault(function.name, set()).update(names.intersection(_WORD.findall(unit.text(function.node))))
        for kernel in (function.name for function in functions if "__global__" in function.qualifier):
            pending, seen = [kernel], {kernel}
            while pending:
                fresh = calls.get(pending.pop(), set()) - seen
                seen |= fresh
                pending += sorted(fresh)
            for name in seen:
                found.setdefault(name, set()).add(kernel)
    return {name: frozenset(kernels) for name, kernels in found.items()}
