"""What stands where in a source: calls, statements with their blocks and functions, by position."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import libcst as cst
from libcst.metadata import CodeRange, MetadataWrapper, PositionProvider

from d9mlint.fix.edits import NEWLINE
from d9mlint.model import Edit, Location

Block = cst.Module | cst.BaseSuite
_BRANCHES = (cst.If, cst.Else, cst.ExceptHandler, cst.ExceptStarHandler, cst.Finally, cst.MatchCase)
"""Parts of compound statements that have a block of their own."""


class Statement(NamedTuple):
    """A statement, where it stands, the block that it is a part of, and the functions around it, outermost first."""

    node: cst.BaseStatement
    where: CodeRange
    block: Block
    functions: tuple[cst.FunctionDef, ...] = ()

    @property
    def begins(self) -> tuple[int, int]:
        """Line and column of its start."""
        return self.where.start.line, self.where.start.column

    @property
    def ends(self) -> tuple[int, int]:
        """Line and column of its end."""
        return self.where.end.line, self.where.end.column


@dataclass(frozen=True, eq=False, slots=True)
class Tree:
    """A parsed source."""

    module: cst.Module
    lines: Sequence[str]
    positions: Mapping[cst.CSTNode, CodeRange]
    calls: Mapping[tuple[int, int], cst.Call]
    """By where they end."""
    statements: Sequence[Statement]
    """A statement comes before those in it."""

    def call(self, at: Location) -> cst.Call | None:
        """The call that a finding stands at: the one that ends where it does."""
        return self.calls.get((at.end_line, at.end_column - 1))

    def statement(self, at: Location) -> Statement | None:
        """The innermost statement that ``at`` lies in."""
        begin, last = (at.line, at.column - 1), (at.end_line, at.end_column - 1)
        around = [one for one in self.statements if one.begins <= begin and last <= one.ends]
        return around[-1] if around else None

    def code(self, node: cst.CSTNode) -> str:
        """The text of a node, as it is written."""
        return self.module.code_for_node(node)

    def indent(self, line: int) -> str:
        """What a line begins with."""
        text = self.lines[line - 1]
        return text[: len(text) - len(text.lstrip())]


def parsed(source: bytes) -> MetadataWrapper | None:
    """The source as a tree with positions; None where it cannot be parsed."""
    try:
        return MetadataWrapper(cst.parse_module(source), unsafe_skip_copy=True)
    except (cst.ParserSyntaxError, UnicodeDecodeError, RecursionError, ValueError):
        return None


@lru_cache(maxsize=64)
def tree(source: bytes) -> Tree | None:
    """What stands where in a source; None where it cannot be parsed."""
    wrapper = parsed(source)
    if wrapper is None:
        return None
    positions = wrapper.resolve(PositionProvider)
    calls = {
        (where.end.line, where.end.column): node for node, where in positions.items() if isinstance(node, cst.Call)
    }
    found = tuple(_statements(wrapper.module, positions, ()))
    return Tree(wrapper.module, lines(source, wrapper), positions, calls, found)


def lines(source: bytes, wrapper: MetadataWrapper) -> list[str]:
    """The lines as positions count them; the last one is empty where the source ends in a line end."""
    return NEWLINE.split(source.decode(wrapper.module.encoding, "replace").removeprefix("\ufeff"))


def _statements(
    block: Block, positions: Mapping[cst.CSTNode, CodeRange], functions: tuple[cst.FunctionDef, ...]
) -> Iterator[Statement]:
    for node in block.body:
        if not isinstance(node, cst.BaseStatement):  # the parts of `if a: b; c`
            continue
        yield Statement(node, positions[node], block, functions)
        inner = (*functions, node) if isinstance(node, cst.FunctionDef) else functions
        for suite in _suites(node):
            yield from _statements(suite, positions, inner)


def _suites(node: cst.CSTNode) -> Iterator[cst.BaseSuite]:
    """The blocks of a compound statement: those of its other branches, too."""
    for child in node.children:
        if isinstance(child, cst.BaseSuite):
            yield child
        elif isinstance(
            child, (cst.If, cst.Else, cst.ExceptHandler, cst.ExceptStarHandler, cst.Finally, cst.MatchCase)
        ):
            yield from _suites(child)


# -- places ----------------------------------------------------------------------------------------------------------


def text_at(at: Location, source: bytes) -> str:
    """What stands at a place of one line; of several lines the first."""
    found = source.decode("utf-8", "replace").split("\n")
    if not 1 <= at.line <= at.end_line <= len(found):
        return ""
    return found[at.line - 1][at.column - 1 : at.end_column - 1 if at.line == at.end_line else None]


def span(path: str, where: CodeRange) -> Location:
    """A range of libcst as a place."""
    return Location(path, where.start.line, where.start.column + 1, where.end.line, where.end.column + 1)


def start(at: Location) -> Location:
    """The place before what stands there."""
    return Location(at.path, at.line, at.column, at.line, at.column)


def end(at: Location) -> Location:
    """The place behind what stands there."""
    return Location(at.path, at.end_line, at.end_column, at.end_line, at.end_column)


# -- lines ----------------------------------------------------------------------------------------------------------


def behind(path: str, of: Tree, statement: Statement, text: str) -> Edit:
    """The edit that puts a line behind a statement, and behind the comments at the end of its block."""
    last = statement.where.end.line
    indent = of.indent(statement.where.start.line)
    if not isinstance(statement.node, cst.SimpleStatementLine):
        for number, line in enumerate(of.lines[last:], last + 1):
            if line.strip() and not re.match(rf"{indent}\s+#", line):
                break
            last = number if line.strip() else last
    place = len(of.lines[last - 1]) + 1
    return Edit(Location(path, last, place, last, place), f"\n{indent}{text}")


def at_start(path: str, of: Tree, body: cst.BaseSuite, text: str) -> Edit | None:
    """The edit that puts a line at the start of a block, behind its documentation; None where it is of one line."""
    if not isinstance(body, cst.IndentedBlock) or not body.body:
        return None
    first, where = body.body[0], of.positions[body.body[0]]
    if is_text(first):
        place = len(of.lines[where.end.line - 1]) + 1
        at = Location(path, where.end.line, place, where.end.line, place)
        return Edit(at, f"\n{of.indent(where.start.line)}{text}")
    line = where.start.line - _above(of, first)
    at = Location(path, line, 1, line, 1)
    return Edit(at, f"{of.indent(where.start.line)}{text}\n")


def last_name(node: cst.CSTNode | None) -> str:
    """The last part of a name; empty of what is none."""
    if isinstance(node, cst.Attribute):
        return node.attr.value
    return node.value if isinstance(node, cst.Name) else ""


def is_text(statement: cst.CSTNode) -> bool:
    """Whether a statement is nothing but a string, as documentation is."""
    return isinstance(statement, cst.SimpleStatementLine) and all(
        isinstance(part, cst.Expr) and isinstance(part.value, (cst.SimpleString, cst.ConcatenatedString))
        for part in statement.body
    )


def _above(of: Tree, statement: cst.BaseStatement | cst.BaseSmallStatement) -> int:
    """How many lines of comments and decorators stand above the line that a statement begins on."""
    decorators = getattr(statement, "decorators", ())
    first = of.positions[decorators[0]].start.line if decorators else of.positions[statement].start.line
    return int(of.positions[statement].start.line - first) + len(getattr(statement, "leading_lines", ()))
