"""One walk through a Python file: its words with what stands around them, its imports, assignments and functions."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Iterator, Mapping
from typing import NamedTuple, TypeAlias

_SCOPES = (ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
Scope = ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
_NO_NODES = frozenset(("ctx", "op", "ops", "id", "attr", "level", "module", "type_comment", "kind", "conversion"))
"""Fields in which no name, string or statement stands."""
_FIELDS: dict[type[ast.AST], tuple[str, ...]] = {}
"""The other fields of each kind of node that was met."""
_DEEPEST = 400
"""Words nested more deeply than this are not looked for."""


class Mention(NamedTuple):
    """A word in a file: an attribute, a name that is read, or a string; with what stands around it."""

    node: ast.Attribute | ast.Name | ast.Constant
    parents: tuple[ast.AST, ...]
    """From the statement of the module down to the direct parent."""

    @property
    def call(self) -> ast.Call | None:
        """The call of what is mentioned; None where it is not called."""
        above = self.parents[-1] if self.parents else None
        return above if isinstance(above, ast.Call) and above.func is self.node else None

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The classes and functions around it, outermost first; a decorator stands outside of what it decorates."""
        nodes = (*self.parents, self.node)
        return tuple(
            parent
            for parent, child in itertools.pairwise(nodes)
            if isinstance(parent, _SCOPES) and child not in parent.decorator_list
        )

    @property
    def hidden(self) -> bool:
        """Whether a name means a function that a function around it defines itself, not that of the module."""
        name = self.node.id if isinstance(self.node, ast.Name) else ""
        inner = (node for scope in self.scopes if not isinstance(scope, ast.ClassDef) for node in scope.body)
        return bool(name) and any(isinstance(node, ast.FunctionDef) and node.name == name for node in inner)


Above: TypeAlias = "tuple[ast.AST, Above, int] | None"
"""The parent of a node, what is above that, and how many there are."""


class Mentions(Mapping[str, "tuple[Mention, ...]"]):
    """The words of a file, in order; the parents of one are listed when it is asked for."""

    def __init__(self, places: dict[str, list[tuple[ast.Attribute | ast.Name | ast.Constant, Above]]]) -> None:
        self._places = places
        self._listed: dict[str, tuple[Mention, ...]] = {}

    def __getitem__(self, word: str) -> tuple[Mention, ...]:
        if word not in self._listed:
            self._listed[word] = tuple(Mention(node, parents(above)) for node, above in self._places[word])
        return self._listed[word]

    def __contains__(self, word: object) -> bool:
        return word in self._places

    def __iter__(self) -> Iterator[str]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)


class Walked(NamedTuple):
    """What one walk finds; statements the outermost first, in order (so what a whole file sees comes first)."""

    mentions: Mentions
    imports: tuple[ast.Import | ast.ImportFrom, ...]
    assignments: tuple[ast.Assign, ...]
    functions: tuple[ast.FunctionDef, ...]


def walked(tree: ast.Module) -> Walked:
    """Looks at each node of a file once."""
    places: dict[str, list[tuple[ast.Attribute | ast.Name | ast.Constant, Above]]] = {}
    statements: list[tuple[int, ast.Import | ast.ImportFrom | ast.Assign | ast.FunctionDef]] = []
    pending: list[tuple[ast.AST, Above]] = [(s, None) for s in reversed(tree.body)]
    while pending:
        node, above = pending.pop()
        depth = above[2] if above is not None else 0
        if isinstance(node, ast.Name):
            if isinstance(node.ctx, ast.Load) and depth <= _DEEPEST:
                places.setdefault(node.id, []).append((node, above))
            continue
        if isinstance(node, ast.Constant):
            value = node.value
            if isinstance(value, str) and value and depth <= _DEEPEST and " " not in value[:80]:
                places.setdefault(value[:80], []).append((node, above))
            continue
        if isinstance(node, ast.Attribute):
            if depth <= _DEEPEST:
                places.setdefault(node.attr, []).append((node, above))
            pending.append((node.value, (node, above, depth + 1)))
            continue
        if isinstance(node, ast.Import | ast.ImportFrom | ast.Assign | ast.FunctionDef):
            statements.append((depth, node))
        inside = (node, above, depth + 1)
        pending += [(child, inside) for child in reversed(children(node))]
    ordered = [node for _, node in sorted(statements, key=lambda one: one[0])]
    return Walked(
        Mentions(places),
        tuple(n for n in ordered if isinstance(n, ast.Import | ast.ImportFrom)),
        tuple(n for n in ordered if isinstance(n, ast.Assign)),
        tuple(n for n in ordered if isinstance(n, ast.FunctionDef)),
    )


def children(node: ast.AST) -> list[ast.AST]:
    """The nodes right below one, in order, without contexts and operators."""
    found: list[ast.AST] = []
    kind = node.__class__
    fields = _FIELDS.get(kind)
    if fields is None:
        fields = _FIELDS[kind] = tuple(name for name in kind._fields if name not in _NO_NODES)
    for name in fields:
        value = getattr(node, name, None)
        if value.__class__ is list:
            found += [one for one in value if isinstance(one, ast.AST)]
        elif isinstance(value, ast.AST):
            found.append(value)
    return found


def below(node: ast.AST) -> list[ast.AST]:
    """A node and all below it, as ``ast.walk`` orders them, without contexts and operators."""
    found = [node]
    for at in found:
        if not isinstance(at, ast.Name | ast.Constant):
            found += children(at)
    return found


def set_to(function: ast.AST, name: str) -> list[ast.expr]:
    """What assignments in a function set a name to."""
    return [
        node.value
        for node in below(function)
        if isinstance(node, ast.Assign) and any(isinstance(t, ast.Name) and t.id == name for t in node.targets)
    ]


def parents(above: Above) -> tuple[ast.AST, ...]:
    """What stands around a node, from the outermost on."""
    found: list[ast.AST] = []
    while above is not None:
        found.append(above[0])
        above = above[1]
    return tuple(reversed(found))
