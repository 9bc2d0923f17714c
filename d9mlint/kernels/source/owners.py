"""What stands around a place of a source: the function, class, macro or alias that a way to the op goes through."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

import tree_sitter

from d9mlint.kernels.source.lexical import word_places
from d9mlint.kernels.source.unit import Unit
from d9mlint.model import Location

_CLASSES = ("class_specifier", "struct_specifier")
_CODE = frozenset(("comment", "string_content", "string_literal", "char_literal", "system_lib_string"))
_CLASS_HEAD = re.compile(rb"^(?:class|struct)[ ]+(\w+)[^;{}()]{0,500}\{", re.MULTILINE)
_ENUMERATOR = re.compile(r"\b(\w+)\s*::\s*([A-Z][A-Z0-9_]*|k[A-Z]\w*)\b")
_HOST_DEVICE = re.compile(r"\b(?:CPUDevice|SYCLDevice|SyclDevice|ThreadPoolDevice|CpuDevice)\b")
_GPU_DEVICE = re.compile(r"\b(?:GPUDevice|GpuDevice)\b")


@dataclass(frozen=True, slots=True)
class Owner:
    """A definition around a place; ``kind`` is ``function``, ``class``, ``macro`` or ``alias``.

    ``head`` is its text up to the body: of a class with what it specialises, of a method with its class as written.
    """

    kind: str
    path: str
    name: str
    scope: str
    qualifier: str
    head: str
    start: int
    end: int
    body: int
    node: tree_sitter.Node | None = field(default=None, compare=False, repr=False)

    @property
    def label(self) -> str:
        """As a chain names it."""
        return f"{self.scope}::{self.name}" if self.scope else self.name

    @property
    def class_(self) -> str:
        """The class it is, or is a member of; empty for everything else."""
        return self.name if self.kind == "class" else self.scope

    @property
    def on_host(self) -> bool:
        """Whether it is the specialisation for another device than a GPU."""
        return other_device(self.head)

    @property
    def enumerators(self) -> dict[str, str]:
        """The enumerators that it is a specialisation for, by enumeration."""
        return enumerators(self.head)


def other_device(text: str) -> bool:
    """Whether template arguments name a device that is no GPU, and no GPU beside it."""
    return _HOST_DEVICE.search(text) is not None and _GPU_DEVICE.search(text) is None


def enumerators(text: str) -> dict[str, str]:
    """``UpdateOp::ADD`` in template arguments: the enumerator by its enumeration."""
    return {m[1]: m[2] for m in _ENUMERATOR.finditer(text)} if "::" in text else {}


def only_declared(data: bytes, word: bytes) -> bool:
    """Whether a word stands nowhere but where classes of this name begin: then nothing uses it, which needs no tree."""
    for at in word_places(data, word):
        line = data.rfind(b"\n", 0, at) + 1
        head = _CLASS_HEAD.match(data, line)
        if head is None or head.start(1) != at or data[max(0, line - 3) : line].rstrip(b"\r\n").endswith(b"\\"):
            return False
    return True


def owner_at(unit: Unit, byte: int) -> Owner | None:
    """The definition around a byte; None at namespace level, in comments and strings."""
    node = unit.root.descendant_for_byte_range(byte, byte + 1)
    if node is None or node.type in _CODE:
        return None
    function = unit.function(node)
    if function is not None and unit.root.has_error and not function.scope:
        ended = _end_before(unit, function.node.start_byte, byte)
        lost = _lost_class(unit, ended, byte) if ended else _lost_class(unit, 0, function.node.start_byte)
        if ended:
            return lost
        if lost is not None:
            function = function._replace(scope=lost.name)
    if function is not None:
        body = function.node.child_by_field_name("body")
        first = body.start_byte if body is not None else function.node.end_byte
        place = function.node.start_byte, function.node.end_byte, first, function.node
        head = _declared(unit, function.node, first)
        return Owner("function", unit.path, function.name, function.scope, function.qualifier, head, *place)
    alias: Owner | None = None
    at: tree_sitter.Node | None = node
    while at is not None:
        if at.type in ("preproc_def", "preproc_function_def"):
            return _plain(unit, "macro", at, "name")
        if at.type in ("alias_declaration", "type_definition"):
            alias = _plain(unit, "alias", at, "name" if at.type == "alias_declaration" else "declarator")
        if at.type in _CLASSES and (found := _class(unit, at)) is not None:
            return found
        at = at.parent
    return alias


def _end_before(unit: Unit, start: int, byte: int) -> int:
    """The last closing brace in the first column between two places; 0 where there is none.

    Where ``#if`` splits a block, the grammar can take the rest of a file for one function: such a brace ended it.
    """
    at = unit.data.rfind(b"\n}", start, byte)
    return at + 2 if at >= 0 else 0


def _lost_class(unit: Unit, start: int, end: int) -> Owner | None:
    """The class that the grammar lost and that is open between two places."""
    start = max(start, unit.data.rfind(b"\n}", 0, end) + 2, end - 40_000)
    heads = list(_CLASS_HEAD.finditer(unit.data, start, end))
    if not heads:
        return None
    found = heads[-1]
    return Owner("class", unit.path, found[1].decode(), "", "", "", found.start(), end, found.end())


def _declared(unit: Unit, function: tree_sitter.Node, body: int) -> str:
    """What a function is written for: its class's head, and its own name with the class before it."""
    at = function.parent
    while at is not None and at.type not in _CLASSES:
        at = at.parent
    around = _class(unit, at) if at is not None else None
    written = unit.data[function.start_byte : body].decode("utf-8", "replace")
    # Parameters name devices, too, but those do not say what the function is for.
    opening = written.find("(", written.find("operator()") + len("operator()")) if "operator()" in written else -1
    opening = opening if opening >= 0 else written.find("(")
    return (around.head + " " if around is not None else "") + written[: opening if opening >= 0 else len(written)]


def _plain(unit: Unit, kind: str, node: tree_sitter.Node, field_name: str) -> Owner | None:
    name = node.child_by_field_name(field_name)
    if name is None:
        return None
    return Owner(kind, unit.path, unit.text(name), "", "", "", node.start_byte, node.end_byte, node.start_byte)


def _class(unit: Unit, node: tree_sitter.Node) -> Owner | None:
    name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
    if name is None or body is None:
        # A mere mention: ``template struct X<T>;``, ``friend class X``.
        return None
    plain = re.sub(r"<.*", "", unit.text(name), flags=re.DOTALL).rsplit("::", 1)[-1].strip()
    return Owner(
        "class", unit.path, plain, "", "", unit.text(name), node.start_byte, node.end_byte, name.end_byte
    )  # fmt: skip


def place_of(unit: Unit, location: Location) -> int | None:
    """The byte where a location starts; None where the file has no such place."""
    line = unit.line(location.line)
    if line is None:
        return None
    start, end = line
    text = unit.data[start:end].decode("utf-8", "replace")
    byte = start + len(text[: location.column - 1].encode())
    return byte if byte < len(unit.data) else None
