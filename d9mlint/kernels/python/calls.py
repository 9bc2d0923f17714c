"""Calls in Python files: what is called, what it is given by place or by name, and what a function takes by place."""

from __future__ import annotations

import ast
from collections.abc import Iterator


def last_name(node: ast.AST | None) -> str:
    """The last part of a name: ``f`` of ``f`` and of ``a.b.f``; empty for what is no name."""
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def keyword(call: ast.Call, *names: str) -> ast.expr | None:
    """What a call is given by one of some names, the first that stands there."""
    return next((k.value for k in call.keywords if k.arg in names), None)


def argument(call: ast.Call, place: int, *names: str) -> ast.expr | None:
    """What a call is given at a place, else by one of some names."""
    return call.args[place] if place < len(call.args) else keyword(call, *names)


def literal(node: ast.AST | None) -> str:
    """The text of a string as it is written; empty for anything else."""
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


def positional(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    """The parameters that a function may be given by place."""
    return [*function.args.posonlyargs, *function.args.args]


def parameters(function: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.arg]:
    """All parameters that a function names, but for those that collect the rest."""
    return [*positional(function), *function.args.kwonlyargs]


def decorators(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[ast.expr]:
    """What decorates a function, without what that is given: ``cuda.jit`` of ``@cuda.jit("void(float32)")``."""
    for decorator in function.decorator_list:
        yield decorator.func if isinstance(decorator, ast.Call) else decorator
