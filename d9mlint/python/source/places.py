"""Where syntax nodes stand in the text.

libcst's own position metadata costs several times a parse, as it records every node and copies the tree. This
runs the same code generator once, keeps no text and records only the kinds of node that a report can point at.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext

import libcst as cst
from libcst._nodes.internal import CodegenState

from d9mlint.python.source.facts import NOWHERE, Place

_WANTED = frozenset(
    {
        cst.Call, cst.Attribute, cst.Subscript, cst.Set, cst.SetComp, cst.ListComp, cst.DictComp, cst.GeneratorExp,
        cst.Lambda, cst.Assign, cst.AugAssign, cst.AnnAssign, cst.Import, cst.ImportFrom, cst.List, cst.Tuple,
    }
)  # fmt: skip
_NOTHING: AbstractContextManager[None] = nullcontext()


class _Counter(CodegenState):
    """A code generator that counts lines and columns instead of writing text."""

    def __init__(self, module: cst.Module, line: int, moved: Mapping[int, int]) -> None:
        super().__init__(module.default_indent, module.default_newline)
        self.line = line
        self.moved = moved
        self.column = 1
        self.starts: dict[int, tuple[int, int]] = {}
        self.places: dict[int, Place] = {}
        self.named: set[int] = set()

    def add_token(self, value: str) -> None:
        if "\n" in value or "\r" in value:
            pieces = value.replace("\r\n", "\n").replace("\r", "\n").split("\n")
            self.line += len(pieces) - 1
            self.column = 1 + len(pieces[-1])
        else:
            self.column += len(value)

    def add_indent_tokens(self) -> None:
        for token in self.indent_tokens:
            self.column += len(token)

    def before_codegen(self, node: cst.CSTNode) -> None:
        kind = type(node)
        if kind in _WANTED or id(node) in self.named:
            self.starts[id(node)] = self.here()
        elif kind is cst.FunctionDef or kind is cst.ClassDef:
            self.named.add(id(node.name))  # type: ignore[attr-defined]
        elif kind is cst.If or kind is cst.For:
            self.named.add(id(node.test if kind is cst.If else node.iter))  # type: ignore[attr-defined]

    def after_codegen(self, node: cst.CSTNode) -> None:
        start = self.starts.get(id(node))
        if start is not None:
            self.places[id(node)] = (*start, *self.here())

    def here(self) -> tuple[int, int]:
        """The line and the column that it has come to."""
        return self.line, self.column - self.moved.get(self.line, 0) if self.moved else self.column

    def record_syntactic_position(  # type: ignore[override]
        self, node: cst.CSTNode, *, start_node: cst.CSTNode | None = None, end_node: cst.CSTNode | None = None
    ) -> AbstractContextManager[None]:
        return _NOTHING


class Places:
    """Looks up the place of a node of ``module``, which starts at a line; valid as long as the module is alive.

    By as many columns as ``moved`` says, a line stands further to the left in the file.
    """

    def __init__(self, module: cst.Module, line: int, moved: Mapping[int, int] = {}) -> None:
        counter = _Counter(module, line, moved)
        module._codegen(counter)
        self._places = counter.places

    def of(self, node: cst.CSTNode) -> Place:
        """The place of ``node``, or the start of the file for a kind that is not recorded."""
        return self._places.get(id(node), NOWHERE)

    def of_call(self, node: cst.Call) -> Place:
        """From the called name to the closing parenthesis; the name itself where the call stands in a chain."""
        place = self.of(node)
        func = node.func
        if isinstance(func, cst.Attribute):
            start, _, line, column = self.of(func)
            if _dotted(func.value) and start == line:
                return place
            return (line, column - len(func.attr.value), place[2], place[3])
        return place


def _dotted(node: cst.BaseExpression) -> bool:
    while isinstance(node, cst.Attribute):
        node = node.value
    return isinstance(node, cst.Name)
