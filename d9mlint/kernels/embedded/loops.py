"""Which loops of a kernel of Taichi's run in parallel, and which cells one turn of such a loop owns.

Taichi 1.7 and 1.8: the ``for`` loops at the outermost scope of a kernel are parallel, all other code of it runs in one
thread, as does a loop that ``ti.loop_config(serialize=True)`` stands right before; ``ti.static`` loops and tests are
unrolled, so that what stands in them is at the outermost scope, too
(https://docs.taichi-lang.org/docs/kernel_function, https://docs.taichi-lang.org/docs/debugging).
"""

from __future__ import annotations

import ast

from d9mlint.kernels.embedded.threads import indices
from d9mlint.kernels.python.files import PyFile
from d9mlint.kernels.python.words import below


def parallel(file: PyFile, body: list[ast.stmt], place: tuple[ast.AST, ...]) -> ast.For | None:
    """The parallel loop of a kernel that a place stands in (the nodes around it); None: it runs in one thread."""
    for before, statement in zip([None, *body], body, strict=False):
        if not any(statement is node for node in place):
            continue
        if isinstance(statement, ast.For) and not _is_static(file, statement.iter):
            return None if _serialized(file, before) else statement
        if isinstance(statement, ast.For) or (isinstance(statement, ast.If) and _is_static(file, statement.test)):
            branch = statement.orelse if any(s is node for s in statement.orelse for node in place) else statement.body
            return parallel(file, branch, place)
    return None


def owned(loop: ast.For, target: ast.expr) -> bool:
    """Whether each turn of a loop has a cell of its own there: all that tells turns apart are indices of it."""
    turn = {n.id for n in below(loop.target) if isinstance(n, ast.Name)}
    stored = [n.id for s in loop.body for n in below(s) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)]
    return bool(turn) and turn.isdisjoint(stored) and turn <= indices(target)


def _is_static(file: PyFile, node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and file.dotted(node.func).endswith(".static")


def _serialized(file: PyFile, before: ast.stmt | None) -> bool:
    call = before.value if isinstance(before, ast.Expr) else None
    if not isinstance(call, ast.Call) or file.dotted(call.func).rpartition(".")[2] != "loop_config":
        return False
    return any(
        k.arg == "serialize" and isinstance(k.value, ast.Constant) and bool(k.value.value) for k in call.keywords
    )
