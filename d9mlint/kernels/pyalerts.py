"""A test of PyTorch's deterministic mode before Python launches a kernel that varies (Triton's, Numba's).

PyTorch has no alert for Python: what raises is written out, and stays away where the user only wants to be warned
(``torch.is_deterministic_algorithms_warn_only_enabled``, since 1.11).
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from typing import NamedTuple

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_TEST = "if torch.are_deterministic_algorithms_enabled() and not torch.is_deterministic_algorithms_warn_only_enabled():"


class Insertion(NamedTuple):
    """Lines before the byte at which a line begins, and the number of that line."""

    place: int
    line: int
    text: str


def before_launches(data: bytes, kernel: str) -> list[Insertion]:
    """What is to be inserted before each launch ``kernel[grid](...)`` in a file that has PyTorch as ``torch``.

    Nothing where a launch stands outside of functions, or behind something else in its line.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree = ast.parse(data)
    except (SyntaxError, ValueError, RecursionError):
        return []
    if not any(isinstance(one, ast.Import) and _brings_torch(one) for one in tree.body):
        return []
    lines = data.splitlines(keepends=True)
    found = []
    for statement, name in _launching(tree, kernel, ""):
        before = lines[statement.lineno - 1][: statement.col_offset]
        if not name or before.strip():
            return []
        indent = before.decode()
        says = f"`{name}` adds floats in an order that differs from run to run"
        text = f'{indent}{_TEST}\n{indent}    raise RuntimeError("{says}")\n'
        place = sum(map(len, lines[: statement.lineno - 1]))
        found.append(Insertion(place, statement.lineno, text))
    return found


def _brings_torch(node: ast.Import) -> bool:
    return any(one.asname is None and one.name.partition(".")[0] == "torch" for one in node.names)


def _launching(node: ast.AST, kernel: str, name: str) -> Iterator[tuple[ast.stmt, str]]:
    """The innermost statements that launch a kernel, each with the function that it stands in."""
    for child in ast.iter_child_nodes(node):
        inside = name
        if isinstance(child, (*_FUNCTIONS, ast.ClassDef)):
            inside = f"{name}.{child.name}" if name else child.name
        if isinstance(child, ast.stmt) and not _has_statements(child):
            if any(_is_launch(one, kernel) for one in ast.walk(child)):
                yield child, inside
        else:
            yield from _launching(child, kernel, inside)


def _has_statements(node: ast.stmt) -> bool:
    return any(isinstance(one, (ast.stmt, ast.excepthandler, ast.match_case)) for one in ast.iter_child_nodes(node))


def _is_launch(node: ast.AST, kernel: str) -> bool:
    called = node.func if isinstance(node, ast.Call) else None
    return isinstance(called, ast.Subscript) and isinstance(called.value, ast.Name) and called.value.id == kernel
