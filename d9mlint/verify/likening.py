"""Cases made more like the call of a program, and in words what still differs."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from d9mlint.model import EXECUTIONS, Case, OpCall

_MOST_TOLD = 4


def like(case: Case, call: OpCall) -> Case:
    """The case with the data type, the execution, autocast and the words and truth values that the call is given.

    Sizes stay those of the case: it has many addends for few cells, as a small call would seldom show a race.
    """
    run = _with_arguments(case, call)
    executions = EXECUTIONS.get(case.framework, ("eager",))
    execution = call.execution if call.execution in executions else case.execution
    return case._replace(
        run=run, dtype=call.dtype or case.dtype, execution=execution, autocast=call.autocast, like=call.place
    )


def unlike(case: Case, calls: Iterable[OpCall], device: str) -> str:
    """How the case differs from the call that is likest: ``float32 instead of bfloat16; eager instead of compiled``."""
    told = ("; ".join(_differences(case.on(device) if device else case, one)) for one in calls)
    return min(told, key=len, default="")


def _differences(case: Case, call: OpCall) -> Iterator[str]:
    case_sizes = [f"{'x'.join(map(str, one.shape))}" for one in case.inputs if len(one.shape)]
    sizes = [text for _, text in call.shapes]
    unlike = [text for text in sizes if text.strip("[]").replace(", ", "x") not in case_sizes]
    typed = call.dtype and call.dtype != case.dtype
    if typed or unlike:
        own = " ".join(filter(None, [case.dtype if typed else "", " and ".join(case_sizes) if unlike else ""]))
        theirs = " ".join(filter(None, [call.dtype if typed else "", " and ".join(unlike)]))
        yield f"{own} instead of {theirs}"
    if call.execution and call.execution != case.execution:
        yield f"{case.execution} instead of {call.execution}"
    if call.autocast and call.autocast != case.autocast:
        yield f"without autocast to {call.autocast}"
    yield from _other_arguments(case, call)


def _other_arguments(case: Case, call: OpCall) -> Iterator[str]:
    """Literals that the call has by name and the case does not, or has another value for."""
    found = _called(ast.parse(case.run, mode="eval"), call)
    own = {one.arg: ast.unparse(one.value) for one in found.keywords if one.arg} if found is not None else {}
    told = [(name, text) for name, text in call.arguments if not name.isdigit() and name not in ("self", "dtype")]
    unlike = [(name, text) for name, text in told if own.get(name) != text]
    if unlike:
        words = ", ".join(f"{name}={own[name]}" if name in own else f"no {name}" for name, _ in unlike[:_MOST_TOLD])
        yield f"{words} instead of {', '.join(f'{name}={text}' for name, text in unlike[:_MOST_TOLD])}"


def _called(tree: ast.Expression, call: OpCall) -> ast.Call | None:
    """The call in the expression of a case that is the one of the program: the same last name, in place or not."""
    wanted = call.name.rpartition(".")[2].rstrip("_")
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            name = node.func.attr if isinstance(node.func, ast.Attribute) else getattr(node.func, "id", "")
            if name.rstrip("_") == wanted:
                return node
    return None


def _with_arguments(case: Case, call: OpCall) -> str:
    """The expression with the named words and truth values of the call, which leave the sizes of results alone."""
    tree = ast.parse(case.run, mode="eval")
    found = _called(tree, call)
    if found is None:
        return case.run
    changed = False
    for name, text in call.arguments:
        value = ast.parse(text, mode="eval").body
        if name.isdigit() or name == "self" or not isinstance(value, ast.Constant):
            continue
        if not isinstance(value.value, (str, bool)):
            continue
        given = next((one for one in found.keywords if one.arg == name), None)
        if given is None:
            found.keywords.append(ast.keyword(name, value))
            changed = True
        elif ast.unparse(given.value) != text:
            given.value = value
            changed = True
    return ast.unparse(ast.fix_missing_locations(tree)) if changed else case.run
