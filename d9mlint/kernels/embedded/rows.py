"""Rows that one Triton program owns: ``out + tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)``.

As for CUDA (``owners/slices.py``): the address is a number in mixed radix, from which the program is found again. Only
kernels that this file launches, with one atomic on the base: programs write different cells if all axes of the grid
that the kernel asks for are in the address.
"""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.kernels.python.calls import argument, parameters
from d9mlint.kernels.python.files import PyFile, shown
from d9mlint.kernels.python.words import Mention, below

_LANGUAGE = "triton.language."
_MAX_STEPS = 16
_MAX_TERMS = 24
_Term = tuple[str, ...]


class Rows(NamedTuple):
    """What must hold for one program to own the cells; empty where it is proven."""

    assumed: str


class _Variable(NamedTuple):
    size: str
    """What it stays below."""
    axis: str = ""
    """Of the grid: ``0``, ``1`` or ``2``."""


def owned(file: PyFile, mention: Mention, target: ast.expr) -> Rows | None:
    """Whether each program writes cells of its own there; None where that is not seen."""
    scopes = [s for s in mention.scopes if not isinstance(s, ast.ClassDef)]
    function = scopes[-1] if scopes else None
    if not isinstance(function, ast.FunctionDef):
        return None
    axes = {_axis(call) for call in _calls(function, file, "program_id")}
    grids = _grids(file, function.name)
    if not axes or "" in axes or not grids or max(grids) > len(axes):
        return None
    reader = _Address(file, function)
    terms = reader.terms(target, _MAX_STEPS)
    if terms is None or not reader.take(terms) or not reader.alone(target):
        return None
    if {v.axis for v in reader.variables.values() if v.axis} != axes or not reader.spread(target):
        return None
    loose = reader.loose()
    if not loose:
        return Rows("")
    steps = {tuple(sorted(step.elements())) for step in reader.steps.values()}
    named = sorted("*".join(sorted(step.elements())) for step in loose)
    if len(steps) < len(reader.steps) or any(name.isdigit() for name in named):
        return None
    one = len(named) == 1
    return Rows(f"the step{'' if one else 's'} {' and '.join(f'`{n}`' for n in named)} {'is' if one else 'are'}")


def _calls(function: ast.FunctionDef, file: PyFile, name: str) -> Iterator[ast.Call]:
    for node in below(function):
        if isinstance(node, ast.Call) and file.dotted(node.func) == _LANGUAGE + name:
            yield node


def _axis(call: ast.Call) -> str:
    """The axis of a ``program_id``, where it is a number."""
    given = argument(call, 0, "axis")
    return str(given.value) if isinstance(given, ast.Constant) and isinstance(given.value, int) else ""


def _grids(file: PyFile, name: str) -> list[int]:
    """How many axes each launch has (0: not seen); empty where there is none or the function is called, too."""
    found: list[int] = []
    for mention in file.mentions.get(name, ()):
        above = mention.parents[-1] if mention.parents else None
        if not isinstance(above, ast.Subscript) or above.value is not mention.node:
            return []
        found.append(len(above.slice.elts) if isinstance(above.slice, ast.Tuple) else 0)
    return found


