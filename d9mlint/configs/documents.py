"""YAML and JSON as plain nodes that know where they stand; aliases are shared, never copied, so bombs stay small.

Sources: YAML 1.1 as PyYAML reads it, RFC 8259 (JSON).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from d9mlint.configs.words import Lines
from d9mlint.model import Location

MAX_DEPTH = 60
MAX_NODES = 100_000
"""A config file that people write is far below; what is larger is data."""
_TOKEN = re.compile(
    r'\s+|"(?:[^"\\\n]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null|NaN|-?Infinity|[\[\]{},:]'
)
_NAMED = {"true": True, "false": False, "null": None}


class NotReadable(Exception):
    """A document that cannot be read; the text says where and why."""


@dataclass(slots=True)
class Node:
    """A value: a ``map`` (``entries``), a ``list`` (``items``) or a ``scalar`` (``value``)."""

    kind: str
    location: Location
    value: Any = None
    entries: dict[str, tuple[Node, Node]] = field(default_factory=dict)
    """Key and value by the key's text; of keys that are there twice the last counts, as all readers have it."""
    items: list[Node] = field(default_factory=list)
    style: str = ""
    """Of a YAML text: ``|`` for a literal block."""

    def get(self, *path: str) -> Node | None:
        """The value at the end of a way through maps; None where there is none."""
        node: Node | None = self
        for name in path:
            pair = node.entries.get(name) if node is not None else None
            node = pair[1] if pair is not None else None
        return node

    def key(self, *path: str) -> Node | None:
        """The key at the end of such a way, for its place."""
        above = self.get(*path[:-1])
        pair = above.entries.get(path[-1]) if above is not None else None
        return pair[0] if pair is not None else None

    def text(self, *path: str) -> str | None:
        """The text there; None where there is none."""
        node = self.get(*path)
        return node.value if node is not None and isinstance(node.value, str) else None

    def each(self) -> Iterator[Node]:
        """The value and all inside of it; what several aliases share comes once."""
        seen: set[int] = set()
        stack = [self]
        while stack:
            node = stack.pop()
            if id(node) not in seen:
                seen.add(id(node))
                stack += [*node.items, *(value for _, value in node.entries.values())]
                yield node

    def pairs(self) -> Iterator[tuple[Node, Node]]:
        """Keys and values of a map, in order."""
        yield from self.entries.values()


def read(text: str, path: str) -> Node:
    """The (first) document of a YAML or JSON file.

    Raises:
        NotReadable: it is malformed, nested too deeply, or too large.
    """
    return read_json(text, path) if path.endswith(".json") else read_yaml(text, path)


class _Builder:
    """Puts nodes together as they come."""

    def __init__(self) -> None:
        self.root: Node | None = None
        self._open: list[tuple[Node, list[Node]]] = []
        self._count = 0

    def add(self, node: Node, *, opens: bool = False) -> None:
        """A node in document order; ``opens`` where its content follows."""
        self._count += 1
        if self._count > MAX_NODES:
            raise NotReadable(f"more than {MAX_NODES:,} values")
        if not self._open:
            self.root = self.root or node
        else:
            above, waiting = self._open[-1]
            if above.kind == "list":
                above.items.append(node)
            elif waiting:
                key = waiting.pop()
                above.entries[str(key.value)] = (key, node)
            else:
                waiting.append(node)
        if opens:
            if len(self._open) >= MAX_DEPTH:
                raise NotReadable(f"line {node.location.line}: nested too deeply")
            self._open.append((node, []))

    def next(self) -> None:
        """The end of a document; the next one adds to the same count."""
        self.root = None
        self._open = []

    def close(self) -> bool:
        """The end of a list or map; whether one was open."""
        return bool(self._open and self._open.pop())

    @property
    def top(self) -> str:
        """The kind of what is open."""
        return self._open[-1][0].kind if self._open else ""


def read_yaml(text: str, path: str) -> Node:
    """The first document of a YAML text.

    Raises:
        NotReadable: as `read` does.
    """
    for document in read_documents(text, path):
        return document
    raise NotReadable("empty")


