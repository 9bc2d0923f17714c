"""The dtypes of the tensors that a kernel written in Python is launched with."""

from __future__ import annotations

import ast

from d9mlint.kernels.embedded.kinds import plain_kind
from d9mlint.kernels.python.calls import keyword
from d9mlint.kernels.python.files import PyFile, shown
from d9mlint.kernels.python.words import Mention, set_to

_MAX_THROUGH = 4


def tensor(mention: Mention, node: ast.expr | None, file: PyFile, held: dict[str, bool]) -> str:
    """The dtype of a tensor made in the function around a launch; ``held``: tests, and whether they hold."""
    function = next((s for s in mention.scopes if not isinstance(s, ast.ClassDef)), None)
    if not isinstance(node, ast.Name) or function is None:
        return ""
    made = _values(function, node.id)
    if len(made) > 1 and len({shown(one.func) for one in made if isinstance(one, ast.Call)}) != 1:
        return ""
    found = {_dtype(call, function, file, held) for call in made if isinstance(call, ast.Call)}
    return found.pop() if len(found) == 1 else ""


def _values(function: ast.AST, name: str, depth: int = 0) -> list[ast.expr]:
    """What a function sets a name to, through other names; nothing where that is ``None``."""
    found: list[ast.expr] = []
    for value in set_to(function, name):
        through = isinstance(value, ast.Name) and value.id != name and depth < _MAX_THROUGH
        found += _values(function, value.id, depth + 1) if through and isinstance(value, ast.Name) else [value]
    return [v for v in found if not (isinstance(v, ast.Constant) and v.value is None)]


def _dtype(call: ast.Call, function: ast.AST, file: PyFile, held: dict[str, bool]) -> str:
    """The dtype that a tensor is made with."""
    given = keyword(call, "dtype")
    cast = isinstance(call.func, ast.Attribute) and call.func.attr == "astype"
    if given is None and (cast or len(call.args) > 1):  # x.astype(t), cupy.zeros(shape, t)
        at = call.args[0 if cast else 1] if call.args else None
        given = at if at is not None and (cast or plain_kind(shown(at))) else None
    if given is not None:
        values = _values(function, given.id) if isinstance(given, ast.Name) else [given]
        written = {shown(_chosen(value, held)) for value in values}
        return found if len(written) == 1 and plain_kind(found := written.pop()) else ""
    if file.dotted(call.func) in ("cupy.zeros", "cupy.empty", "cupy.ones"):  # numpy.float64 is the default there
        return "cupy.float64"
    # torch.zeros without dtype: torch.get_default_dtype(), a floating type; the others take it from an argument.
    name = file.dotted(call.func)
    return "torch.float32" if name in ("torch.zeros", "torch.empty", "torch.ones", "torch.rand", "torch.randn") else ""


def _chosen(value: ast.expr, held: dict[str, bool]) -> ast.expr:
    """The branch of ``a if test else b`` that is taken, where that is known."""
    if not isinstance(value, ast.IfExp) or shown(value.test) not in held:
        return value
    return value.body if held[shown(value.test)] else value.orelse
