"""The operators of PyTorch's dispatcher that Python files register for their functions (``torch.library``)."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from d9mlint.kernels.python.calls import argument, last_name, literal, positional
from d9mlint.kernels.python.files import PyFile, PyFiles
from d9mlint.kernels.python.words import Mention, below

_OPERATOR = re.compile(r"\w+::\w+(?:\.\w+)?")
_NO_KERNEL = re.compile(r"fake|abstract|autograd|autocast|vmap|torch_dispatch|define")
"""In the names of functions that register something else for an operator than what computes it."""
_SHAPES = ("Meta", "FakeTensor")
"""The dispatch keys of what only tells shapes."""
_LIBRARY = "torch.library.Library"
_MAX_LINKS = 4
"""Modules that hand on what they import from another one."""


class _Registered(NamedTuple):
    """What a call gives a library: an operator's name without the namespace, and what runs for it."""

    name: ast.expr
    library: ast.expr
    function: ast.expr | None
    """None for what a decorator is put on."""


def operators(files: PyFiles, file: PyFile, node: ast.AST) -> list[str]:
    """The operators that a function implements by what decorates it.

    ``@torch.library.custom_op("ns::op", ...)``, ``@torch.library.impl(library, "op", "CUDA")``; not those that only
    tell shapes or gradients.
    """
    calls = [d for d in getattr(node, "decorator_list", ()) if isinstance(d, ast.Call)]
    return list(dict.fromkeys(name for call in calls for name in _named(files, file, call, None)))


def given(files: PyFiles, file: PyFile, mention: Mention) -> list[str]:
    """The operators for which a function is registered by what it is given to.

    ``register_kernel("ns::op", "cuda")(function)``, ``torch.library.impl("ns::op", "cuda", function)``,
    ``library.impl("op", function, "CUDA")``, and a function of the project that does so with its arguments.
    """
    parents = mention.parents
    inside = bool(parents) and isinstance(parents[-1], ast.keyword)
    call = parents[-2] if inside and len(parents) > 1 else parents[-1] if parents else None
    if not isinstance(call, ast.Call) or not (inside or mention.node in call.args):
        return []
    found = list(_named(files, file, call, mention.node))
    if isinstance(call.func, ast.Call):
        found += _named(files, file, call.func, None)
    return list(dict.fromkeys(found))


def gradients(files: PyFiles, file: PyFile) -> Mapping[str, str]:
    """The functions given to ``register_autograd``, each with its operator.

    Of ``torch.library`` (``register_autograd("ns::op", backward)``), or of the operator that a decorator made.
    """
    found: dict[str, str] = {}
    for mention in file.mentions.get("register_autograd", ()):
        call = mention.call
        if call is None or not call.args:
            continue
        first = call.args[0]
        made = mention.node.value if isinstance(mention.node, ast.Attribute) else None
        if len(call.args) > 1 and isinstance(first, ast.Constant) and isinstance(first.value, str):
            names, function = [first.value], call.args[1]
        else:
            node = file.defined.get(made.id) if isinstance(made, ast.Name) else None
            names, function = operators(files, file, node) if node is not None else [], first
        if names and isinstance(function, ast.Name):
            found.setdefault(function.id, names[0])
    return found


def _named(files: PyFiles, file: PyFile, call: ast.Call, function: ast.AST | None) -> Iterator[str]:
    """The full names of the operators that a call registers a function for (None: what it decorates)."""
    if _NO_KERNEL.search(last_name(call.func)) or any(literal(one) in _SHAPES for one in call.args):
        return
    first = literal(call.args[0]) if call.args else ""
    if _OPERATOR.fullmatch(first):
        yield first.partition(".")[0]
        return
    registered = _in_library(file, call)
    if registered is not None and registered.function is function:
        yield from _full(namespace(files, file, registered.library), literal(registered.name))
    elif function is not None:
        yield from _by_function(files, file, call, function)