def read_documents(text: str, path: str) -> Iterator[Node]:
    """The documents of a YAML text, one after the other.

    Raises:
        NotReadable: as `read` does, where reading comes to what cannot be read.
    """
    import yaml

    builder = _Builder()
    anchors: dict[str, Node] = {}
    resolver = yaml.resolver.Resolver()
    try:
        for event in yaml.parse(text, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader)):
            if isinstance(event, yaml.DocumentEndEvent):
                if builder.root is not None:
                    yield _merged(builder.root)
                builder.next()
                anchors = {}
            elif isinstance(event, yaml.CollectionEndEvent):
                builder.close()
            elif isinstance(event, yaml.AliasEvent):
                if event.anchor not in anchors:
                    raise NotReadable(f"not valid YAML: there is no anchor `{event.anchor}`")
                builder.add(anchors[event.anchor])
            elif isinstance(event, yaml.NodeEvent):
                node = _node(event, path, resolver)
                if event.anchor:
                    anchors[event.anchor] = node
                builder.add(node, opens=node.kind != "scalar")
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        where = f"line {mark.line + 1}: " if mark else ""
        raise NotReadable(f"not valid YAML: {where}{getattr(error, 'problem', None) or 'unreadable'}") from None


def _node(event: Any, path: str, resolver: Any) -> Node:
    import yaml

    start, end = event.start_mark, event.end_mark
    at = Location(path, start.line + 1, start.column + 1, end.line + 1, end.column + 1)
    if not isinstance(event, yaml.ScalarEvent):
        return Node("map" if isinstance(event, yaml.MappingStartEvent) else "list", at)
    tag = event.tag or resolver.resolve(yaml.ScalarNode, event.value, event.implicit)
    return Node("scalar", at, _plain(tag, event.value), style=event.style or "")


def _plain(tag: str, text: str) -> Any:
    from yaml.constructor import SafeConstructor

    kind = tag.rpartition(":")[2]
    readers = {"int": "construct_yaml_int", "float": "construct_yaml_float", "bool": "construct_yaml_bool"}
    if kind == "null":
        return None
    if kind in readers and tag.startswith("tag:yaml.org"):
        import yaml

        try:
            return getattr(SafeConstructor(), readers[kind])(yaml.ScalarNode(tag, text))
        except (ValueError, KeyError, IndexError, OverflowError):
            return text
    return text


def _merged(root: Node) -> Node:
    """``<<: *anchor`` of maps, one level a map, as compose files use it; each node is looked at once."""
    for node in root.each():
        pair = node.entries.get("<<")
        for other in (pair[1].items or [pair[1]]) if pair is not None else ():
            for name, entry in list(other.entries.items())[:1000]:
                node.entries.setdefault(name, entry)
    return root


def read_json(text: str, path: str) -> Node:
    """A JSON text.

    Raises:
        NotReadable: as `read` does.
    """
    lines = Lines(path, text)
    builder = _Builder()
    at = 0
    while at < len(text):
        token = _TOKEN.match(text, at)
        if token is None:
            raise NotReadable(f"not valid JSON: line {lines.location(at, at).line}: unexpected `{text[at]}`")
        at, word = token.end(), token[0]
        if word[0] in "[{":
            builder.add(Node("list" if word == "[" else "map", lines.location(token.start(), at)), opens=True)
        elif word[0] in "]}":
            if builder.top != ("list" if word == "]" else "map"):
                raise NotReadable(f"not valid JSON: line {lines.location(at, at).line}: unexpected `{word}`")
            builder.close()
        elif not (word[0] in ",:" or word.isspace()):
            builder.add(Node("scalar", lines.location(token.start(), at), _literal(word)))
    if builder.root is None or builder.top:
        raise NotReadable("not valid JSON: it ends too early" if builder.top else "empty")
    return builder.root


def _literal(word: str) -> Any:
    if word in _NAMED:
        return _NAMED[word]
    try:
        return json.loads(word)
    except ValueError:
        return word
