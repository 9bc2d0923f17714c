"""Where syntax nodes stand in the text.

libcst's own position metadata costs several times a parse, as it records every node and copies the tree. This
does what the same code generator does once, keeps no text and records only the kinds of node that a report can point
at.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import libcst as cst
from libcst._nodes.internal import CodegenState

from d9mlint.python.source.facts import NOWHERE, Place
from d9mlint.python.source.layouts import FUNCTION, IF, LAYOUTS, RETURNS, Step, steps

_WANTED = frozenset(
    {
        cst.Call, cst.Attribute, cst.Subscript, cst.Set, cst.SetComp, cst.ListComp, cst.DictComp, cst.GeneratorExp,
        cst.Lambda, cst.Assign, cst.AugAssign, cst.AnnAssign, cst.Import, cst.ImportFrom, cst.List, cst.Tuple,
    }
)  # fmt: skip
_PLAIN = frozenset({cst.Name, cst.Integer, cst.Float})
"""Kinds that are one word, where no brackets are around them."""
_NOTHING: AbstractContextManager[None] = nullcontext()
_IF, _ORELSE = steps(IF), steps("orelse")
_FUNCTION, _RETURNS, _FUNCTION_BODY = steps(FUNCTION), steps(RETURNS), steps("whitespace_before_colon ':' body")


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

    def count(self, node: cst.CSTNode) -> None:
        """Goes through what a node writes."""
        kind = type(node)
        layout = LAYOUTS.get(kind)
        if layout is not None:
            self.before_codegen(node)
            self.follow(node, layout)
            self.after_codegen(node)
        elif (special := _SPECIAL.get(kind)) is not None:
            special(self, node)
        else:
            node._codegen(self)

    def follow(self, node: cst.CSTNode, layout: tuple[Step, ...]) -> None:
        """Goes through what a node writes, step by step."""
        for what, name, width in layout:
            if what == "node":
                child = getattr(node, name)
                kind = type(child)
                if kind is cst.SimpleWhitespace:
                    if child.value:
                        self.add_token(child.value)
                elif kind in _PLAIN and not child.lpar and id(child) not in self.named:
                    self.column += len(child.value)
                elif child is not None and child is not cst.MaybeSentinel.DEFAULT:
                    self.count(child)
            elif what == "token":
                self.column += width
            elif what == "nodes":
                for child in getattr(node, name):
                    self.count(child)
            elif what == "text":
                if text := getattr(node, name):
                    self.add_token(text)
            elif what == "indent" or node.indent:  # type: ignore[attr-defined]
                self.add_indent_tokens()

    def if_(self, node: cst.If, more: int = 0) -> None:
        """An ``if``, or an ``elif``, whose word is longer."""
        self.before_codegen(node)
        self.follow(node, _IF[:2])
        self.column += more
        self.follow(node, _IF[2:])
        if isinstance(node.orelse, cst.If):
            self.if_(node.orelse, len("el"))
        else:
            self.follow(node, _ORELSE)

    def function(self, node: cst.FunctionDef) -> None:
        """The definition of a function."""
        self.before_codegen(node)
        self.follow(node, _FUNCTION)
        if node.returns is not None:
            self.follow(node.returns, _RETURNS)
        self.follow(node, _FUNCTION_BODY)

    def block(self, node: cst.IndentedBlock) -> None:
        """Statements that stand further to the right."""
        self.count(node.header)
        self.increase_indent(self.default_indent if node.indent is None else node.indent)
        for part in (*node.body, *node.footer):
            self.count(part)
        self.decrease_indent()

    def newline(self, node: cst.Newline) -> None:
        """The end of a line."""
        self.line += 1
        self.column = 1

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


_SPECIAL: dict[type[cst.CSTNode], Callable[[_Counter, Any], None]] = {
    cst.If: _Counter.if_,
    cst.FunctionDef: _Counter.function,
    cst.IndentedBlock: _Counter.block,
    cst.Newline: _Counter.newline,
}


class Places:
    """Looks up the place of a node of ``module``, which starts at a line; valid as long as the module is alive.

    By as many columns as ``moved`` says, a line stands further to the left in the file.
    """

    def __init__(self, module: cst.Module, line: int, moved: Mapping[int, int] = {}) -> None:
        counter = _Counter(module, line, moved)
        for part in (*module.header, *module.body, *module.footer):
            counter.count(part)
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
