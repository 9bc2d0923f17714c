"""One parsed source: its tree, its bytes, its functions."""

from __future__ import annotations

import functools
import importlib.util
import re
from bisect import bisect_right
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.machinery import PathFinder
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.sites.names import QUALIFIERS
from d9mlint.kernels.source.mask import filled, masked
from d9mlint.model import Location

_CAPITALS = re.compile(rb"\b(?:__[a-z]+__|[A-Z][A-Z0-9_]+)\b")
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)
_NEWLINE = re.compile(rb"\n")
_LAUNCHER = re.compile(rb"\b\w*[lL]aunch\w*\s*<([^;{}()]{1,1000})>\s*\(")
_HANDED = re.compile(rb"(?:\A|[<,])\s*(?:\w+\s*::\s*)*?(?:(\w+)\s*::\s*)?(\w+)\s*(?=[<,]|\Z)")
_MAX_HEAD = 4_000
_MAX_BEFORE = 400
_ITEM = re.compile(rb"\b(?:nd_item|h_item|item|id)\s*<[^<>]*>\s*(?:const\s*)?&?\s*\w*\s*[,)]")
"""The parameter by which a kernel of SYCL knows its place in the grid."""
_ORDER = ("__global__", "__host__", "__device__")


@functools.cache
def _parser() -> tree_sitter.Parser:
    return tree_sitter.Parser(tree_sitter.Language(_grammar()))


def _grammar() -> object:
    """What ``tree_sitter_cpp.language()`` gives, from the extension module inside of that package, where it is a file.

    The package itself imports ``importlib.resources`` for the queries it offers, which takes as long as parsing
    40 KB of C++ and is not needed.
    """
    package = importlib.util.find_spec("tree_sitter_cpp")
    folders = package.submodule_search_locations if package is not None else None
    found = PathFinder.find_spec("tree_sitter_cpp._binding", folders) if folders is not None else None
    if found is None or found.loader is None:
        import tree_sitter_cpp

        return tree_sitter_cpp.language()
    binding = importlib.util.module_from_spec(found)
    found.loader.exec_module(binding)
    return binding.language()


class Function(NamedTuple):
    """A function definition: the outermost one below the innermost class."""

    name: str
    """Last part of its name; ``operator()`` for a functor's call."""
    scope: str
    """Its class, also where it is defined outside of it; empty for a free function."""
    node: tree_sitter.Node
    qualifier: str
    """``__global__``, ``__device__``, ``__host__ __device__`` or empty."""

    @property
    def label(self) -> str:
        """As reports name it."""
        return f"{self.scope}::{self.name}" if self.scope else self.name

    @property
    def on_device(self) -> bool:
        """Whether its qualifier says that it runs on the device, there alone or on the host, too."""
        return "__device__" in self.qualifier or "__global__" in self.qualifier


