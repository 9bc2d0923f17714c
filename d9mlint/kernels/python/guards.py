"""What stands before a place in a Python function: a test of deterministic mode, or a switch of the author's own."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from d9mlint.kernels.flow import strongest
from d9mlint.kernels.python.calls import last_name
from d9mlint.kernels.python.files import MODES, PyFile, mode_given, shown, texts
from d9mlint.kernels.python.words import Mention, below
from d9mlint.kernels.switches import opposite, setting
from d9mlint.model.kernel import Guard

_MARKS = (b"eterminis", b"DETERMINIS")
_FLAGS = ("torch.backends.cudnn.deterministic",)
_NEUTRAL = ("cuda", "gpu", "device", "grad", "warn_only", "float", "dtype")
"""Words of conditions that hold wherever a float atomic runs on a GPU, or say that the user opted out."""
_CONVERTING = ("int", "bool", "str", "lower", "strip")
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)
_MAX_DEPTH = 30


class _Meaning(NamedTuple):
    """Deterministic mode, or a switch, makes an expression true (``sign`` 1) or false (-1)."""

    sign: int
    switch: str = ""


def guard_at(file: PyFile, mention: Mention) -> Guard:
    """The strongest guard that dominates a place within the functions around it."""
    if not any(mark in file.data for mark in _MARKS):
        return Guard()
    nodes = (*mention.parents, mention.node)
    first = next((n for n, node in enumerate(nodes) if isinstance(node, _FUNCTIONS)), None)
    if first is None:
        return Guard()
    reader = _Reader(file, nodes[first])
    found = [
        guard
        for parent, child in itertools.pairwise(nodes[first:])
        for guard in (*reader.branch(parent, child), *reader.before(parent, child))
    ]
    return strongest(found)


def handed(file: PyFile, mention: Mention) -> Guard:
    """The guard that a call hands on: deterministic mode itself is an argument (``f(x, are_deterministic...())``)."""
    called: ast.AST = mention.node
    parents = list(mention.parents)
    if parents and isinstance(parents[-1], ast.Subscript) and parents[-1].value is called:
        called = parents.pop()  # ``kernel[grid](...)``
    call = parents[-1] if parents else None
    if not isinstance(call, ast.Call) or call.func is not called or not any(m in file.data for m in _MARKS):
        return Guard()
    function = next((node for node in mention.parents if isinstance(node, _FUNCTIONS)), call)
    reader = _Reader(file, function)
    for given in (*call.args, *(keyword.value for keyword in call.keywords)):
        meaning = reader.meaning(given)
        if meaning is not None and not meaning.switch and meaning.sign > 0:
            return Guard("other-path", file.place(given))
    return Guard()


def defaults(nodes: Iterable[ast.AST]) -> dict[str, str]:
    """The defaults of arguments that speak of determinism, of functions and of classes' constructors."""
    found: dict[str, str] = {}
    for node in nodes:
        inside = node.body if isinstance(node, ast.ClassDef) else [node]
        for one in inside:
            if isinstance(one, ast.FunctionDef) and (one is node or one.name == "__init__"):
                given = _given(one.args)
                found |= {name: value for name, value in given if "determinis" in name.lower() and name not in found}
    return found


def _given(arguments: ast.arguments) -> Iterator[tuple[str, str]]:
    plain = [*arguments.posonlyargs, *arguments.args]
    first = len(plain) - len(arguments.defaults)
    for argument, value in zip(plain[first:], arguments.defaults, strict=True):
        yield argument.arg, shown(value, 40)
    for argument, given in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True):
        if given is not None:
            yield argument.arg, shown(given, 40)


