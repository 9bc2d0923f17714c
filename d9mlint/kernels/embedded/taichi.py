"""Atomics in kernels of Taichi's: ``x[i] += v``, ``ti.atomic_add(x[i], v)`` and ``x[i].atomic_add(v)``.

https://docs.taichi-lang.org/docs/operator#supported-atomic-operations (Taichi 1.8): augmented assignments to what is
global are atomic, and the functions give the old value back. They are plain on local variables, in what one thread
runs, and where a turn of the loop owns the cell (``taichi/transforms/demote_atomics.cpp``). A variable that a kernel
sets outside of its parallel loops is global to these: ``s = 0.0; for i in x: s += x[i]``. ``gstaichi`` is a fork.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.kernels.embedded.calls import Found, judged_call, judged_operation
from d9mlint.kernels.embedded.fields import Fields, handed, unindexed
from d9mlint.kernels.embedded.kinds import plain_kind
from d9mlint.kernels.embedded.loops import owned, parallel
from d9mlint.kernels.embedded.types import Types
from d9mlint.kernels.python.calls import last_name, positional
from d9mlint.kernels.python.files import PyFile, base, shown
from d9mlint.kernels.python.words import Mention, below

_ROOTS = ("taichi", "gstaichi")
_OPERATIONS: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor"
}  # fmt: skip
_CALL = re.compile(r"atomic_(add|sub|mul|min|max|and|or|xor)\Z")
_CHANGES = re.compile(rb"[-+*&|^]=|\batomic_")
_ARRAYS = ("ndarray", "any_arr", "ext_arr")
"""Annotations of parameters that are arrays, by reference: https://docs.taichi-lang.org/docs/external."""
_ONE = "one thread runs this part of the kernel"
_OWN = "only one turn of the loop changes the cell"
_LOCAL = "it is a variable of the function, which no other thread sees"


class _Change(NamedTuple):
    """An operation on what may be global."""

    node: ast.AugAssign | ast.Call
    mention: Mention
    target: ast.expr
    operation: str
    value: ast.expr
    loop: ast.For | None
    """The parallel loop around it; None in a function, whose callers are not looked at."""
    alone: str = ""
    """Why no other thread changes the cell, where that is so."""


def may_change(data: bytes) -> bool:
    """Whether a file may hold kernels of Taichi's that change a cell; cheap to ask."""
    return b"taichi" in data and _CHANGES.search(data) is not None


def is_kernel(file: PyFile, node: ast.AST) -> bool:
    """Whether a function is a kernel of Taichi's, which Python calls by its name."""
    return isinstance(node, ast.FunctionDef) and _decorated(file, node) == "kernel"


def changes(file: PyFile) -> Iterator[Found]:
    """The atomic operations in the kernels and functions of a file, judged."""
    if not may_change(file.data):
        return
    kernels = [(node, word) for node in file.functions if (word := _decorated(file, node))]
    fields = Fields(file) if kernels else None
    for node, word in kernels:
        found = list(_changes(file, node, word == "kernel"))
        shared = {(change.loop, unindexed(change.target)) for change in found if not change.alone}
        for change in found:
            assert fields is not None
            met = change.alone == _OWN and (change.loop, unindexed(change.target)) in shared
            one = change._replace(alone="") if met else change
            if not one.alone or isinstance(one.node, ast.Call):  # `x += v` does not say that it is atomic
                yield _judged(file, node, one, fields)


def _decorated(file: PyFile, node: ast.FunctionDef) -> str:
    """``kernel`` or ``func``, by a decorator; empty for other functions."""
    for decorator in node.decorator_list:
        root, _, name = file.dotted(decorator).partition(".")
        if root in _ROOTS and name in ("kernel", "func", "real_func", "pyfunc"):
            return "kernel" if name == "kernel" else "func"
    return ""


def _changes(file: PyFile, function: ast.FunctionDef, kernel: bool) -> Iterator[_Change]:
    own, outer = local(function), standing(file, function)
    for node, above in placed(function):
        if not isinstance(node, ast.AugAssign | ast.Call):
            continue
        changed = _changed(file, node)
        if changed is None:
            continue
        operation, target, value = changed
        loop = parallel(file, function.body, above) if kernel else None
        alone = _ONE if kernel and loop is None else _OWN if loop is not None and owned(loop, target) else ""
        seen = _is_global(file, function, target, loop, own)
        if not seen and base(target) not in own:
            continue  # what is handed in by value, or by reference from who knows where
        alone = alone if seen else _LOCAL
        mention = Mention(ast.Name(base(target)), (*outer, *above, node))
        yield _Change(node, mention, target, operation, value, loop, alone)


def standing(file: PyFile, function: ast.FunctionDef) -> tuple[ast.AST, ...]:
    """What a function stands in, and itself: as the mention of a word in it has it."""
    words = (last_name(n) for n in below(function) if isinstance(n, ast.Name | ast.Attribute))
    mentions = (m for word in words for m in file.mentions.get(word, ()) if function in m.scopes)
    found = next(mentions, None)
    return found.parents[: found.parents.index(function) + 1] if found is not None else (function,)