@dataclass(slots=True, eq=False)
class Unit:
    """A source (or a piece of one: a macro body, a string in a Python file) with its tree; equal only to itself.

    ``data`` are the original bytes (of a template for a text, ``filled``), ``tree`` was made of the masked ones, byte
    for byte at the same place. ``at`` is
    the place of the first byte in the file: a piece's locations are those of the file.
    """

    path: str
    data: bytes
    tree: tree_sitter.Tree
    at: tuple[int, int] = (1, 1)
    meaning: Callable[[str, bytes], str] | None = None
    """What a macro in front of a function stands for: ``GLOBAL`` for ``__global__``."""
    hidden: frozenset[bytes] = frozenset()
    """The macros of the repository that stand for qualifiers only, which the tree does not hold."""
    _starts: list[int] = field(default_factory=list)
    _ascii: bool | None = None
    _functions: dict[int, Function] = field(default_factory=dict)
    """Those asked for already, by the identity of their nodes."""
    _listed: list[Function] = field(default_factory=list)

    @property
    def root(self) -> tree_sitter.Node:
        """The root of the tree."""
        return self.tree.root_node

    def text(self, node: tree_sitter.Node) -> str:
        """The source of a node, unmasked."""
        return _decoded(self.data[node.start_byte : node.end_byte])

    def location(self, node: tree_sitter.Node) -> Location:
        """The place of a node."""
        return self.span(node.start_byte, node.end_byte)

    def span(self, start: int, end: int) -> Location:
        """The place of a range of bytes; columns count characters."""
        return Location(self.path, *self._position(start), *self._position(end))

    def line(self, number: int) -> tuple[int, int] | None:
        """The bytes of a line, from its first to its newline; None where the text is shorter."""
        starts = self._line_starts()
        if not 0 < number <= len(starts):
            return None
        return starts[number - 1], starts[number] - 1 if number < len(starts) else len(self.data)

    def _plain(self) -> bool:
        """Whether each character is one byte, so that columns need no counting."""
        if self._ascii is None:
            self._ascii = self.data.isascii()
        return self._ascii

    def _line_starts(self) -> list[int]:
        if not self._starts:
            self._starts = [0, *(m.end() for m in _NEWLINE.finditer(self.data))]
        return self._starts

    def _position(self, byte: int) -> tuple[int, int]:
        starts = self._line_starts()
        row = bisect_right(starts, byte) - 1
        column = byte - starts[row] if self._plain() else _characters(self.data[starts[row] : byte])
        line, first = self.at
        return line + row, column + (first if row == 0 else 1)

    def function(self, node: tree_sitter.Node) -> Function | None:
        """The function around a node (loop macros such as ``CUDA_1D_KERNEL_LOOP(i, n) {...}`` parse as one, too)."""
        found = None
        at: tree_sitter.Node | None = node
        while at is not None:
            if at.type == "function_definition":
                found = at
            elif found is not None and at.type in ("class_specifier", "struct_specifier"):
                break
            at = at.parent
        return self._function(found) if found is not None else None

    def on_device(self, node: tree_sitter.Node) -> bool:
        """Whether a node is in a function of the device, or in a lambda that says so or is a kernel of SYCL."""
        at: tree_sitter.Node | None = node
        while at is not None:
            body = at.child_by_field_name("body") if at.type == "lambda_expression" else None
            if body is not None and body.start_byte <= node.start_byte:
                head = _COMMENT.sub(b" ", self.data[at.start_byte : body.start_byte])
                if "__device__" in self._qualifier(_CAPITALS.findall(head)) or _ITEM.search(head) is not None:
                    return True
            at = at.parent
        function = self.function(node)
        if function is None:
            return False
        body = function.node.child_by_field_name("body")
        end = body.start_byte if body is not None else function.node.end_byte
        return function.on_device or _ITEM.search(self.data, function.node.start_byte, end) is not None

    def functions(self) -> Iterator[Function]:
        """All function definitions, in order, without those inside other functions."""
        if not self._listed:
            self._listed.extend(self._walked())
        return iter(self._listed)

    def _walked(self) -> Iterator[Function]:
        pending = [self.root]
        while pending:
            node = pending.pop()
            if node.type == "function_definition":
                yield self._function(node)
            else:
                pending.extend(reversed(node.children))

    def start_with_qualifiers(self, node: tree_sitter.Node) -> int:
        """Where a definition starts: its qualifiers were masked, so the node may start after them."""
        before = node.prev_sibling
        while before is not None and before.type == "comment":
            before = before.prev_sibling
        if before is None and node.parent is not None:
            return max(node.parent.start_byte if node.parent.parent is not None else 0, node.start_byte - _MAX_BEFORE)
        return max(before.end_byte if before is not None else 0, node.start_byte - _MAX_BEFORE)

    def _function(self, node: tree_sitter.Node) -> Function:
        known = self._functions.get(node.id)
        if known is None:
            known = self._functions[node.id] = self._read(node)
        return known

    def _read(self, node: tree_sitter.Node) -> Function:
        declarator = node.child_by_field_name("declarator")
        while declarator is not None and declarator.type != "function_declarator":
            inner = declarator.child_by_field_name("declarator")
            declarator = inner if inner is not None else next(iter(declarator.named_children), None)
        named = declarator.child_by_field_name("declarator") if declarator is not None else None
        parts = re.sub(r"<[^<>]*(?:<[^<>]*>[^<>]*)*>", "", self.text(named)).split("::") if named is not None else [""]
        head = self.data[node.start_byte : named.start_byte if named is not None else node.start_byte]
        first = self.start_with_qualifiers(node)
        before = _COMMENT.sub(b" ", self.data[first : node.start_byte])
        # Another branch of a condition was masked: its functions are no heads of this one.
        before = before[max(before.rfind(b"}"), before.rfind(b";")) + 1 :]
        words = _CAPITALS.findall(before + _COMMENT.sub(b" ", head[:_MAX_HEAD]))
        qualifier = self._qualifier(words)
        if qualifier == "__device__" and b"aunch" in self.data and len(parts) == 1 and self._launches(node, parts[0]):
            qualifier = "__global__"
        scope = parts[-2] if len(parts) > 1 else self._class_name(node)
        return Function(parts[-1].strip(), scope.strip(), node, qualifier)

    def _qualifier(self, words: list[bytes]) -> str:
        """What the words before a function's name say, through macros where CUDA's own are absent."""
        meant = [QUALIFIERS.get(w, "__global__") for w in words if w in QUALIFIERS or _kernel(w)]
        if not meant and self.meaning is not None:
            meant = [self.meaning(self.path, w) for w in words]
        said = " ".join(meant)
        return " ".join(q for q in _ORDER if q in said)

    def _launches(self, node: tree_sitter.Node, name: str) -> bool:
        """Whether a launcher is given a function, by its template: ``launch_kernel<config, globals, ns::f>(g)``.

        The kernel around it only calls it.
        """
        spaces = {space for space, own in _launched(self.data) if own == name.strip()}
        return "" in spaces or (bool(spaces) and not spaces.isdisjoint(namespaces(node)))

    def _class_name(self, node: tree_sitter.Node) -> str:
        return next(iter(classes(node)), "")


