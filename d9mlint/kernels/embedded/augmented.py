"""Additions that a kernel language makes atomic without saying so: ``out[i] += x`` on an array of Warp's.

https://nvidia.github.io/warp/modules/functions.html: an augmented assignment to an element of an array compiles to
``atomic_add``, ``-=`` to ``atomic_sub``, those by bits to ``atomic_and`` and its kin. A cell that only one thread
writes (``i = wp.tid(); out[i] += x``) is no such site: it is told nowhere.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator

from d9mlint.kernels.embedded.calls import Found, judged_operation
from d9mlint.kernels.embedded.threads import indices, threads
from d9mlint.kernels.python.calls import decorators, positional
from d9mlint.kernels.python.files import PyFile, base
from d9mlint.kernels.python.words import Mention, below

_LANGUAGES = {"warp.kernel": "Warp", "warp.func": "Warp"}
_ARRAYS = ("warp.array", "warp.indexedarray", "warp.fabricarray")
_STRUCT = "warp.struct"
_OPERATIONS: dict[type[ast.operator], str] = {
    ast.Add: "add", ast.Sub: "sub", ast.BitAnd: "and", ast.BitOr: "or", ast.BitXor: "xor"
}  # fmt: skip
_AUGMENTED = re.compile(rb"[-+&|^]=")


def may_add(data: bytes) -> bool:
    """Whether a file may hold kernels of Warp's that add to a cell; cheap to ask."""
    return b"warp" in data and _AUGMENTED.search(data) is not None


def additions(file: PyFile) -> Iterator[Found]:
    """The augmented assignments to cells of arrays in the kernels of a file, judged."""
    for node in file.functions if may_add(file.data) else ():
        if node.decorator_list and _is_kernel(file, node):
            changed = _changed(node)
            arguments = positional(node) if changed else ()
            typed = {a.arg: a.annotation for a in arguments if a.annotation is not None and a.arg in changed}
            arrays = {name: frozenset[str]() for name, type_ in typed.items() if _is_array(file, type_)}
            arrays |= {name: found for name, type_ in typed.items() if (found := _fields(file, type_))}
            own = threads(file, node) if arrays else frozenset()
            for name, fields in arrays.items():
                yield from _of_array(file, node, name, fields, own)


def _is_kernel(file: PyFile, node: ast.FunctionDef) -> bool:
    return any(file.dotted(head) in _LANGUAGES for head in decorators(node))


def _is_array(file: PyFile, annotation: ast.expr) -> bool:
    head = annotation.func if isinstance(annotation, ast.Call) else annotation
    head = head.value if isinstance(head, ast.Subscript) else head
    return file.dotted(head).rstrip("1234d") in _ARRAYS


def _fields(file: PyFile, annotation: ast.expr) -> frozenset[str]:
    """The arrays in a struct of the file: a class that ``wp.struct`` decorates."""
    found = file.defined.get(annotation.id) if isinstance(annotation, ast.Name) else None
    if not isinstance(found, ast.ClassDef) or not any(file.dotted(d) == _STRUCT for d in found.decorator_list):
        return frozenset()
    typed = (node for node in found.body if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name))
    return frozenset(n.target.id for n in typed if isinstance(n.target, ast.Name) and _is_array(file, n.annotation))


def _changed(kernel: ast.FunctionDef) -> set[str]:
    """The names of which an element is the target of an augmented assignment."""
    return {base(node.target) for node in below(kernel) if isinstance(node, ast.AugAssign)} - {""}


def _of_array(
    file: PyFile, kernel: ast.FunctionDef, name: str, fields: frozenset[str], own: frozenset[str]
) -> Iterator[Found]:
    """The changes of cells of an array, or of the arrays that are fields of a struct."""
    for mention in file.mentions.get(name, ()):
        if kernel not in mention.scopes:
            continue
        written = _written(mention)
        if written is None or (own and own <= indices(written.target)):
            continue
        if fields and _field(written.target) not in fields:
            continue
        operation = _OPERATIONS[type(written.op)]
        found = judged_operation(file, mention, written.target, operation, written.value, "Warp")
        yield found._replace(call=written)


def _field(target: ast.expr) -> str:
    """The field of a struct of which an element is meant: ``f`` of ``s.f[i]`` and ``s.f[i].x``; empty for none."""
    at: ast.expr = target
    element = False
    while isinstance(at, ast.Subscript | ast.Attribute):
        if isinstance(at, ast.Attribute) and isinstance(at.value, ast.Name):
            return at.attr if element else ""
        element = element or isinstance(at, ast.Subscript)
        at = at.value
    return ""


def _written(mention: Mention) -> ast.AugAssign | None:
    """The augmented assignment whose target is an element of what is mentioned."""
    inner: ast.AST = mention.node
    for parent in reversed(mention.parents):
        if isinstance(parent, ast.Subscript | ast.Attribute) and parent.value is inner:
            inner = parent
        elif isinstance(parent, ast.AugAssign) and parent.target is inner and inner is not mention.node:
            return parent if type(parent.op) in _OPERATIONS else None
        else:
            return None
    return None