class _Reader:
    """Reads the conditions of one function."""

    def __init__(self, file: PyFile, function: ast.AST) -> None:
        self.file = file
        self._assigned: dict[str, list[ast.expr]] = {}
        for node in below(function):
            if isinstance(node, ast.Assign | ast.AnnAssign) and node.value is not None:
                for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                    if isinstance(target, ast.Name):
                        self._assigned.setdefault(target.id, []).append(node.value)

    def branch(self, parent: ast.AST, child: ast.AST) -> Iterator[Guard]:
        """The guard that a branch is, which does not run in deterministic mode."""
        if not isinstance(parent, ast.If | ast.IfExp) or child is parent.test:
            return
        meaning = self.meaning(parent.test)
        body = parent.body if isinstance(parent.body, list) else [parent.body]
        other = parent.orelse if isinstance(parent.orelse, list) else [parent.orelse]
        if meaning is None or (child in body) == (meaning.sign > 0):
            return
        taken = body if meaning.sign > 0 else other
        yield self._guard(parent.test, meaning, "throws" if _raises(taken) else "other-path")

    def before(self, parent: ast.AST, child: ast.AST) -> Iterator[Guard]:
        """The guards among the statements before one in its block."""
        for name in ("body", "orelse", "finalbody", "handlers"):
            block = getattr(parent, name, None)
            if isinstance(block, list) and child in block:
                for statement in block[: block.index(child)]:
                    yield from self._statement(statement)

    def _statement(self, node: ast.stmt, depth: int = 0) -> Iterator[Guard]:
        if isinstance(node, ast.Assert):
            meaning = self.meaning(node.test)
            if meaning is not None and meaning.sign < 0:
                yield self._guard(node.test, meaning, "throws")
        elif isinstance(node, ast.If):
            meaning = self.meaning(node.test)
            taken = node.body if meaning is None or meaning.sign > 0 else node.orelse
            if meaning is not None and _ends(taken):
                yield self._guard(node.test, meaning, "throws" if _raises(taken) else "other-path")
        elif isinstance(node, ast.Expr) and isinstance(node.value, ast.Call) and not depth:
            called = node.value.func
            function = self.file.defined.get(called.id) if isinstance(called, ast.Name) else None
            if isinstance(function, ast.FunctionDef):
                inner = _Reader(self.file, function)
                for statement in function.body:
                    found = list(inner._statement(statement, 1))
                    yield from (guard for guard in found if guard.level == "throws")

    def _guard(self, node: ast.expr, meaning: _Meaning, level: str) -> Guard:
        where = self.file.place(node)
        return Guard("none", where, meaning.switch) if meaning.switch else Guard(level, where)

    def meaning(self, node: ast.expr, depth: int = 0) -> _Meaning | None:
        """What an expression means in deterministic mode; None where that says nothing about it."""
        if depth > _MAX_DEPTH:
            return None
        if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
            inner = self.meaning(node.operand, depth + 1)
            return inner._replace(sign=-inner.sign) if inner is not None else None
        if isinstance(node, ast.BoolOp):
            return self._several(node, depth)
        if isinstance(node, ast.Compare) and len(node.ops) == 1:
            return self._compared(node, depth)
        if isinstance(node, ast.Call):
            return self._called(node, depth)
        if isinstance(node, ast.Subscript):
            return _environment(node)
        return self._named(node, depth)

    def _several(self, node: ast.BoolOp, depth: int) -> _Meaning | None:
        """Of ``a and b`` only what may be left out; ``a or b`` holds where ``a`` does."""
        decides = isinstance(node.op, ast.Or)
        for value in node.values:
            meaning = self.meaning(value, depth + 1)
            if meaning is None:
                continue
            others = [other for other in node.values if other is not value]
            if (meaning.sign > 0) == decides or all(_neutral(other) for other in others):
                return meaning
        return None

    def _compared(self, node: ast.Compare, depth: int) -> _Meaning | None:
        inner, operator, to = self.meaning(node.left, depth + 1), node.ops[0], node.comparators[0]
        if inner is None or not isinstance(to, ast.Constant) or to.value is None:
            return None
        low = to.value in (0, "0", False, "", "default", "False", "false")
        same = isinstance(operator, ast.Eq | ast.Is)
        if not same and not isinstance(operator, ast.NotEq | ast.IsNot | ast.Gt | ast.GtE):
            return None
        return inner._replace(sign=-inner.sign) if same == low else inner

    def _called(self, node: ast.Call, depth: int) -> _Meaning | None:
        name = last_name(node.func)
        own = self.file.defined.get(name) if isinstance(node.func, ast.Name) else None
        asks = name in MODES or self.file.dotted(node.func).rpartition(".")[2] in MODES
        if asks or (isinstance(own, ast.FunctionDef) and mode_given(own)):
            return _Meaning(1)
        found = _environment(node) if name == "getenv" or "environ" in ast.unparse(node.func) else None
        within = node.args[0] if node.args else getattr(node.func, "value", None)
        if found is None and name in _CONVERTING and isinstance(within, ast.expr):
            return self.meaning(within, depth + 1)
        return found

    def _named(self, node: ast.expr, depth: int) -> _Meaning | None:
        if isinstance(node, ast.Attribute) and self.file.dotted(node) in _FLAGS:
            return _Meaning(1)
        name = node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""
        for value in self._assigned.get(name, ()) if isinstance(node, ast.Name) else ():
            found = self.meaning(value, depth + 1)
            if found is not None:
                return found
        if "determinis" not in name.lower() or name in MODES:
            return None
        return _Meaning(-1 if opposite(name) else 1, setting(name))


def _environment(node: ast.expr) -> _Meaning | None:
    """The environment variable that an expression reads, where its name speaks of determinism."""
    name = next((str(text.value) for text in texts(node) if "DETERMINIS" in str(text.value)), "")
    return _Meaning(-1 if opposite(name) else 1, setting(name)) if name.isupper() else None


def _neutral(node: ast.expr) -> bool:
    text = ast.unparse(node).lower()
    return any(word in text for word in _NEUTRAL)


def _raises(block: list[ast.stmt] | list[ast.expr]) -> bool:
    return bool(block) and isinstance(block[-1], ast.Raise)


def _ends(block: list[ast.stmt]) -> bool:
    return bool(block) and isinstance(block[-1], ast.Raise | ast.Return | ast.Continue)