def _kernel(word: bytes) -> bool:
    """Whether a macro whose definition is in a library says that it begins a kernel: ``CUML_KERNEL``."""
    return word.endswith(b"_KERNEL")


@functools.lru_cache(maxsize=16)
def _launched(data: bytes) -> frozenset[tuple[str, str]]:
    """What launchers are given by their templates, each with the namespace before it; asked for each function."""
    lists = (match[1] for match in _LAUNCHER.finditer(data))
    return frozenset((m[1].decode() if m[1] else "", m[2].decode()) for text in lists for m in _HANDED.finditer(text))


def _decoded(data: bytes) -> str:
    """UTF-8, else Latin-1."""
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _characters(line: bytes) -> int:
    """How many characters the start of a line has: in UTF-8, else Latin-1; a byte order mark is none."""
    if line.isascii():
        return len(line)
    try:
        return len(line.removeprefix(b"\xef\xbb\xbf").decode("utf-8"))
    except UnicodeDecodeError:
        return len(line)


def unparsed(path: str, data: bytes) -> Unit:
    """A text that is no C++ (PTX): places without a tree."""
    return Unit(path, data, _parser().parse(b""))


def parsed(
    path: str,
    data: bytes,
    at: tuple[int, int] = (1, 1),
    meaning: Callable[[str, bytes], str] | None = None,
    hidden: frozenset[bytes] = frozenset(),
) -> Unit:
    """Parses a source, or a piece that stands at line and column ``at`` of one."""
    if b"{%" in data and b"%}" in data:  # operands of assembler begin alike: "{%0, %1}"
        data = filled(data)
    return Unit(path, data, _parser().parse(masked(data, hidden)), at, meaning, hidden)


def classes(node: tree_sitter.Node) -> Iterator[str]:
    """The classes around a node, the innermost first, without the parameters of templates."""
    at = node.parent
    while at is not None:
        if at.type in ("class_specifier", "struct_specifier"):
            name = at.child_by_field_name("name")
            written = (name.text or b"").decode("utf-8", "replace") if name is not None else ""
            yield re.sub(r"<.*", "", written, flags=re.DOTALL).rpartition("::")[2].strip()  # `class Outer::Inner {`
        at = at.parent


def namespaces(node: tree_sitter.Node) -> tuple[str, ...]:
    """The named namespaces around a node, the outermost first."""
    found: list[str] = []
    at = node.parent
    while at is not None:
        name = at.child_by_field_name("name") if at.type == "namespace_definition" else None
        if name is not None:
            written = (name.text or b"").decode("utf-8", "replace")
            found[:0] = [part.strip() for part in written.split("::") if part.strip()]
        at = at.parent
    return tuple(found)
