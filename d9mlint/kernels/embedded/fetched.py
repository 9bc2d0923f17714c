"""Work of Triton programs that is the same whichever of them fetches it: ``tile = tl.atomic_add(next_ptr, 1)``.

As for CUDA (``judging/returned/fetched.py``): a program that goes by the number it has fetched alone, and not by
``tl.program_id``.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from d9mlint.kernels.python.files import PyFile
from d9mlint.kernels.python.words import Mention, below

_LANGUAGE = "triton."
_TELLING = frozenset(("program_id", "smid", "clock", "globaltimer", "inline_asm_elementwise"))
"""In ``triton.language`` and its extras: what tells a program, a multiprocessor or the time from others."""
_KNOWN = frozenset(("range", "min", "max", "abs", "float", "int", "bool", "len"))
_MAX_FUNCTIONS = 40


def alike(file: PyFile, mention: Mention, call: ast.Call, names: frozenset[str], queue: bool) -> bool:
    """Whether what is done by a fetched number, which the variables ``names`` hold, depends on this number alone.

    Outside of a queue it is that of a program: one number, by the same step.
    """
    kernel = mention.scopes[-1] if mention.scopes else None
    if not isinstance(kernel, ast.FunctionDef):
        return False
    counter, step = call.args[:2] if len(call.args) > 1 else (None, None)
    single = isinstance(counter, ast.Name) and isinstance(step, ast.Constant)
    if not single or (not queue and any(isinstance(one, ast.For | ast.While) for one in mention.parents)):
        return False
    begun = {id(node.value) for node in below(kernel) if isinstance(node, ast.Assign) and _into(node) in names}
    return all(_silent(file, function, begun) for function in _reached(file, kernel))


def _into(assignment: ast.Assign) -> str:
    target = assignment.targets[0]
    return target.id if len(assignment.targets) == 1 and isinstance(target, ast.Name) else ""


def _silent(file: PyFile, function: ast.FunctionDef, begun: set[int]) -> bool:
    """Whether a function asks nobody who it is run by, nor a function that is not seen and may.

    What a variable that takes the numbers is first set to may be that: ``tile = tl.program_id(0)``.
    """
    for node in below(function):
        if not isinstance(node, ast.Call) or id(node) in begun:
            continue
        dotted = file.dotted(node.func)
        if dotted.startswith(_LANGUAGE):
            if dotted.rpartition(".")[2] in _TELLING:
                return False
        elif isinstance(node.func, ast.Name) and node.func.id not in _KNOWN and node.func.id not in file.defined:
            return False
    return True


def _reached(file: PyFile, kernel: ast.FunctionDef) -> Iterator[ast.FunctionDef]:
    """A kernel and the functions of its file that it calls, these and those that they call."""
    pending, seen = [kernel], {kernel.name}
    while pending:
        at = pending.pop()
        yield at
        for node in below(at):
            name = node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) else ""
            found = file.defined.get(name)
            if isinstance(found, ast.FunctionDef) and name not in seen and len(seen) < _MAX_FUNCTIONS:
                seen.add(name)
                pending.append(found)
