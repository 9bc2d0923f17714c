"""Cells that one thread of Warp owns: ``i = wp.tid(); wp.atomic_add(out, i, x)``.

https://nvidia.github.io/warp/modules/functions.html#kernel-indexing: one index is that of the first dimension of the
launch, so as many are needed as it has dimensions.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from d9mlint.kernels.python.calls import argument, keyword
from d9mlint.kernels.python.files import PyFile, base
from d9mlint.kernels.python.words import Mention, below

_THREAD = "warp.tid"
_LAUNCH = "warp.launch"
_SHARED_THREADS = b"launch_tiled"
"""There the threads of a block share what `warp.tid` gives."""


def threads(file: PyFile, kernel: ast.AST) -> frozenset[str]:
    """The names that together tell a thread from all others: those that `warp.tid` is assigned to, and nothing else."""
    if _SHARED_THREADS in file.data:
        return frozenset()
    found: frozenset[str] = frozenset()
    stored: list[str] = []
    for node in ast.walk(kernel):
        stored += [node.id] if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else []
        if not found and isinstance(node, ast.Assign) and isinstance(node.value, ast.Call) and len(node.targets) == 1:
            target = node.targets[0]
            if file.dotted(node.value.func) == _THREAD:
                named = target.elts if isinstance(target, ast.Tuple) else [target]
                found = frozenset(n.id for n in named if isinstance(n, ast.Name))
    return found if all(stored.count(name) == 1 for name in found) else frozenset()


def indices(target: ast.expr) -> frozenset[str]:
    """The names that stand alone as indices: each value of theirs is another cell."""
    found: set[str] = set()
    at = target
    while isinstance(at, ast.Subscript | ast.Attribute):
        if isinstance(at, ast.Subscript):
            listed = at.slice.elts if isinstance(at.slice, ast.Tuple) else [at.slice]
            found.update(n.id for n in listed if isinstance(n, ast.Name))
        at = at.value
    return frozenset(found)


def owned(file: PyFile, mention: Mention, call: ast.Call) -> bool:
    """Whether an atomic call works on a cell that no other thread of the launch works on."""
    kernel = next((s for s in reversed(mention.scopes) if isinstance(s, ast.FunctionDef)), None)
    own = threads(file, kernel) if kernel is not None else frozenset()
    array = base(call.args[0]) if call.args else ""
    if kernel is None or not own or not array or not own <= _of_call(call):
        return False
    others = (n for n in below(kernel) if isinstance(n, ast.Call) and n is not call and n.args)
    if any(base(n.args[0]) == array and not own <= _of_call(n) for n in others if _is_atomic(file, n)):
        return False
    return all(_dimensions(dim) <= len(own) for dim in _launches(file, kernel.name))


def _of_call(call: ast.Call) -> frozenset[str]:
    return indices(call.args[0]) | {n.id for n in call.args[1:-1] if isinstance(n, ast.Name)}


def _is_atomic(file: PyFile, call: ast.Call) -> bool:
    return "atomic" in file.dotted(call.func)


def _launches(file: PyFile, kernel: str) -> Iterator[ast.expr]:
    """The sizes of the launches of a kernel in its file."""
    for mention in file.mentions.get(kernel, ()):
        for above in mention.parents[-2:]:
            if isinstance(above, ast.Call) and file.dotted(above.func) == _LAUNCH:
                dim = keyword(above, "dim") or argument(above, 1)
                if dim is not None:
                    yield dim


def _dimensions(dim: ast.expr) -> int:
    return len(dim.elts) if isinstance(dim, ast.Tuple | ast.List) else 1
