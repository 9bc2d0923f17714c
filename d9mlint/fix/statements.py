"""The statements that a remedy names, put into a program at the first place that is early enough for them.

A remedy is what the catalogue says for the version at hand, so a patch is made of its code: nothing is known twice.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

import libcst as cst
from libcst.helpers import get_full_name_for_node
from libcst.metadata import MetadataWrapper, PositionProvider

from d9mlint.fix.edits import NEWLINE
from d9mlint.model import Edit, Location

_CODE = re.compile(r"`([^`\n]+)`")
_SEED = re.compile(
    r"(random|np\.random|torch|tf\.random|tf|tf\.keras\.utils|keras\.utils)\.(seed|manual_seed|set_seed|set_random_seed)\(\d+\)"
)
_SWITCH = re.compile(
    r"os\.environ\[[\"']\w+[\"']\] = [^`\n]+|torch\.(use_deterministic_algorithms|set_deterministic)\(True\)|"
    r"torch\.backends\.cudnn\.(deterministic = True|benchmark = False)|"
    r"tf\.config\.experimental\.enable_op_determinism\(\)"
)
_VALUE = re.compile(r"\] = (?![\"'][^\"']*[\"']$)")
"""A variable of the environment that is set to something else than a plain text."""
_ROOTS = {"random": "random", "np": "numpy", "torch": "torch", "tf": "tensorflow", "keras": "keras", "os": "os"}
"""The first name of a statement, and the package that it stands for."""
_NUMBER = re.compile(r"\(\d+\)$")
_STANDARD = ("random", "os")
_EVERYWHERE = (*_STANDARD, "numpy")
_PACKAGES = frozenset(
    {*_ROOTS.values(), "__future__", "sys", "math", "time", "datetime", "json", "argparse", "logging", "pathlib", "re",
     "collections", "itertools", "functools", "typing", "dataclasses", "absl", "torchvision", "jax", "flax", "optax"}
)  # fmt: skip
"""Packages whose import draws nothing."""
_GRAPH = "tensorflow.compat.v1"
"""As ``tf``, it seeds by the function of TensorFlow 1."""
_SEEDS = (
    (re.compile(r"random\."), ("python",)),
    (re.compile(r"np\."), ("numpy",)),
    (re.compile(r"torch\."), ("torch", "torch-device")),
    (re.compile(r"(tf\.)?keras\.utils\.set_random_seed"), ("tensorflow", "keras", "python", "numpy")),
    (re.compile(r"tf\."), ("tensorflow", "keras")),
)
"""What a statement seeds, by how it begins."""
OF = {"python": "random.seed(1)", "numpy": "np.random.seed(1)", "torch": "torch.manual_seed(1)"}
"""What seeds a generator in all versions."""
_KERAS = frozenset({"tensorflow", "keras"})
Cells = Sequence[tuple[int, int]]
"""First and last line of each cell."""


class Block(NamedTuple):
    """Statements for one program, in order, and whether the program computes the same with them, only repeatably."""

    statements: tuple[str, ...]
    safe: bool


def block(remedy: str, generators: Sequence[str] = ()) -> Block | None:
    """The statements of a remedy that a program can start with; None where it names none.

    ``generators`` are those that a seed is missing for: what seeds others only is for other programs.
    """
    code = list(dict.fromkeys(_CODE.findall(remedy)))
    seeds = _enough([one for one in code if _SEED.fullmatch(one)], generators)
    switches = [one for one in code if _SWITCH.fullmatch(one)]
    found = [*(one for one in switches if one.startswith("os.")), *seeds]
    found += [one for one in switches if not one.startswith("os.")]
    return Block(tuple(found), not switches) if found else None


def fits(statement: str, sources: Iterable[bytes]) -> bool:
    """Whether a program with these sources has what a statement is about: NumPy and what Python brings always count."""
    package = _ROOTS.get(statement.partition(".")[0], "")
    return package in _EVERYWHERE or any(package.encode() in source for source in sources)


def stands_alone(statement: str) -> bool:
    """Whether a statement of a program means the same at its start: a seed or a switch with nothing but constants."""
    constant = _SEED.fullmatch(statement) or (_SWITCH.fullmatch(statement) and not _VALUE.search(statement))
    return bool(constant) and statement.partition(".")[0] in _ROOTS


def _enough(seeds: Sequence[str], generators: Sequence[str]) -> list[str]:
    """The fewest of these statements that seed all of ``generators``; all of them where none is named."""
    if not generators:
        return list(seeds)
    chosen: list[str] = []
    missing = set(generators)
    keras = bool(_KERAS & missing)  # what seeds these seeds Python and NumPy, too, and is for programs that use them
    for one in sorted(seeds, key=lambda one: bool(_KERAS.intersection(_seeded(one))) is not keras):
        if missing.intersection(_seeded(one)):
            chosen.append(one)
            missing.difference_update(_seeded(one))
    return [] if missing else chosen


def _seeded(statement: str) -> tuple[str, ...]:
    return next((generators for pattern, generators in _SEEDS if pattern.match(statement)), ())


def parsed(source: bytes) -> MetadataWrapper | None:
    """The source as a tree with positions; None where it cannot be parsed."""
    try:
        return MetadataWrapper(cst.parse_module(source), unsafe_skip_copy=True)
    except (cst.ParserSyntaxError, UnicodeDecodeError, RecursionError, ValueError):
        return None


def insertion(
    path: str, source: bytes, statements: Iterable[str], *, early: bool = False, cells: Cells = ()
) -> Edit | str:
    """The edit that puts statements, and the imports they need, behind the imports of a script; or why it cannot.

    ``early``: before the first import that is relative or of a module beside the script, as that may draw. ``cells``:
    the lines of the cells that it is run in; they go into the first by which what they are about is imported.
    """
    wrapper = parsed(source)
    if wrapper is None:
        return "it cannot be parsed"
    positions = wrapper.resolve(PositionProvider)
    body = wrapper.module.body
    wanted = list(statements)
    packages = frozenset() if early else frozenset(_ROOTS[one.partition(".")[0]] for one in wanted)
    first = _first_cells(body, [positions[stmt].start.line for stmt in body], cells, packages.difference(_STANDARD))
    last, bound = _last_import(first, early)
    present = {_text(wrapper.module, stmt) for stmt in body}
    told = [_bound(one, bound) for one in wanted]
    new = [one for one in told if one not in present]
    if not new:
        return "it is there already"
    missing = dict.fromkeys(_import(one, bound) for one in new)
    imports = "".join(f"{text}\n" for text in missing if text)
    text = f"{imports}\n" + "\n".join(new)
    if last is not None:
        return _behind(path, _lines(source, wrapper), positions[last].end.line, text)
    line = positions[body[0]].start.line if body else len(_lines(source, wrapper))  # what stands above are comments
    return Edit(Location(path, line, 1, line, 1), f"{text}\n\n" if body else f"{text}\n")


def _behind(path: str, lines: Sequence[str], line: int, text: str) -> Edit:
    """The edit that puts lines behind a line, with a blank one where others follow, and a line end at the last."""
    end = len(lines[line - 1]) + 1
    more = line == len(lines) or lines[line].strip()
    return Edit(Location(path, line, end, line, end), f"\n{text}\n" if more else f"\n{text}")


def _lines(source: bytes, wrapper: MetadataWrapper) -> list[str]:
    """The lines as positions count them; the last one is empty where the source ends in a line end."""
    return NEWLINE.split(source.decode(wrapper.module.encoding, "replace").removeprefix("\ufeff"))


def after_parsing(path: str, source: bytes, statements: Iterable[str], flag: str) -> Edit | str:
    """The edit that puts seeds behind the line that parses the command line, with the value of ``flag``; or why not."""
    wrapper = parsed(source)
    if wrapper is None:
        return "it cannot be parsed"
    finder = _Parsing()
    wrapper.visit(finder)
    if len(finder.found) != 1:
        return "its command line is not parsed at one place"
    (name, end, column) = finder.found[0]
    _, bound = _last_import(wrapper.module.body, early=False)
    told = [_bound(one, bound) for one in statements]
    lacking = [one for one in told if one.partition(".")[0] not in bound]
    if lacking:
        return f"`{lacking[0].partition('.')[0]}` is not imported"
    line = _lines(source, wrapper)[end - 1]
    indent = line[:column] if not line[:column].strip() else " " * column
    text = "".join(f"\n{indent}{re.sub(_NUMBER, f'({name}.{flag})', one)}" for one in told)
    return Edit(Location(path, end, len(line) + 1, end, len(line) + 1), text)


class _Parsing(cst.CSTVisitor):
    """``args = parser.parse_args()``: the name, the last line, and the column in which the statement begins."""

    METADATA_DEPENDENCIES = (PositionProvider,)

    def __init__(self) -> None:
        super().__init__()
        self.found: list[tuple[str, int, int]] = []

    def visit_SimpleStatementLine(self, node: cst.SimpleStatementLine) -> None:
        """One assignment that is all of its line."""
        part = node.body[0]
        if len(node.body) != 1 or not isinstance(part, cst.Assign) or not isinstance(part.value, cst.Call):
            return
        target, called = part.targets[0].target, part.value.func
        parses = isinstance(called, cst.Attribute) and called.attr.value == "parse_args"
        if parses and isinstance(target, cst.Name) and len(part.targets) == 1:
            where = self.get_metadata(PositionProvider, node)
            self.found.append((target.value, where.end.line, where.start.column))


def _first_cells(
    body: Sequence[cst.BaseStatement], lines: Sequence[int], cells: Cells, packages: Collection[str]
) -> Sequence[cst.BaseStatement]:
    """The statements up to the end of the first cell by which ``packages`` are imported, those that ever are."""
    if not cells:
        return body
    imported = [{name.partition(".")[0] for part in _imports(stmt) for name in _binds(part).values()} for stmt in body]
    missing = {name for found in imported for name in found}.intersection(packages)
    within = [next((number for number, (_, last) in enumerate(cells) if line <= last), -1) for line in lines]
    for number, found in enumerate(imported):
        missing -= found
        ends = number + 1 < len(body) and within[number + 1] != within[number]
        if ends and not missing and any(imported[: number + 1]):
            return body[: number + 1]
    return body


def _last_import(body: Sequence[cst.BaseStatement], early: bool) -> tuple[cst.BaseStatement | None, Mapping[str, str]]:
    """The statement behind which to insert, and what the imports up to it bind, by name."""
    last: cst.BaseStatement | None = None
    bound: dict[str, str] = {}
    idle = True
    for number, stmt in enumerate(body):
        imports = _imports(stmt)
        if not imports:
            idle = idle and (_is_pass(stmt) or (number == 0 and _is_text(stmt)))
            last = stmt if idle else last
            continue
        if early and any(not _is_of_packages(part) for part in imports):
            break
        last, idle = stmt, False
        for part in imports:
            bound.update(_binds(part))
    return last, bound


def _imports(stmt: cst.BaseStatement) -> list[cst.Import | cst.ImportFrom]:
    parts = stmt.body if isinstance(stmt, cst.SimpleStatementLine) else ()
    return [part for part in parts if isinstance(part, (cst.Import, cst.ImportFrom))]


def _is_pass(stmt: cst.BaseStatement) -> bool:
    """Whether a statement does nothing, as which the magics of a notebook are read."""
    return isinstance(stmt, cst.SimpleStatementLine) and all(isinstance(part, cst.Pass) for part in stmt.body)


def _is_text(stmt: cst.BaseStatement) -> bool:
    return isinstance(stmt, cst.SimpleStatementLine) and all(
        isinstance(part, cst.Expr) and isinstance(part.value, (cst.SimpleString, cst.ConcatenatedString))
        for part in stmt.body
    )


def _is_of_packages(part: cst.Import | cst.ImportFrom) -> bool:
    """Whether an import is of frameworks and of what they need; any other one may run code of the program."""
    return all(name.partition(".")[0] in _PACKAGES for name in _binds(part).values())


def _binds(part: cst.Import | cst.ImportFrom) -> dict[str, str]:
    """What an import binds: the dotted name by the local one; of ``from . import x`` with the dots."""
    if isinstance(part, cst.Import):
        out: dict[str, str] = {}
        for alias in part.names:
            dotted = alias.evaluated_name
            local = alias.evaluated_alias
            out[local or dotted.partition(".")[0]] = dotted if local else dotted.partition(".")[0]
        return out
    module = get_full_name_for_node(part.module) if part.module is not None else ""
    holder = "." * len(part.relative) + (module or "")
    if isinstance(part.names, cst.ImportStar):
        return {"*": holder}
    return {alias.evaluated_alias or alias.evaluated_name: f"{holder}.{alias.evaluated_name}" for alias in part.names}


def _text(module: cst.Module, stmt: cst.BaseStatement) -> str:
    return module.code_for_node(stmt.with_changes(leading_lines=())).strip() if hasattr(stmt, "leading_lines") else ""


def _bound(statement: str, bound: Mapping[str, str]) -> str:
    """The statement with the name under which the script knows the package."""
    root, dot, rest = statement.partition(".")
    package = _ROOTS[root]
    if bound.get("*") == package:  # `from random import *`
        return rest
    names = [local for local, dotted in bound.items() if dotted == package or (root == "tf" and dotted == _GRAPH)]
    free = root if root not in bound else f"{package}_module"  # `from random import random` has taken the name
    local = root if root in names else names[0] if names else free
    if bound.get(local) == _GRAPH:
        rest = rest.replace("random.set_seed(", "set_random_seed(")
    return f"{local}{dot}{rest}"


def _import(statement: str, bound: Mapping[str, str]) -> str:
    """The import that a statement lacks; empty where its first name is bound."""
    root = statement.partition(".")[0]
    if root in bound or "(" in root:
        return ""
    if root.endswith("_module"):
        return f"import {root.removesuffix('_module')} as {root}"
    package = _ROOTS[root]
    return f"import {package}" if root == package else f"import {package} as {root}"