class _Address:
    """Reads the address of an atomic as a sum of products; variables are marked by ``$``."""

    def __init__(self, file: PyFile, function: ast.FunctionDef) -> None:
        self.file = file
        self.function = function
        self.parameters = {a.arg for a in parameters(function)}
        self.values, self.changed = _assigned(function)
        self.variables: dict[str, _Variable] = {}
        self.steps: dict[str, Counter[str]] = {}
        self.base = ""

    def take(self, terms: list[_Term]) -> bool:
        """Notes the step of each variable."""
        for term in terms:
            names = [n for n in term if n.startswith("$")]
            if len(names) > 1 or (names and names[0] in self.steps):
                return False
            if names:
                self.steps[names[0]] = Counter(n for n in term if not n.startswith("$"))
        return bool(self.base) and set(self.steps) == set(self.variables)

    def loose(self) -> list[Counter[str]]:
        """The steps that are not seen to be longer than what stays below them."""
        left, at = dict(self.steps), Counter[str]()
        while left:
            name = next((n for n, step in left.items() if step == at), None)
            if name is None:
                break
            del left[name]
            at = at + Counter([self.variables[name].size])
        return list(left.values())

    def alone(self, target: ast.expr) -> bool:
        """Whether no other atomic and no function of the author's gets the base."""
        self.base = self.root(target)
        for node in below(self.function):
            if not isinstance(node, ast.Call):
                continue
            name = self.file.dotted(node.func)
            if "inline_asm" in name:
                return False
            given = [*node.args, *(k.value for k in node.keywords)]
            if name.startswith(_LANGUAGE) and ".atomic_" not in name:
                continue
            if target not in given and any(self.root(one) == self.base for one in given):
                return False
        return True

    def spread(self, target: ast.expr) -> bool:
        """Whether each lane of a block has its own cell: a block of two dimensions runs along both."""
        shapes = set(self._shapes(target, _MAX_STEPS))
        lanes = [name for name, variable in self.variables.items() if name.startswith("$lane") and not variable.axis]
        return len(lanes) == len(shapes) == 2 if shapes else len(lanes) <= 1

    def _shapes(self, node: ast.expr, steps: int) -> Iterator[str]:
        """The shapes that are given to one-dimensional blocks: ``[:, None]``."""
        for one in below(node) if steps > 0 else ():
            if isinstance(one, ast.Subscript):
                yield shown(one.slice)
            elif isinstance(one, ast.Name) and (value := self.value(one)) is not None:
                yield from self._shapes(value, steps - 1)

    def root(self, node: ast.expr) -> str:
        """The parameter that a pointer starts from; another name where it is none."""
        at = node
        for _ in range(_MAX_STEPS):
            if isinstance(at, ast.BinOp):
                at = at.left
            elif isinstance(at, ast.Name) and (value := self.value(at)) is not None:
                at = value
            else:
                break
        return at.id if isinstance(at, ast.Name) else ""

    def value(self, node: ast.Name) -> ast.expr | None:
        """What a variable that is set once holds."""
        known = self.values.get(node.id, [])
        return known[0] if len(known) == 1 and node.id not in self.changed | self.parameters else None

    def terms(self, node: ast.expr, steps: int) -> list[_Term] | None:
        """The products of an address or index; of the pointer none."""
        if steps <= 0:
            return None
        if isinstance(node, ast.Constant) and isinstance(node.value, int):
            return [] if node.value == 0 else [()] if node.value == 1 else [(str(node.value),)]
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
            first, second = self.terms(node.left, steps - 1), self.terms(node.right, steps - 1)
            if first is None or second is None or len(first) * len(second) > _MAX_TERMS:
                return None
            return first + second if isinstance(node.op, ast.Add) else [(*a, *b) for a in first for b in second]
        if isinstance(node, ast.Subscript) and shown(node.slice) in (":, None", "None, :", "(:, None)", "(None, :)"):
            return self.terms(node.value, steps - 1)
        if isinstance(node, ast.Name):
            value = self.value(node)
            if value is not None:
                return self.terms(value, steps - 1)
            fixed = node.id in self.parameters and node.id not in self.values and node.id not in self.changed
            self.base = self.base or (node.id if fixed else "")
            return [(node.id,)] if fixed else None
        return self._called(node, steps) if isinstance(node, ast.Call) else None

    def _called(self, node: ast.Call, steps: int) -> list[_Term] | None:
        name = self.file.dotted(node.func)
        if isinstance(node.func, ast.Attribute) and node.func.attr == "to" and not name.startswith(_LANGUAGE):
            return self.terms(node.func.value, steps - 1)
        if name == f"{_LANGUAGE}program_id":
            axis = _axis(node)
            self.variables[f"$program{axis}"] = _Variable(f"num_programs({axis})", axis)
            return [(f"$program{axis}",)]
        whole = len(node.args) == 2 and shown(node.args[0]) == "0"
        if name == f"{_LANGUAGE}arange" and whole and isinstance(node.args[1], ast.Name | ast.Constant):
            lane = f"$lane{node.lineno}:{node.col_offset}"
            self.variables[lane] = _Variable(shown(node.args[1]))
            return [(lane,)]
        return None


def _assigned(function: ast.FunctionDef) -> tuple[dict[str, list[ast.expr]], set[str]]:
    """The values of plain assignments by name, and the names that change in any other way."""
    values: dict[str, list[ast.expr]] = {}
    plain: set[int] = set()
    nodes = below(function)
    for node in nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            values.setdefault(node.targets[0].id, []).append(node.value)
            plain.add(id(node.targets[0]))
    stored = (n for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store) and id(n) not in plain)
    return values, {n.id for n in stored}
