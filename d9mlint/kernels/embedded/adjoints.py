"""Gradients of kernels of Taichi's: for what a kernel reads of a field, its adjoint adds to the gradient, atomically.

``kernel.grad()`` and ``with ti.ad.Tape(loss):`` run adjoints, for fields with ``needs_grad=True`` or where
``ti.root.lazy_grad()`` places all gradients (https://docs.taichi-lang.org/docs/differentiable_programming); an adjoint
has the same parallel loops, and adds for each load (``taichi/transforms/auto_diff.cpp``, Taichi 1.8).
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from d9mlint.kernels.embedded.calls import Found, intrinsic_of
from d9mlint.kernels.embedded.fields import Fields, unindexed
from d9mlint.kernels.embedded.kinds import plain_kind
from d9mlint.kernels.embedded.loops import owned, parallel
from d9mlint.kernels.embedded.taichi import is_kernel, local, placed, standing
from d9mlint.kernels.embedded.uses import Use
from d9mlint.kernels.python.calls import last_name
from d9mlint.kernels.python.files import PyFile, base, shown
from d9mlint.kernels.python.words import Mention, below

_TAPES = (".Tape", ".FwdMode")
_PLACED = (b"needs_grad", b"lazy_grad")
_MAX_ROUNDS = 6


def gradients(file: PyFile) -> Iterator[Found]:
    """The first read of each field in a kernel that is differentiated, by which threads meet in its gradient."""
    if b"aichi" not in file.data or not any(word in file.data for word in _PLACED):
        return
    kernels = [node for node in file.functions if is_kernel(file, node)]
    run = _differentiated(file) if kernels else set()
    fields = Fields(file) if run else None
    for kernel in kernels:
        if fields is not None and kernel.name in run:
            yield from _of_kernel(file, kernel, fields)


def _differentiated(file: PyFile) -> set[str]:
    """The functions of a file whose gradients are asked for, by name."""
    asked = {
        m.node.value.id
        for m in file.mentions.get("grad", ())
        if isinstance(m.node, ast.Attribute) and isinstance(m.node.value, ast.Name) and m.call is not None
    }
    taped = [w for m in file.mentions.get("Tape", ()) for w in m.parents if isinstance(w, ast.With)]
    taped = [w for w in taped if any(_is_tape(file, item.context_expr) for item in w.items)]
    names = {name for statement in taped for node in statement.body for name in _words(node)}
    for _ in range(_MAX_ROUNDS):
        more = {name for f in file.functions if f.name in names for name in _words(f)} - names
        if not more:
            break
        names |= more
    return asked | names


def _is_tape(file: PyFile, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and file.dotted(node.func).endswith(_TAPES)


def _words(node: ast.AST) -> Iterator[str]:
    """The names, and the last parts of names, below a node."""
    for one in below(node):
        if isinstance(one, ast.Name | ast.Attribute):
            yield last_name(one)


def _of_kernel(file: PyFile, kernel: ast.FunctionDef, fields: Fields) -> Iterator[Found]:
    own, seen = local(kernel), set[str]()
    for node, above in placed(kernel):
        if not isinstance(node, ast.Subscript) or not isinstance(node.ctx, ast.Load) or base(node) in own:
            continue
        loop = parallel(file, kernel.body, above)
        name = unindexed(node)
        if loop is None or name in seen or owned(loop, node) or not _flows(node, above):
            continue
        if plain_kind(fields.type_of(node, kernel)) == "float" and fields.has_gradient(node):
            seen.add(name)
            mention = Mention(ast.Name(base(node)), (*standing(file, kernel), *above, node))
            meet = _meet(loop, node, own)
            yield _found(kernel, node, mention, fields.type_of(node, kernel), meet)


def _meet(loop: ast.For, node: ast.Subscript, own: dict[str, list[ast.Assign]]) -> bool:
    """Whether turns of a loop certainly share cells: the indices come from data, or do not tell all turns apart."""
    names: set[str] = set()
    pending: list[ast.AST] = []
    at: ast.expr = node
    while isinstance(at, ast.Subscript | ast.Attribute):
        pending += [at.slice] if isinstance(at, ast.Subscript) else []
        at = at.value
    while pending:
        for one in below(pending.pop()):
            if isinstance(one, ast.Subscript):
                return True
            if isinstance(one, ast.Name) and one.id not in names:
                names.add(one.id)
                pending += [made.value for made in own.get(one.id, ())]
    return not {n.id for n in below(loop.target) if isinstance(n, ast.Name)} <= names


def _flows(node: ast.expr, above: tuple[ast.AST, ...]) -> bool:
    """Whether a value is computed with: it is no index, and in no test."""
    inner: ast.AST = node
    if isinstance(above[-1], ast.Attribute) and above[-1].attr.startswith("atomic_"):
        return False
    for outer in reversed(above):
        if isinstance(outer, ast.Call) and outer.args[:1] == [inner] and "atomic_" in shown(outer.func):
            return False  # it is what is added to
        if isinstance(outer, ast.Subscript):
            return False  # an index, or the element is read as a whole
        if isinstance(outer, ast.If | ast.While | ast.IfExp) and inner is outer.test:
            return False
        if isinstance(outer, ast.stmt):
            return isinstance(outer, ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr | ast.Return)
        inner = outer
    return False


def _found(kernel: ast.FunctionDef, node: ast.Subscript, mention: Mention, typed: str, meet: bool) -> Found:
    name = f"{unindexed(node)}.grad"
    order = "addends from several threads meet in one cell in an order that changes from run to run"
    reason = f"the gradient of `{kernel.name}` adds floats to `{name}` for what is read in `{shown(node, 60)}`: " \
        f"{'' if meet else 'where turns of the loop read the same cell, '}{order}"  # fmt: skip
    return Found(
        mention, node, name, intrinsic_of("add"), "device", "global", typed, Use("unused"), "float-accumulate",
        "yes" if meet else "conditional", reason, True,
    )  # fmt: skip
