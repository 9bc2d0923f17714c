"""The cases of the op files: read only where ops are to be executed, never by linting.

Imports yaml: only ``d9mlint verify``, ``explain`` and the full check of the catalogue import this module.
"""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import lru_cache
from itertools import product
from pathlib import Path
from typing import NamedTuple

from d9mlint.catalogue.files import File, gather, rules_folder
from d9mlint.catalogue.schema.entries import DEVICES, op_items
from d9mlint.catalogue.schema.nodes import Item
from d9mlint.model import DTYPES, EXECUTIONS, FLOATS, Case, CatalogueError, Input, Op
from d9mlint.model.case import VALUES

PROBES = "probes"
"""The folder of op files that only ``verify`` reads: ops of frameworks that the Python rules do not judge (yet)."""
_NAMES = {
    "tensorflow": ("tf", "keras", "np"), "torch": ("torch",), "jax": ("jax", "jnp", "np"),
    "numba": ("numba", "cuda", "np"), "cupy": ("cupy", "cupyx", "np"), "triton": ("triton", "tl", "torch"),
}  # fmt: skip
"""What an expression may name besides its inputs."""
_SAFE_BUILTINS = ("len", "range", "list", "tuple", "dict", "float", "int", "slice", "True", "False", "None")
_KEYS = ("name", "inputs", "define", "make", "run", "gradient", "execution", "dtype", "devices", "scale")
_INPUT_KEYS = ("shape", "values", "dtype", "below", "low", "high")
_PARAMETER = re.compile(r"[a-z_][a-z0-9_]*", re.ASCII)
_MOST_ELEMENTS = 2**26
_UNWRITTEN = "the catalogue has no case for it"
_MOST_TIMES = 1024
_GROWING = re.compile(r"([1-9][0-9]{0,8})\*", re.ASCII)


class Executable(NamedTuple):
    """An op and its cases; without any it can be looked up but not executed."""

    op: Op
    cases: tuple[Case, ...]
    without: str = _UNWRITTEN
    """Why there are none, where there are none."""


def read_cases(extra: Sequence[Path] = (), folder: Path | None = None) -> tuple[Executable, ...]:
    """All ops with their cases, those of the probes and of the user's own op files among them.

    Raises:
        CatalogueError: with file:line of everything that is wrong.
    """
    files = gather(folder or rules_folder(), extra, None)
    found: list[Executable] = []
    errors: list[str] = []
    for file in (*files.rules, *files.extra):
        if file.family == PROBES or file.extra or file.has_ops:
            try:
                found.extend(executables(file))
            except CatalogueError as error:
                errors.append(str(error))
    if errors:
        raise CatalogueError("\n".join(errors))
    # An op that the rules know may have its cases among the probes.
    cased = {(one.op.framework, one.op.name) for one in found if one.cases}
    return tuple(one for one in found if one.cases or (one.op.framework, one.op.name) not in cased)


@lru_cache(maxsize=256)  # more than there are: a server is asked again and again for the same files
def executables(file: File) -> tuple[Executable, ...]:
    """The ops of one file, with their cases."""
    found = []
    for op, values in op_items(file.shown, file.text(), file.extra):
        cases = [case for item in _written(values) for case in _cases(item, op)]
        named = [case.key for case in cases]
        for item in _written(values):
            if len(set(named)) != len(named):
                raise item.error(f"two cases of `{op.name}` are called the same; give them different names")
        why = values["no_case"].prose() if "no_case" in values else _UNWRITTEN
        found.append(Executable(op, tuple(cases), why))
    return tuple(found)


def _written(values: Mapping[str, Item]) -> list[Item]:
    """``case: {...}``, ``cases: [...]`` or ``no_case: why``: one of them at most."""
    given = [values[key] for key in ("case", "cases", "no_case") if key in values]
    if len(given) > 1:
        raise given[0].error("give one of `case`, `cases` and `no_case`")
    return [values["case"]] if "case" in values else values["cases"].items() if "cases" in values else []


def _cases(item: Item, op: Op) -> list[Case]:
    """A case for every dtype and execution in its lists."""
    values = item.mapping(_KEYS, ("run",))
    inputs = _inputs(values["inputs"]) if "inputs" in values else ()
    known = [*(one.name for one in inputs), *_NAMES.get(op.framework, (op.framework,))]
    define, defined = _defined(values["define"], known) if "define" in values else ("", [])
    known += defined
    make: dict[str, str] = {}
    for name, (key, value) in (values["make"].pairs() if "make" in values else {}).items():
        key.like(_PARAMETER, "a name in lower case")
        make[name] = expression(value, known)
        known.append(name)
    run = expression(values["run"], known)
    targets = tuple(expression(one, known) for one in values["gradient"].several()) if "gradient" in values else ()
    if op.direction == "backward" and not targets:
        raise item.error(f"`{op.name}` is about the backward direction: the case needs `gradient`")
    direction = "both" if op.direction == "both" and targets else "backward" if targets else "forward"
    ways = EXECUTIONS.get(op.framework, ("eager",))
    executions = _choices(values, "execution", ways, ways[:1])
    scale = _scale(values["scale"]) if "scale" in values else {}
    dtypes = _choices(values, "dtype", FLOATS, ("float32",))
    return [
        Case(
            op=op.name, framework=op.framework, direction=direction, run=run, inputs=inputs, make=make,
            name=values["name"].prose() if "name" in values else "", gradient=targets, define=define, scale=scale,
            execution=execution, dtype=dtype, devices=_choices(values, "devices", DEVICES, ("gpu", "cpu")),
            about=op.devices, versions=tuple(one.versions for one in op.status),
        )
        for dtype, execution in product(dtypes, executions)
    ]  # fmt: skip


