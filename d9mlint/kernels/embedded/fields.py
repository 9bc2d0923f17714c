"""The element types of Taichi's fields and arrays: by what makes them, also through functions of the file.

``ti.field(ti.f32, shape)``, ``ti.Vector.field(3, dtype=real)``, ``ti.ndarray(ti.i32, n)``, ``ti.types.ndarray(...)``
(https://docs.taichi-lang.org/docs/field, Taichi 1.8; ``ti.var(ti.f32)`` and ``ti.Vector(3, dt=ti.f32)`` before 0.7).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from d9mlint.kernels.embedded.kinds import plain_kind
from d9mlint.kernels.python.calls import argument, keyword, positional
from d9mlint.kernels.python.files import PyFile, shown
from d9mlint.kernels.python.words import Mention, below

_MAKERS = {"field": 0, "ndarray": 0, "var": 0, "any_arr": -1, "ext_arr": -1, "Vector": 1, "Matrix": 2}
"""Where the element type stands among the arguments; ``Vector.field`` and ``Matrix.field`` as those below."""
_TYPED = ("dtype", "dt", "element_type")
_MAX_LINKS = 8


class Fields:
    """What the names of a file, and the attributes of its objects, are made by."""

    def __init__(self, file: PyFile) -> None:
        self.file = file
        self._made: dict[str, ast.expr] = {}
        for node in file.assignments:
            for target in node.targets:
                self._made |= {name: value for name, value in _pairs(target, node.value) if self._makes(value)}

    def type_of(self, target: ast.expr, function: ast.FunctionDef) -> str:
        """The element type of what is reached, as written; empty where it is not seen."""
        name = _name(target)
        arguments = {a.arg: a.annotation for a in positional(function)}
        if name not in arguments:
            return self._type(self._made[name]) if name in self._made else ""
        annotation = arguments[name]
        written = self._type(annotation) if annotation is not None else ""
        found = {
            self._type(self._made[_name(g)]) for g, _ in handed(self.file, function, name) if _name(g) in self._made
        }
        return written or (found.pop() if len(found) == 1 else "")

    def has_gradient(self, target: ast.expr) -> bool:
        """Whether the field that an element is of has a gradient: ``needs_grad=True``, or all have one."""
        made = self._made.get(_name(target))
        asked = made is not None and any(
            k.arg == "needs_grad" and not (isinstance(k.value, ast.Constant) and not k.value.value)
            for node in (made, *self._given_back(self.file.dotted(made.func) if isinstance(made, ast.Call) else ""))
            for call in below(node)
            if isinstance(call, ast.Call)
            for k in call.keywords
        )
        return asked or (made is not None and b"lazy_grad" in self.file.data)

    def kind(self, value: ast.expr, function: ast.FunctionDef) -> str:
        """``float`` where a value is reckoned from elements of float fields by signs, else empty."""
        if isinstance(value, ast.BinOp):
            kinds = {self.kind(value.left, function), self.kind(value.right, function)}
            return "float" if "float" in kinds else ""
        if isinstance(value, ast.UnaryOp):
            return self.kind(value.operand, function)
        if isinstance(value, ast.Subscript | ast.Attribute):
            return "float" if plain_kind(self.type_of(value, function)) == "float" else ""
        return ""

    def _makes(self, value: ast.expr) -> bool:
        return isinstance(value, ast.Call) and bool(self._type(value))

    def _type(self, made: ast.expr, depth: int = 0) -> str:
        if depth > _MAX_LINKS or not isinstance(made, ast.Call):
            return ""
        dotted = self.file.dotted(made.func)
        kind, last = dotted.split(".")[-2:] if "." in dotted else ("", dotted)
        if last in _MAKERS:
            at = _MAKERS.get(kind, _MAKERS[last]) if last in ("field", "ndarray") else _MAKERS[last]
            given = keyword(made, *_TYPED)
            given = made.args[at] if given is None and 0 <= at < len(made.args) else given
            return self._written(given) if given is not None else ""
        if isinstance(made.func, ast.Attribute):  # made and placed at once: ti.field(ti.f32).place(...)
            return self._type(made.func.value, depth + 1)
        return next((t for one in self._given_back(last) if (t := self._type(one, depth + 1))), "")

    def _given_back(self, name: str) -> Iterator[ast.expr]:
        """What a function of the file gives back: ``scalar = lambda: ti.field(real)``."""
        value = self.file.assigned.get(name)
        if isinstance(value, ast.Lambda):
            yield value.body
        function = self.file.defined.get(name)
        for node in below(function) if isinstance(function, ast.FunctionDef) else ():
            if isinstance(node, ast.Return) and node.value is not None:
                yield node.value

    def _written(self, node: ast.expr) -> str:
        """A type as written, through names that the file gives it: ``real = ti.f32``."""
        at = node
        for _ in range(_MAX_LINKS):
            text = self.file.dotted(at) or shown(at)
            if plain_kind(text):
                return text.rpartition(".")[2]
            if isinstance(at, ast.Call):  # ti.types.vector(3, ti.f32), ti.types.matrix(3, 3, ti.f32)
                last = self.file.dotted(at.func).rpartition(".")[2]
                given = at.args[-1] if at.args and last in ("vector", "matrix") else None
                given = keyword(at, *_TYPED) or given
            else:
                given = self.file.assigned.get(text) if text.isidentifier() else None
            if given is None:
                return ""
            at = given
        return ""


def handed(file: PyFile, function: ast.FunctionDef, name: str) -> Iterator[tuple[ast.expr, Mention]]:
    """What the calls of a function in its file hand to one of its parameters, and where."""
    names = [a.arg for a in positional(function)]
    for mention in file.mentions.get(function.name, ()):
        if mention.call is not None and name in names:
            given = argument(mention.call, names.index(name) - (1 if names[0] == "self" else 0), name)
            if given is not None:
                yield given, mention


def unindexed(node: ast.expr) -> str:
    """What an element is of, as written without its indices: ``self.x`` of ``self.x[i][0]``."""
    at = node
    while isinstance(at, ast.Subscript):
        at = at.value
    return shown(at)


def _pairs(target: ast.expr, value: ast.expr) -> Iterator[tuple[str, ast.expr]]:
    """Each name that an assignment sets, with its value."""
    if isinstance(target, ast.Tuple | ast.List) and isinstance(value, ast.Tuple | ast.List):
        for one, its in zip(target.elts, value.elts, strict=False):
            yield from _pairs(one, its)
    elif isinstance(target, ast.Name | ast.Attribute):
        yield _name(target), value


def _name(node: ast.expr) -> str:
    """A variable or an attribute of an object: ``x`` of ``x[i].v``, ``self.x`` of ``self.x[i][0]``."""
    at = node
    while isinstance(at, ast.Subscript) or (isinstance(at, ast.Attribute) and _within(at)):
        at = at.value
    return shown(at) if isinstance(at, ast.Name | ast.Attribute) else ""


def _within(node: ast.Attribute) -> bool:
    """Whether an attribute is one of an element, not of an object."""
    return any(isinstance(inner, ast.Subscript) for inner in below(node.value))