def _changed(file: PyFile, node: ast.AugAssign | ast.Call) -> tuple[str, ast.expr, ast.expr] | None:
    """The operation, the target and the value of ``x += v``, ``ti.atomic_add(x, v)`` and ``x.atomic_add(v)``."""
    if isinstance(node, ast.AugAssign):
        operation = _OPERATIONS.get(type(node.op), "")
        return (operation, node.target, node.value) if operation else None
    return _called(file, node)


def _called(file: PyFile, call: ast.Call) -> tuple[str, ast.expr, ast.expr] | None:
    found = _CALL.match(last_name(call.func))
    if found is None:
        return None
    if file.dotted(call.func).partition(".")[0] in _ROOTS:
        return (found[1], call.args[0], call.args[1]) if len(call.args) == 2 else None
    if isinstance(call.func, ast.Attribute) and len(call.args) == 1:
        return found[1], call.func.value, call.args[0]
    return None


def _is_global(
    file: PyFile, function: ast.FunctionDef, target: ast.expr, loop: ast.For | None, own: dict[str, list[ast.Assign]]
) -> bool:
    """Whether other threads see what is changed."""
    name = base(target)
    element = any(isinstance(node, ast.Subscript) for node in below(target))
    if name in own:
        made = [shown(one.value) for one in own[name]]
        if any("SharedArray" in text for text in made):
            return True
        if element and any(_is_alias(file, one.value) for one in own[name]):
            return True
        # Set by the kernel itself, before its loops.
        outside = any(one in function.body for one in own[name])
        inside = loop is not None and any(one in below(loop) for one in own[name])
        return isinstance(target, ast.Name) and loop is not None and outside and not inside
    arguments = {a.arg: a.annotation for a in positional(function)}
    if name not in arguments or name == "self":
        return bool(name)
    annotation = arguments[name]
    if not element or (annotation is not None and plain_kind(shown(annotation))):
        return False  # by value, or a variable by reference
    if isinstance(annotation, ast.Call) and last_name(annotation.func) in _ARRAYS:
        return True  # one that Python hands in
    given = [(base(one), m.scopes[-1]) for one, m in handed(file, function, name) if m.scopes]
    return (annotation is not None and not given) or any(
        not isinstance(f, ast.FunctionDef) or one not in local(f) for one, f in given
    )


def _is_alias(file: PyFile, value: ast.expr) -> bool:
    """Whether a variable is another name of a field: ``x, y = ti.static(self.x, self.y)``, ``x = self.x``."""
    static = isinstance(value, ast.Call) and file.dotted(value.func).endswith(".static")
    return static or isinstance(value, ast.Attribute)  # of `inc = p`, a vector is copied


def local(function: ast.FunctionDef) -> dict[str, list[ast.Assign]]:
    """The variables of a function, each with what sets it; those of loops with nothing."""
    found: dict[str, list[ast.Assign]] = {}
    for node in below(function):
        if isinstance(node, ast.Assign):
            for target in node.targets:
                for one in below(target):
                    if isinstance(one, ast.Name) and isinstance(one.ctx, ast.Store):
                        found.setdefault(one.id, []).append(node)
        elif isinstance(node, ast.For):
            names = (one.id for one in below(node.target) if isinstance(one, ast.Name))
            found |= {name: found.get(name, []) for name in names}
    return found


def placed(function: ast.FunctionDef) -> Iterator[tuple[ast.AST, tuple[ast.AST, ...]]]:
    """The nodes of a function in order, each with those around it, without functions inside of it."""
    pending: list[tuple[ast.AST, tuple[ast.AST, ...]]] = [(s, ()) for s in reversed(function.body)]
    while pending:
        node, above = pending.pop()
        yield node, above
        if not isinstance(node, ast.FunctionDef | ast.ClassDef | ast.Lambda):
            pending += [(child, (*above, node)) for child in reversed(list(ast.iter_child_nodes(node)))]


def _judged(file: PyFile, function: ast.FunctionDef, change: _Change, fields: Fields) -> Found:
    mention, target, value = change.mention, change.target, change.value
    written = fields.type_of(target, function)
    types = Types(file, mention)
    kind = plain_kind(written) or fields.kind(value, function) or types.kind(value)
    if not kind and isinstance(target, ast.Name):
        kind = types.kind(target)
    if isinstance(change.node, ast.AugAssign):
        found = judged_operation(file, mention, target, change.operation, value, "Taichi", kind)
    else:
        found = judged_call(file, mention, change.node, change.operation, kind, target, value)
    if change.alone:
        what = f"`{found.written}` on `{shown(target, 60)}`: {change.alone}, so the order is always the same"
        found = found._replace(class_=found.class_.replace("unknown", "float-accumulate"), verdict="no", reason=what)
    return found._replace(call=change.node, target_type=written or kind, host=True)