def _choices(values: Mapping[str, Item], key: str, known: Sequence[str], default: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(item.one_of(known) for item in values[key].several()) if key in values else default


def _inputs(item: Item) -> tuple[Input, ...]:
    found = []
    for name, (key, value) in item.pairs().items():
        key.like(_PARAMETER, "a name in lower case")
        found.append(_input(name, value))
    return tuple(found)


def _input(name: str, item: Item) -> Input:
    values = item.mapping(_INPUT_KEYS, ("shape",))
    kind = values["values"].one_of(VALUES) if "values" in values else "normal"
    indexed = kind in ("index", "sorted-index")
    below = number_of(values["below"], whole=True) if "below" in values else 0
    if indexed != (below > 0):
        raise item.error("`below` (at least 1) goes with `values: index` and `sorted-index`, and only with these")
    shape, scaled = _shape(values["shape"])
    return Input(
        name=name,
        shape=shape,
        scaled=scaled,
        values=kind,
        dtype=values["dtype"].one_of(DTYPES) if "dtype" in values else "int64" if indexed else "",
        below=int(below),
        low=number_of(values["low"]) if "low" in values else 0.0,
        high=number_of(values["high"]) if "high" in values else 1.0,
    )


def shape_of(item: Item) -> tuple[int, ...]:
    """Sizes of at least 1, not too many elements together."""
    sizes, scaled = _shape(item)
    if scaled:
        raise item.error(f"sizes in {item.key} are plain numbers: only those of ops grow")
    return sizes


def _shape(item: Item) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The sizes, and the places of those written with a `*`, which grow with the case's scale."""
    if not item.is_list():
        raise item.wrong("a list of sizes such as [64, 32]")
    sizes, scaled = [], []
    total = 1
    for place, one in enumerate(item.several() if item.node.value else []):
        written = one.scalar() if not one.is_list() and not one.is_mapping() else None
        grows = isinstance(written, str) and _GROWING.fullmatch(written)
        size = int(grows[1]) if grows else int(number_of(one, whole=True))
        sizes.append(size)
        scaled += [place] if grows else []
        total *= size
        if size < 1 or total > _MOST_ELEMENTS:
            raise item.error(f"sizes in {item.key} are at least 1, and {_MOST_ELEMENTS} elements at most")
    return tuple(sizes), tuple(scaled)


def _scale(item: Item) -> dict[str, int]:
    """By device, how many times as large the sizes written with a `*` are."""
    found = {}
    for name, (key, value) in item.pairs().items():
        key.one_of(DEVICES)
        found[name] = int(number_of(value, whole=True))
        if not 1 <= found[name] <= _MOST_TIMES:
            raise value.error(f"a scale is between 1 and {_MOST_TIMES}")
    return found


def number_of(item: Item, whole: bool = False) -> float:
    """A number; with ``whole`` an integer."""
    value = item.scalar() if not item.is_list() and not item.is_mapping() else None
    if type(value) is not int and (whole or type(value) is not float):
        raise item.wrong("a whole number" if whole else "a number")
    return value if isinstance(value, (int, float)) else 0


def expression(item: Item, known: Iterable[str]) -> str:
    """A Python expression that uses nothing but known names and public attributes."""
    text = item.prose()
    _harmless(item, _parsed(item, text, "eval"), known)
    return text


def _defined(item: Item, known: Iterable[str]) -> tuple[str, list[str]]:
    """Functions, decorated or not, and their names; the same holds in them as in expressions."""
    text = item.prose()
    tree = _parsed(item, text, "exec")
    assert isinstance(tree, ast.Module)
    functions = [one for one in tree.body if isinstance(one, ast.FunctionDef)]
    if not functions or len(functions) < len(tree.body):
        raise item.error(f"{item.key} holds functions and nothing else")
    if any(isinstance(node, (ast.Import, ast.ImportFrom)) for node in ast.walk(tree)):
        raise item.error(f"{item.key} must not import")
    names = [one.name for one in functions]
    _harmless(item, tree, [*known, *names])
    return text, names


def _parsed(item: Item, text: str, mode: str) -> ast.AST:
    what = "Python expression" if mode == "eval" else "Python code"
    try:
        return ast.parse(text, mode=mode)
    except (SyntaxError, ValueError, RecursionError) as error:
        raise item.error(f"{item.key} is no {what}: {getattr(error, 'msg', error)}") from None


def _harmless(item: Item, tree: ast.AST, known: Iterable[str]) -> None:
    """Complains of private attributes and of names that are not known."""
    allowed = {*known, *_SAFE_BUILTINS}
    bound = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)}
    bound |= {node.arg for node in ast.walk(tree) if isinstance(node, ast.arg)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            raise item.error(f"{item.key} uses the private attribute `{node.attr}`")
        if isinstance(node, ast.Name) and node.id not in allowed | bound:
            what = "is not allowed in a case" if hasattr(builtins, node.id) else "is neither an input nor made"
            raise item.error(f"`{node.id}` in {item.key} {what}")
