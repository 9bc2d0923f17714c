"""Keys that a config file lacks, as edits of its text: YAML and JSON keep their comments, quotes and layout."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import yaml

from d9mlint.fix.edits import NEWLINE
from d9mlint.model import Edit, Location


class _Text(NamedTuple):
    """A file, by lines."""

    path: str
    lines: Sequence[str]
    in_json: bool

    def indent(self, mark: yaml.Mark) -> str | None:
        """What stands before ``mark`` on its line; None where that is more than an indentation."""
        before = self.lines[mark.line][: mark.column]
        return None if before.strip() else before

    def at(self, line: int, column: int, text: str) -> Edit:
        """The edit that puts text at a place, which is counted from 0."""
        return Edit(Location(self.path, line + 1, column + 1, line + 1, column + 1), text)


def edits(wanted: Mapping[str, str], at: Location, source: bytes) -> list[Edit]:
    """The edit that adds what ``wanted`` tells for the key at ``at`` (``a.b: value``), or gives it that value.

    None where nothing is told for it, or where the file is written in a way that is not known.
    """
    text = source.decode("utf-8", "replace").removeprefix("\ufeff")
    of = _Text(at.path, NEWLINE.split(text), at.path.endswith(".json"))
    try:  # (tabs stand between the tokens of JSON, and nowhere in YAML that can be read)
        root = yaml.compose("\n".join(of.lines).replace("\t", " ") if of.in_json else text, Loader=yaml.SafeLoader)
    except yaml.YAMLError:
        return []
    key = next((key for key, _ in _pairs(root) if _is_at(key, at)), None)
    told = wanted.get(key.value) if key is not None else None
    if told is None or not isinstance(root, yaml.MappingNode):
        return []
    path, _, value = told.partition(": ")
    return _put(of, root, path.split("."), value)


def _put(of: _Text, node: yaml.MappingNode, path: Sequence[str], value: str) -> list[Edit]:
    """What gives the key at the end of a way through maps its value: another one, or a new entry."""
    there = next((pair for pair in node.value if pair[0].value == path[0]), None)
    if there is None:
        return [_entry(of, node, path, value)]
    if not _is_own(of, there):  # what stands there is that of other keys, too
        return []
    if isinstance(there[1], yaml.MappingNode) and len(path) > 1:
        return _put(of, there[1], path[1:], value)
    found = there[1]
    first, last = found.start_mark, found.end_mark
    if not isinstance(found, yaml.ScalarNode) or len(path) > 1 or first.line != last.line or found.style in ("|", ">"):
        return []
    if not found.value:
        return [of.at(first.line, first.column, f" {value}")]
    return [Edit(Location(of.path, first.line + 1, first.column + 1, last.line + 1, last.column + 1), value)]


def _entry(of: _Text, node: yaml.MappingNode, path: Sequence[str], value: str) -> Edit:
    """The edit that adds an entry behind the last one of a single value; before the first where there is none."""
    plain = [pair for pair in node.value if isinstance(pair[1], yaml.ScalarNode) and _is_short(of, pair)]
    if node.flow_style or of.in_json:
        return _in_braces(of, node, plain[-1] if plain else None, _quoted(of, node, path, value))
    key = (plain[-1] if plain else node.value[0])[0]
    indent = " " * key.start_mark.column
    lines = [f"{'  ' * depth}{name}:" for depth, name in enumerate(path)]
    told = f"\n{indent}".join([*lines[:-1], f"{lines[-1]} {value}"])
    if not plain:
        return of.at(key.start_mark.line, key.start_mark.column, f"{told}\n{indent}")
    line = plain[-1][1].end_mark.line
    return of.at(line, len(of.lines[line]), f"\n{indent}{told}")


def _in_braces(of: _Text, node: yaml.MappingNode, behind: tuple[yaml.Node, yaml.Node] | None, told: str) -> Edit:
    if not node.value:
        return of.at(node.start_mark.line, node.start_mark.column + 1, told)
    key = behind[0] if behind is not None else node.value[0][0]
    indent = of.indent(key.start_mark)
    between = ", " if indent is None else f",\n{indent}"
    if behind is None:
        return of.at(key.start_mark.line, key.start_mark.column, told + between)
    end = behind[1].end_mark
    return of.at(end.line, end.column, between + told)


def _quoted(of: _Text, node: yaml.MappingNode, path: Sequence[str], value: str) -> str:
    """An entry with braces, its keys in quotes where those of the others are."""
    quotes = of.in_json or any(key.style == '"' for key, _ in node.value)
    for name in reversed(path):
        value = f'"{name}": {value}' if quotes else f"{name}: {value}"
        value = value if name == path[0] else f"{{{value}}}"
    return value


def _is_short(of: _Text, pair: tuple[yaml.Node, yaml.Node]) -> bool:
    """Whether a value stands on the line of its key, as no block of text."""
    key, value = pair
    is_block = isinstance(value, yaml.ScalarNode) and value.style in ("|", ">")
    return bool(key.start_mark.line == value.end_mark.line) and not is_block and _is_own(of, pair)


def _is_own(of: _Text, pair: tuple[yaml.Node, yaml.Node]) -> bool:
    """Whether a value stands behind its key, and is neither shared (``&a``, ``*a``) nor has a tag."""
    key, value = pair
    at = value.start_mark
    behind = of.lines[at.line][at.column : at.column + 1] if at.line < len(of.lines) else ""
    return bool(key.start_mark.index < at.index) and behind not in ("&", "*", "!")


def _pairs(node: yaml.Node | None) -> Sequence[tuple[yaml.Node, yaml.Node]]:
    return node.value if isinstance(node, yaml.MappingNode) else ()


def _is_at(key: yaml.Node, at: Location) -> bool:
    return bool((key.start_mark.line, key.start_mark.column) == (at.line - 1, at.column - 1))
