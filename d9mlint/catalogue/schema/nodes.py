"""YAML values that remember where they were written, so that every complaint starts with file:line.

Imports yaml: only the path that compiles the catalogue may import this module.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Any, NamedTuple

import yaml
from packaging.specifiers import InvalidSpecifier, SpecifierSet
from yaml.constructor import ConstructorError, SafeConstructor

from d9mlint.model import CatalogueError

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
_DEEPEST = 40
_PLAIN = {
    "tag:yaml.org,2002:int": SafeConstructor.construct_yaml_int,
    "tag:yaml.org,2002:float": SafeConstructor.construct_yaml_float,
    "tag:yaml.org,2002:bool": SafeConstructor.construct_yaml_bool,
    "tag:yaml.org,2002:null": SafeConstructor.construct_yaml_null,
}
_STRING = "tag:yaml.org,2002:str"
_KINDS = {
    _STRING: "a string",
    "tag:yaml.org,2002:int": "a number",
    "tag:yaml.org,2002:float": "a number",
    "tag:yaml.org,2002:bool": "true or false",
    "tag:yaml.org,2002:null": "nothing",
    "tag:yaml.org,2002:timestamp": "a date",
}
_LONGEST_INT = 2**63


class Item(NamedTuple):
    """A value at ``key`` of ``file``; the readers below return plain data or raise CatalogueError at its line."""

    file: str
    key: str
    node: Any

    @property
    def line(self) -> int:
        """Where the value starts, counted from 1."""
        return int(self.node.start_mark.line) + 1

    def error(self, message: str) -> CatalogueError:
        """A complaint about this value, to be raised: one line, whatever the value holds."""
        return CatalogueError(f"{self.file}:{self.line}: {' '.join(message.split())}")

    def wrong(self, wanted: str) -> CatalogueError:
        """The complaint that the value is not of the wanted kind."""
        return self.error(f"{self.key} must be {wanted}, not {self._kind()}")

    def _kind(self) -> str:
        if isinstance(self.node, yaml.MappingNode):
            return "a mapping"
        if isinstance(self.node, yaml.SequenceNode):
            return "a list"
        return _KINDS.get(self.node.tag, f"a {self.node.tag}")

    def is_list(self) -> bool:
        """Whether the value is a list."""
        return isinstance(self.node, yaml.SequenceNode)

    def is_mapping(self) -> bool:
        """Whether the value is a mapping."""
        return isinstance(self.node, yaml.MappingNode)

    def is_text(self) -> bool:
        """Whether the value is a string."""
        return isinstance(self.node, yaml.ScalarNode) and self.node.tag == _STRING

    def pairs(self) -> dict[str, tuple[Item, Item]]:
        """Key and value of each entry of a mapping, by key; keys are strings and differ."""
        if not self.is_mapping():
            raise self.wrong("a mapping")
        found: dict[str, tuple[Item, Item]] = {}
        for key_node, value_node in self.node.value:
            key = Item(self.file, "a key", key_node)
            if not key.is_text():
                raise key.error(f"the keys of {self.key} must be strings, not {key._kind()}; put it in quotes")
            name = str(key_node.value)
            if name in found:
                raise key.error(f"duplicate key `{name}` (first on line {found[name][0].line})")
            found[name] = (key, Item(self.file, f"`{name}`", value_node))
        return found

    def mapping(self, known: Sequence[str], required: Sequence[str] = ()) -> dict[str, Item]:
        """The values of a mapping whose keys are all known and in which none of the required is missing."""
        pairs = self.pairs()
        for name, (key, _) in pairs.items():
            if name not in known:
                raise key.error(f"unknown key `{name}` in {self.key}{hint(name, known)}")
        missing = [f"`{name}`" for name in required if name not in pairs]
        if missing:
            raise self.error(f"{self.key} lacks {', '.join(missing)}")
        return {name: value for name, (_, value) in pairs.items()}

    def items(self) -> list[Item]:
        """The values of a list that is not empty."""
        if not self.is_list():
            raise self.wrong("a list")
        if not self.node.value:
            raise self.error(f"{self.key} is an empty list")
        return [Item(self.file, self.key, node) for node in self.node.value]

    def text(self) -> str:
        """A string that is not blank, as written."""
        if not self.is_text():
            raise self.wrong("a string")
        if not self.node.value.strip():
            raise self.error(f"{self.key} is empty")
        return str(self.node.value)

    def prose(self) -> str:
        """A string without the blanks around it."""
        return self.text().strip()

    def literal(self) -> str:
        """The characters of any scalar, so that ``1`` and ``0.10`` stay as written."""
        if not isinstance(self.node, yaml.ScalarNode):
            raise self.wrong("a string")
        return str(self.node.value)

    def one_of(self, choices: Sequence[str]) -> str:
        """A string out of a fixed vocabulary."""
        value = self.text()
        if value not in choices:
            raise self.error(f"{self.key} must be one of {', '.join(choices)}, not `{value}`{hint(value, choices)}")
        return value

    def like(self, pattern: re.Pattern[str], wanted: str) -> str:
        """A string that matches ``pattern`` as a whole."""
        value = self.text()
        if not pattern.fullmatch(value):
            raise self.error(f"{self.key} must be {wanted}, not `{value}`")
        return value

    def several(self) -> list[Item]:
        """The values of a list, or the one value that stands for a list of one."""
        return self.items() if self.is_list() else [self]

    def texts(self) -> tuple[str, ...]:
        """One string or a list of strings."""
        return tuple(item.text() for item in self.several())

    def flag(self) -> bool:
        """True or false."""
        value = None if self.is_list() or self.is_mapping() else self.scalar()
        if not isinstance(value, bool):
            raise self.wrong("true or false")
        return value

    def specifier(self) -> str:
        """A PEP 440 version specifier."""
        value = self.prose()
        try:
            SpecifierSet(value)
        except InvalidSpecifier:
            raise self.error(f'{self.key} must be a version specifier such as ">=2.8,<2.13", not `{value}`') from None
        return value

    def scalar(self) -> str | int | float | bool | None:
        """A string, number, truth value or nothing."""
        if not isinstance(self.node, yaml.ScalarNode):
            raise self.wrong("a single value")
        if self.node.tag not in _PLAIN:
            if self.node.tag not in _KINDS:
                raise self.error(f"{self.key} has the unknown tag {self.node.tag}")
            return str(self.node.value)
        try:
            value: str | int | float | bool | None = _PLAIN[self.node.tag](SafeConstructor(), self.node)
        except (ValueError, KeyError, IndexError, OverflowError, ConstructorError):
            raise self.error(f"{self.key} cannot be read as {self._kind()}: `{self.node.value}`") from None
        if isinstance(value, int) and abs(value) >= _LONGEST_INT:
            raise self.error(f"{self.key} is too large a number")
        return value

    def plain(self) -> Any:
        """The value as scalars, lists and dicts."""
        if self.is_list():
            return [Item(self.file, self.key, node).plain() for node in self.node.value]
        if self.is_mapping():
            return {name: value.plain() for name, (_, value) in self.pairs().items()}
        return self.scalar()


def hint(word: str, known: Sequence[str] | Mapping[str, object]) -> str:
    """``; did you mean `x`?`` where one of the known words is close."""
    close = get_close_matches(word, list(known), n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


def parse(file: str, text: str) -> Item:
    """The one YAML document in ``text``; anchors, aliases and deep nesting are refused."""
    try:
        _screen(file, text)
        node = yaml.compose(text, Loader=_LOADER)
    except yaml.YAMLError as error:
        line, problem = _problem(error, text)
        raise CatalogueError(f"{file}:{line}: not valid YAML: {problem}") from None
    except (UnicodeError, RecursionError) as error:
        raise CatalogueError(f"{file}:1: not valid YAML: {error}") from None
    if node is None:
        raise CatalogueError(f"{file}:1: the file is empty")
    return Item(file, "the file", node)


def _screen(file: str, text: str) -> None:
    """Composing is recursive (in C: a crash of the interpreter), events are not: look at those first."""
    depth = 0
    for event in yaml.parse(text, Loader=_LOADER):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1
        refused = ""
        if depth > _DEEPEST:
            refused = "nested too deeply"
        elif getattr(event, "anchor", None) is not None:
            refused = "anchors and aliases are not supported"
        if refused:
            mark: Any = event.start_mark
            raise CatalogueError(f"{file}:{mark.line + 1}: {refused}")


def _problem(error: yaml.YAMLError, text: str) -> tuple[int, str]:
    if isinstance(error, yaml.MarkedYAMLError):
        mark = error.problem_mark or error.context_mark
        return (mark.line + 1 if mark else 1), str(error.problem or error.context)
    position = getattr(error, "position", None)
    line = text.count("\n", 0, position) + 1 if isinstance(position, int) else 1
    return line, str(getattr(error, "reason", None) or "unreadable")
