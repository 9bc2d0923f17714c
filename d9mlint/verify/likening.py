"""Cases made more like the call of a program, and in words what still differs."""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, TypeGuard

from d9mlint.model import EXECUTIONS, Case, OpCall

_MOST_TOLD = 4
_NO_MATTER = ("self", "dtype", "name", "device")
"""Arguments that are told otherwise, or that change nothing."""
_MOST_ELEMENTS = 2**24
"""Larger inputs of a program are not made: each run would take too long, and each process too much memory."""
_FILLED = ("new_zeros", "new_ones")
"""Methods that cases make the tensor with that an op writes to, in its own expression."""


def like(cases: Sequence[Case], call: OpCall) -> Case:
    """The case that is likest with the data type, the execution, autocast, the literals and sizes of the call.

    Sizes may not go together with those that are not known: then ``instead`` is to be executed, which has the words and
    truth values of the call, and sizes of its own.
    """
    case = min(cases, key=lambda one: len(list(_other_arguments(one, call))))
    executions = EXECUTIONS.get(case.framework, ("eager",))
    case = case._replace(
        dtype=call.dtype or case.dtype, execution=call.execution if call.execution in executions else case.execution,
        autocast=call.autocast, like=call.place,
    )  # fmt: skip
    plain = _with_literals(case, call, lambda value: isinstance(value, (str, bool)))
    sized = _with_shapes(_with_literals(case, call, lambda _: True), call)
    return plain if sized == plain else sized._replace(instead=plain)


def unlike(case: Case, calls: Iterable[OpCall], device: str) -> str:
    """How the case differs from the call that is likest: ``float32 instead of bfloat16; eager instead of compiled``."""
    told = ("; ".join(_differences(case.on(device) if device else case, one)) for one in calls)
    return min(told, key=len, default="")


def _differences(case: Case, call: OpCall) -> Iterator[str]:
    own_sizes = ["x".join(map(str, one.shape)) for one in case.inputs if len(one.shape)]
    known = {*own_sizes, *("x".join(map(str, shape)) for shape in _filled(case))}
    unlike = [text for _, text in call.shapes if text.strip("[]").replace(", ", "x") not in known]
    typed = call.dtype and call.dtype != case.dtype
    if typed or unlike:
        own = " ".join(filter(None, [case.dtype if typed else "", " and ".join(own_sizes) if unlike else ""]))
        theirs = " ".join(filter(None, [call.dtype if typed else "", " and ".join(unlike)]))
        yield f"{own} instead of {theirs}"
    if call.execution and call.execution != case.execution:
        yield f"{case.execution} instead of {call.execution}"
    if call.autocast and call.autocast != case.autocast:
        yield f"without autocast to {call.autocast}"
    unlike_arguments = list(_other_arguments(case, call))[:_MOST_TOLD]
    if unlike_arguments:
        words = ", ".join(f"{name}={own}" if own else f"no {name}" for name, own, _ in unlike_arguments)
        yield f"{words} instead of {', '.join(f'{name}={text}' for name, _, text in unlike_arguments)}"


def _other_arguments(case: Case, call: OpCall) -> Iterator[tuple[str, str, str]]:
    """What the call has by name, and the case has not or as another literal: the name, the case's, the call's."""
    found = _called(case, call)
    own = {one.arg: ast.unparse(one.value) for one in found.call.keywords if one.arg} if found is not None else {}
    for name, text in call.arguments:
        if not name.isdigit() and name not in _NO_MATTER and own.get(name) != text:
            yield name, own.get(name, ""), text
    for name, text in call.shapes if found is not None and not found.function else ():
        if not name.isdigit() and name not in ("self", *own):
            yield name, "", text


class _Found(NamedTuple):
    """The call of an op in the expressions of a case."""

    tree: ast.Expression
    call: ast.Call
    made: str = ""
    """Which of the objects that are made before it makes; empty: it stands in what is run."""
    function: bool = False
    """It is the function that the program's layer calls (``conv2d`` of ``Conv2d``), which has other arguments, too."""


def _called(case: Case, call: OpCall) -> _Found | None:
    """The call in a case that is the one of the program: the same last name, in place or not, or that of a layer."""
    wanted = call.name.rpartition(".")[2].rstrip("_")
    for made, text in (("", case.run), *case.make.items()):
        tree = ast.parse(text, mode="eval")
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
                if name.replace("_", "").lower() == wanted.replace("_", "").lower():
                    return _Found(tree, node, made, name.rstrip("_") != wanted)
    return None


def _written(case: Case, found: _Found) -> Case:
    """The case with an expression that was changed; a name that told the arguments apart is no longer true."""
    text = ast.unparse(ast.fix_missing_locations(found.tree))
    if found.made:
        return case._replace(make={**case.make, found.made: text}, name="")
    return case._replace(run=text, name="")


def _with_literals(case: Case, call: OpCall, takes: Callable[[object], bool]) -> Case:
    """The case with the named literals of the call, of those kinds of values that are asked for."""
    found = _called(case, call)
    if found is None:
        return case
    changed = False
    for name, text in call.arguments:
        value = ast.parse(text, mode="eval").body
        if name.isdigit() or name in _NO_MATTER or not takes(ast.literal_eval(value)):
            continue
        given = next((one for one in found.call.keywords if one.arg == name), None)
        if given is None and found.function:
            continue
        if given is None:
            found.call.keywords.append(ast.keyword(name, value))
            changed = True
        elif ast.unparse(given.value) != text:
            given.value = value
            changed = True
    return _written(case, found) if changed else case


def _with_shapes(case: Case, call: OpCall) -> Case:
    """The case with inputs of the sizes that the program's have, where they stand at the same place in the call."""
    found = _called(case, call)
    shapes = {where: _sizes(text) for where, text in call.shapes}
    if (
        found is None
        or found.made
        or found.function
        or not shapes
        or any(math.prod(one) > _MOST_ELEMENTS for one in shapes.values())
    ):
        return case
    changed = False
    named: dict[str, tuple[int, ...]] = {}
    for where, node in _given(found.call).items():
        shape = shapes.get(where)
        if shape is None:
            continue
        if isinstance(node, ast.Name):
            named[node.id] = shape
        elif _is_filled(node):
            sizes: list[ast.expr] = [ast.Constant(size) for size in shape]
            changed = changed or ast.dump(ast.List(node.args)) != ast.dump(ast.List(sizes))
            node.args = sizes
    inputs = tuple(
        one._replace(shape=named[one.name], scaled=()) if one.name in named and one.shape != named[one.name] else one
        for one in case.inputs
    )
    return (_written(case, found)._replace(name=case.name) if changed else case)._replace(inputs=inputs)


def _given(call: ast.Call) -> Mapping[str, ast.expr]:
    """What a call is given, by keyword or position; ``self`` is what a method is called of."""
    owner = {"self": call.func.value} if isinstance(call.func, ast.Attribute) else {}
    positions = {str(number): one for number, one in enumerate(call.args)}
    return {**owner, **positions, **{one.arg: one.value for one in call.keywords if one.arg}}


def _is_filled(node: ast.expr | None) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in _FILLED


def _filled(case: Case) -> Iterator[tuple[int, ...]]:
    """The sizes of tensors that the case makes in its own expression."""
    for node in ast.walk(ast.parse(case.run, mode="eval")):
        if isinstance(node, ast.expr) and _is_filled(node):
            yield tuple(one.value for one in node.args if isinstance(one, ast.Constant) and type(one.value) is int)


def _sizes(text: str) -> tuple[int, ...]:
    """``[64, 128]`` as numbers."""
    return tuple(int(one) for one in text.strip("[]").split(",") if one.strip())
