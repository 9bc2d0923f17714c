"""Strings of a source that are source themselves: CUDA compiled at run time, PTX."""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

import tree_sitter

from d9mlint.kernels.source.unit import Unit, parsed

_STRINGS = ("string_literal", "raw_string_literal")
_ESCAPES = {b"\\n": b"\n", b"\\t": b"\t", b'\\"': b'"', b"\\\\": b"\\", b"\\'": b"'"}
_CODE = (b"__global__", b"__device__")
_FIELD = re.compile(rb"(?<!\{)\{[A-Za-z_]\w*\}(?!\})")
_FORMAT = re.compile(rb"\{\{|\}\}|\{[A-Za-z_]\w*\}")


@dataclass(frozen=True)
class Text:
    """The text of a string, or of several that stand side by side, and where its pieces come from."""

    path: str
    data: bytes
    segments: tuple[tuple[int, int, int], ...]
    """For each piece: its first byte in the file, its first byte in the text, its length."""
    place: tuple[int, int]
    """Line and column of the first piece."""

    @property
    def start(self) -> int:
        """The first byte in the file."""
        return self.segments[0][0]

    @property
    def is_code(self) -> bool:
        """Whether this is CUDA source and no message."""
        return any(word in self.data for word in _CODE) or (b";" in self.data and b"{" in self.data)

    @functools.cached_property
    def unit(self) -> Unit:
        """The text parsed; line numbers are those of the file for a raw string."""
        return parsed(self.path, _filled(self.data), self.place)

    def offset(self, byte: int) -> int:
        """From a place in the file to one in the text."""
        first, begin, _ = next((s for s in reversed(self.segments) if s[0] <= byte), self.segments[0])
        return begin + byte - first

    def origin(self, offset: int) -> int:
        """From a place in the text to one in the file."""
        first, begin, _ = next((s for s in reversed(self.segments) if s[1] <= offset), self.segments[0])
        return first + offset - begin


def _filled(data: bytes) -> bytes:
    """The source that a template for ``format`` gives (``{{`` a brace, ``{NAME}`` a name), each byte at its place."""
    if b"{{" not in data or b"}}" not in data or _FIELD.search(data) is None:
        return data
    return _FORMAT.sub(lambda m: {b"{{": b"{ ", b"}}": b" }"}.get(m[0]) or b" " + m[0][1:-1] + b" ", data)


def string_around(file: Unit, byte: int) -> Text | None:
    """The string that holds this byte, with its neighbours; None outside of strings."""
    node = file.root.descendant_for_byte_range(byte, byte + 1)
    while node is not None and node.type not in _STRINGS:
        if node.type not in ("string_content", "raw_string_content", "escape_sequence"):
            return None
        node = node.parent
    if node is None:
        return None
    return _text(file, node.parent if node.parent is not None and node.parent.type == "concatenated_string" else node)


def _text(file: Unit, node: tree_sitter.Node) -> Text:
    segments: list[tuple[int, int, int]] = []
    out: list[bytes] = []
    size = 0
    for literal in node.named_children if node.type == "concatenated_string" else [node]:
        for part in literal.named_children:
            written = file.data[part.start_byte : part.end_byte]
            piece = _ESCAPES.get(written, b" ") if part.type == "escape_sequence" else written
            if part.type in ("string_content", "raw_string_content", "escape_sequence"):
                segments.append((part.start_byte, size, len(piece)))
                out.append(piece)
                size += len(piece)
    if not segments:
        segments.append((node.start_byte, 0, 0))
    at = file.span(segments[0][0], segments[0][0])
    return Text(file.path, b"".join(out), tuple(segments), (at.line, at.column))
