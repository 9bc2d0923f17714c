"""A user's file with a call to execute (``make`` and ``run``): what it says of itself, read and not run."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from d9mlint.model import DTYPES, EXECUTIONS, Case, UsageError

_FRAMEWORKS = {"torch": "torch", "tensorflow": "tensorflow", "keras": "tensorflow", "jax": "jax"}
_DEVICES = ("gpu", "cpu")


class Made(NamedTuple):
    """The case, and the packages that the file imports besides the framework."""

    case: Case
    packages: tuple[str, ...]


def read(path: Path, op: str, executions: tuple[str, ...] = ()) -> Made:
    """The case of a file.

    Raises:
        UsageError: there is no such file, it cannot be parsed, it lacks ``make`` or ``run``, a constant is wrong.
    """
    try:
        tree = ast.parse(path.read_bytes(), filename=str(path))
    except OSError as error:
        raise UsageError(f"--make: cannot read {path}: {error.strerror}") from None
    except (SyntaxError, ValueError, RecursionError) as error:
        line = f":{error.lineno}" if isinstance(error, SyntaxError) else ""
        raise UsageError(f"--make: {path}{line}: no Python: {getattr(error, 'msg', error)}") from None
    functions = {one.name: one for one in tree.body if isinstance(one, ast.FunctionDef)}
    for name in ("make", "run"):
        if name not in functions:
            raise UsageError(f"--make: {path}: it needs a function `{name}` at top level")
    roots = _imported(tree)
    constants = _constants(tree, path)
    framework = _framework(constants, roots, path)
    parameters = _parameters(functions["run"], path)
    gradient = tuple(constants.get("GRADIENT", ()))
    if unknown := [one for one in gradient if one not in parameters]:
        raise UsageError(f"--make: {path}: GRADIENT names {unknown[0]!r}, which `run` has no parameter for")
    ways = EXECUTIONS.get(framework, ("eager",))
    execution = next((one for one in executions if one in ways), constants.get("EXECUTION", "eager"))
    _one_of(path, "EXECUTION", execution, ways)
    dtype = constants.get("DTYPE", "float32")
    _one_of(path, "DTYPE", dtype, DTYPES)
    devices = tuple(constants.get("DEVICES", _DEVICES))
    for one in devices:
        _one_of(path, "DEVICES", one, _DEVICES)
    called = ", ".join(f"{name}={name}" for name in parameters)
    case = Case(
        op, framework, "backward" if gradient else "forward", f"run({called})", gradient=gradient, execution=execution,
        dtype=dtype, devices=devices, name=(ast.get_docstring(tree) or "").partition("\n")[0],
        file=str(path.resolve()),
    )  # fmt: skip
    return Made(case, tuple(sorted(roots - _FRAMEWORKS.keys())))


def _constants(tree: ast.Module, path: Path) -> dict[str, Any]:
    """What is assigned to capital names, where it is a literal."""
    found: dict[str, Any] = {}
    for node in tree.body:
        target = node.targets[0] if isinstance(node, ast.Assign) and len(node.targets) == 1 else None
        if isinstance(node, ast.Assign) and isinstance(target, ast.Name) and target.id in _WORDS:
            try:
                found[target.id] = ast.literal_eval(node.value)
            except ValueError:
                raise UsageError(f"--make: {path}:{node.lineno}: {target.id} must be a literal") from None
            kind = _WORDS[target.id]
            if not isinstance(found[target.id], kind) or not all(isinstance(one, str) for one in found[target.id]):
                what = "a text" if kind is str else "a list of texts"
                raise UsageError(f"--make: {path}:{node.lineno}: {target.id} must be {what}")
    return found


_WORDS: dict[str, Any] = {
    "FRAMEWORK": str, "EXECUTION": str, "DTYPE": str, "GRADIENT": (list, tuple), "DEVICES": (list, tuple),
}  # fmt: skip


def _imported(tree: ast.Module) -> set[str]:
    """The packages that it imports, wherever."""
    names: list[str] = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names += [one.name for one in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level and node.module:
            names.append(node.module)
    return {name.partition(".")[0] for name in names} - {"__future__"}


def _framework(constants: dict[str, Any], roots: set[str], path: Path) -> str:
    known = sorted({_FRAMEWORKS[one] for one in roots & _FRAMEWORKS.keys()})
    named = constants.get("FRAMEWORK", known[0] if len(known) == 1 else "")
    if named:
        _one_of(path, "FRAMEWORK", named, sorted(set(_FRAMEWORKS.values())))
        return str(named)
    found = f"it imports {' and '.join(known)}" if known else "it imports none"
    raise UsageError(f'--make: {path}: which framework is it about? {found}; write FRAMEWORK = "torch", for instance')


def _parameters(run: ast.FunctionDef, path: Path) -> list[str]:
    given = run.args
    if given.vararg or given.kwarg or given.posonlyargs:
        raise UsageError(f"--make: {path}:{run.lineno}: `run` takes the inputs by name: no *args, no **kwargs")
    return [one.arg for one in (*given.args, *given.kwonlyargs)]


def _one_of(path: Path, name: str, value: str, known: Sequence[str]) -> None:
    if value not in known:
        raise UsageError(f"--make: {path}: {name} = {value!r}: choose one of {', '.join(known)}")