def _in_library(file: PyFile, call: ast.Call) -> _Registered | None:
    """What ``library.impl("op", function)`` or ``torch.library.impl(library, "op", "CUDA")`` registers."""
    func, args = call.func, call.args
    if isinstance(func, ast.Attribute | ast.Name) and file.dotted(func) == "torch.library.impl" and len(args) > 1:
        handed = argument(call, 3, "func")
        return _Registered(args[1], args[0], handed)
    if isinstance(func, ast.Attribute) and func.attr == "impl" and args:
        handed = argument(call, 1, "fn")
        return _Registered(args[0], func.value, handed) if handed is not None else None
    return None


def _by_function(files: PyFiles, file: PyFile, call: ast.Call, function: ast.AST) -> Iterator[str]:
    """The operators of a function that registers, by its parameters, what it is given."""
    home, registering = definition(files, file, call.func)
    if home is None or registering is None or b".impl(" not in home.data:
        return
    handed = arguments(registering, call)
    for node in below(registering):
        registered = _in_library(home, node) if isinstance(node, ast.Call) else None
        if registered is None or registered.function is None:
            continue
        if handed.get(getattr(registered.function, "id", "")) is not function:
            continue
        name = handed.get(getattr(registered.name, "id", ""))
        for library in _alternatives(registering, registered.library):
            own = handed.get(getattr(library, "id", ""))
            space = namespace(files, file, own) if own is not None else namespace(files, home, library)
            if space and name is not None:
                yield from _full(space, literal(name))
                return


def _alternatives(definition: ast.FunctionDef, library: ast.expr) -> list[ast.expr]:
    """What a variable of a function may stand for, the first first: ``mine = given or OURS``."""
    name = getattr(library, "id", "")
    values = [
        node.value
        for node in below(definition)
        if isinstance(node, ast.Assign) and any(getattr(target, "id", "") == name for target in node.targets)
    ]
    found: list[ast.expr] = []
    for value in values:
        if isinstance(value, ast.BoolOp):
            found += value.values
        elif isinstance(value, ast.IfExp):
            found += [value.body, value.orelse]
        else:
            found.append(value)
    return [*found, library]


def arguments(function: ast.FunctionDef, call: ast.Call) -> dict[str, ast.expr]:
    """What a call gives a function, by the names of its parameters."""
    names = [one.arg for one in positional(function)]
    by_place = dict(zip(names, call.args, strict=False))
    return by_place | {k.arg: k.value for k in call.keywords if k.arg}


def definition(files: PyFiles, file: PyFile, called: ast.expr) -> tuple[PyFile | None, ast.FunctionDef | None]:
    """The function that an expression names, and its file."""
    home, node = _meaning(files, file, called)
    return (home, node) if isinstance(node, ast.FunctionDef) else (None, None)


def _meaning(files: PyFiles, file: PyFile, named: ast.expr) -> tuple[PyFile, ast.AST | None]:
    """What a module of the project defines under the name that an expression stands for, and that module's file."""
    if isinstance(named, ast.Name) and named.id in file.defined:
        return file, file.defined[named.id]
    dotted = file.dotted(named)
    for _ in range(_MAX_LINKS):
        module, _, name = dotted.rpartition(".")
        path = files.modules.get(module, "")
        home = files.file(path) if path else None
        if home is None:
            break
        if name in home.defined:
            return home, home.defined[name]
        dotted = home.imports.get(name, "")
    return file, None


def namespace(files: PyFiles, file: PyFile, library: ast.expr) -> str:
    """The namespace of a ``torch.library.Library``; empty where that is not told."""
    home, value = file, library
    if not isinstance(library, ast.Call):
        home, node = _meaning(files, file, library)
        if not isinstance(node, ast.Assign):
            return ""
        value = node.value
    made = isinstance(value, ast.Call) and value.args and home.dotted(value.func) == _LIBRARY
    return literal(value.args[0]) if made and isinstance(value, ast.Call) else ""


def _full(space: str, name: str) -> Iterator[str]:
    """The full name, without what follows it in a schema and without an overload's."""
    plain = name.partition("(")[0].partition(".")[0].strip()
    if space and plain.isidentifier():
        yield f"{space}::{plain}"
