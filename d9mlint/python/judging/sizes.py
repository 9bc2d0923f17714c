"""Numbers that only say how large something is: parameters of a network that are counted, sizes of tensors.

They are told by how they are written, as arithmetic leaves nothing of where its numbers come from.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import ABOUT
from d9mlint.python.domain.values import UNKNOWN, Class, Func, Seq, Value, alternatives
from d9mlint.python.interpreter.program import Program
from d9mlint.python.source import facts as f
from d9mlint.python.source.queries import inside, statements

_CALLS = (".size", ".dim", ".numel", ".nelement", ".element_size", "builtins.len")
_KEEP = frozenset({"builtins.sum", "builtins.int", "builtins.round", "builtins.float", "builtins.max", "builtins.min"})
"""Calls that give a size where they are given sizes."""
_METHODS = frozenset({"numel", "nelement", "size", "dim", "element_size", "ndimension"})
_COUNTS = frozenset({"len", "numel"})
_ARITHMETIC = frozenset({"sum", "prod", "int", "float", "round", "max", "min", "abs", "str"})
"""Functions that give a size where they are given sizes."""
_OF_NUMBERS = frozenset({"np", "numpy", "math", "builtins"})
_FORMAT = "format"


class _Text(NamedTuple):
    """What a function says, and what the functions of the program say, by their names."""

    body: tuple[f.Stmt, ...]
    functions: Mapping[str, list[f.Def]]


def sizes(program: Program) -> frozenset[int]:
    """The ``id`` of each value that a call gives for how large something is, and of sums of these."""
    found: set[int] = set()
    for event in program.events:
        if event.name.endswith(_CALLS) or (event.name in _KEEP and event.args and _are_sizes(event.args[0], found)):
            found.add(id(event.result))
    return frozenset(found - {id(UNKNOWN)})


def _are_sizes(value: Value, found: set[int]) -> bool:
    """Whether a value, or each in a list, is a size."""
    parts = [*(value.items or ()), *filter(None, (value.element,))] if isinstance(value, Seq) else [value]
    return bool(parts) and all(id(leaf) in found for part in parts for _, leaf in alternatives(part))


def only_sizes(program: Program, printing: Event) -> bool:
    """Whether all that a call in a function is given, as it is written, are sizes and texts."""
    node = printing.func.node if printing.func is not None else None
    if not isinstance(node, f.Def):
        return False
    text = _Text(node.body, program.once("functions-by-name", _functions))
    at = printing.location.line, printing.location.column
    calls = [call for call in inside(text.body, f.Call) if call.place[:2] == at]
    return bool(calls) and all(_is_size(arg.value, text, frozenset()) for call in calls for arg in call.args)


def _functions(program: Program) -> dict[str, list[f.Def]]:
    found: dict[str, list[f.Def]] = {}
    frames = [module.frame for module in program.story.modules if module.frame is not None]
    own = [one for frame in frames for one in frame.vars.values()]
    own += [one for cls in own if isinstance(cls, Class) for one in cls.frame.vars.values()]
    for one in own:
        if isinstance(one, Func) and isinstance(one.node, f.Def) and one.node not in found.get(one.node.name, ()):
            found.setdefault(one.node.name, []).append(one.node)
    return found


def _is_size(node: f.Expr, text: _Text, seen: frozenset[str]) -> bool:
    """Whether an expression is a size, a text, or made of these alone; ``seen``: names whose values are looked at."""
    if isinstance(node, f.Const):
        return True
    if isinstance(node, f.Attr):
        return node.name in ABOUT
    if isinstance(node, f.Sub):
        return _is_size(node.value, text, seen)
    if isinstance(node, f.Name):
        return node.id in seen or _is_bound_to_sizes(node.id, text, seen | {node.id})
    if isinstance(node, f.Call):
        return _gives_size(node, text, seen)
    if isinstance(node, f.Comp):
        return node.value is None and _is_size(node.element, text, seen)
    parts = (
        node.operands if isinstance(node, f.Op) else
        node.parts if isinstance(node, f.Format) else
        node.items if isinstance(node, f.Items) else
        (node.body, node.orelse) if isinstance(node, f.IfExp) else ()
    )  # fmt: skip
    return bool(parts) and all(_is_size(part, text, seen) for part in parts)


def _gives_size(call: f.Call, text: _Text, seen: frozenset[str]) -> bool:
    func = call.func
    name = func.id if isinstance(func, f.Name) else func.name if isinstance(func, f.Attr) else ""
    if name in _COUNTS or (isinstance(func, f.Attr) and name in _METHODS):
        return True
    plain = isinstance(func, f.Name) or (
        isinstance(func, f.Attr) and isinstance(func.value, f.Name) and func.value.id in _OF_NUMBERS
    )
    filled = name == _FORMAT and isinstance(func, f.Attr) and isinstance(func.value, f.Const)
    if filled or (plain and name in _ARITHMETIC):
        return bool(call.args) and all(_is_size(arg.value, text, seen) for arg in call.args)
    known = text.functions.get(name, ())
    return bool(known) and name not in seen and all(_returns_size(one, text, seen | {name}) for one in known)


def _returns_size(node: f.Def, text: _Text, seen: frozenset[str]) -> bool:
    """Whether all that a function returns are sizes."""
    own = _Text(node.body, text.functions)
    values = [one.value for one in statements(node.body) if isinstance(one, f.Return)]
    called = frozenset(name for name in seen if name in text.functions)
    return not node.generator and bool(values) and all(
        value is not None and _is_size(value, own, called) for value in values
    )  # fmt: skip


def _is_bound_to_sizes(name: str, text: _Text, seen: frozenset[str]) -> bool:
    """Whether a name is bound by assignments alone, and each to a size."""
    target = f.Name(name)
    values: list[f.Expr | None] = []
    for one in statements(text.body):
        if (isinstance(one, f.Assign) and target in one.targets) or (
            isinstance(one, f.Augment) and one.target == target
        ):
            values.append(one.value)
        elif name in _bound_otherwise(one):
            return False
    return bool(values) and all(value is not None and _is_size(value, text, seen) for value in values)


def _bound_otherwise(node: f.Stmt) -> frozenset[str]:
    """The names that a statement binds to parts of something."""
    targets = (
        [one for one in node.targets if isinstance(one, f.Items)] if isinstance(node, f.Assign) else
        [node.target] if isinstance(node, f.For) else
        [target for _, target in node.items if target is not None] if isinstance(node, f.With) else []
    )  # fmt: skip
    return frozenset(one.id for target in targets for one in inside((target,), f.Name))
