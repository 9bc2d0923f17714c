"""Macros whose bodies hold atomics: where a name stands in a ``#define``, and what a use expands to."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import NamedTuple

from d9mlint.kernels.source.lexical import arguments
from d9mlint.kernels.source.unit import Unit, parsed

MAX_BODY = 100_000
"""Bytes of a definition with its continuation lines; of an expansion, too."""
MAX_DEPTH = 60
MAX_USES = 1_000
"""How many uses of macros one use may come to: with two in each body, their number doubles at every level."""
_DEFINE = re.compile(rb"[ \t]*#[ \t]*define[ \t]+(\w+)(\(([^()\n]*(?:\\\r?\n[^()\n]*)*)\))?")
_CONTINUED = re.compile(rb"\\[ \t]*\r?\n")
_COMMENT = re.compile(rb'("(?:[^"\\\n]|\\.)*")|//[^\n]*|/\*.*?\*/', re.DOTALL)
_TOKEN = re.compile(
    rb'"(?:[^"\\\n]|\\.)*"|\'(?:[^\'\\\n]|\\.){1,8}\'|//[^\n]*|/\*.*?\*/|\s*##\s*|#\s*(?=\w)|\w+|\s+|.', re.DOTALL
)
_OPENING = re.compile(rb"\s*\(")


class Macro(NamedTuple):
    """A ``#define`` with a body, where it stands."""

    name: bytes
    path: str
    start: int
    parameters: tuple[bytes, ...] | None
    """None for an object-like macro."""
    body: bytes
    body_start: int

    def takes(self, count: int) -> bool:
        """Whether it can be used with so many arguments."""
        if self.parameters is None:
            return True
        if self.parameters and self.parameters[-1].endswith(b"..."):
            return count >= len(self.parameters) - 1
        return count == len(self.parameters) or (count == 0 and len(self.parameters) == 1)


def defined_around(path: str, data: bytes, at: int) -> Macro | None:
    """The macro whose body holds this byte; None outside of directives."""
    start = data.rfind(b"\n", 0, at) + 1
    while start and _continues(data, start - 1):
        if at - start > MAX_BODY:
            return None
        start = data.rfind(b"\n", 0, start - 1) + 1
    head = _DEFINE.match(data, start, min(len(data), start + 2_000))
    return _macro(path, data, head) if head is not None and at >= head.end() else None


def definitions(path: str, data: bytes, name: bytes) -> list[Macro]:
    """The definitions of one macro in a file."""
    pattern = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+" + re.escape(name) + rb"\b", re.MULTILINE)
    heads = (_DEFINE.match(data, m.start(), min(len(data), m.start() + 2_000)) for m in pattern.finditer(data))
    return [macro for head in heads if head is not None and (macro := _macro(path, data, head)) is not None]


def _continues(data: bytes, newline: int) -> bool:
    """Whether the line that ends here goes on in the next."""
    end = newline - 1 if newline and data[newline - 1] == 13 else newline
    return end > 0 and data[end - 1] == 92


def _macro(path: str, data: bytes, head: re.Match[bytes]) -> Macro | None:
    end = data.find(b"\n", head.end())
    while end >= 0 and _continues(data, end):
        if end - head.start() > MAX_BODY:
            return None
        end = data.find(b"\n", end + 1)
    end = len(data) if end < 0 else end
    if end - head.start() > MAX_BODY:
        return None
    parameters = None
    if head[2] is not None:
        listed = _CONTINUED.sub(b" ", head[3]).split(b",")
        parameters = tuple(p.strip() for p in listed) if head[3].strip() else ()
    return Macro(head[1], path, head.start(), parameters, data[head.end() : end], head.end())


def body_unit(macro: Macro, file: Unit) -> Unit:
    """The body as source: every byte at its place, continuation marks blank, pasted names joined by underscores."""
    text = _CONTINUED.sub(lambda m: b" " + m[0][1:], macro.body)
    text = re.sub(rb"##", b"__", text)
    text = re.sub(rb"#(?=\s*\w)", b" ", text)
    at = file.span(macro.body_start, macro.body_start)
    return parsed(file.path, text + b";", (at.line, at.column), file.meaning, file.hidden)


def expansion(macro: Macro, passed: list[bytes], known: Mapping[bytes, list[Macro]]) -> bytes:
    """The text of a use, on one line; macros in ``known`` are expanded in it, too. Bounded in depth and size."""
    return _expanded(_substituted(macro, passed), known, frozenset({macro.name}), iter(range(MAX_USES)))


def _substituted(macro: Macro, passed: list[bytes]) -> bytes:
    names = macro.parameters or ()
    values: dict[bytes, bytes] = {}
    for index, name in enumerate(names):
        if name.endswith(b"..."):
            values[name.removesuffix(b"...").strip() or b"__VA_ARGS__"] = b", ".join(passed[index:])
        else:
            values[name] = passed[index] if index < len(passed) else b""
    text = _CONTINUED.sub(b" ", macro.body)
    out: list[bytes] = []
    quoting = False
    size = 0
    for token in _TOKEN.findall(text):
        stripped = token.strip()
        if token.startswith((b"//", b"/*")):
            continue
        if stripped == b"##":
            while out and not out[-1].strip():
                out.pop()
            continue
        if stripped == b"#" and macro.parameters is not None:
            quoting = True
            continue
        piece = values.get(token, token)
        if quoting:
            piece = b'"' + piece.replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'
            quoting = False
        size += len(piece)
        if size > MAX_BODY:
            break
        out.append(piece)
    return re.sub(rb"\s*[\r\n]\s*", b" ", b"".join(out))


def _expanded(
    text: bytes, known: Mapping[bytes, list[Macro]], hidden: frozenset[bytes], left: Iterator[int]
) -> bytes:  # fmt: skip
    """``left`` yields once for each use that may still be expanded; ``hidden`` are the macros around the text."""
    if len(hidden) > MAX_DEPTH:
        return text
    out: list[bytes] = []
    done = size = 0
    for token in _TOKEN.finditer(text):
        word = token[0]
        if token.start() < done or word in hidden or word not in known:
            continue
        use = use_at(text, token.start(), known[word])
        if use is None or next(left, None) is None:
            continue
        macro, end, passed = use
        inner = _expanded(_substituted(macro, passed), known, hidden | {word}, left)
        size += len(inner)
        if size > MAX_BODY:
            break
        out += [text[done : token.start()], inner]
        done = end
    out.append(text[done:])
    return b"".join(out)


def use_at(data: bytes, start: int, macros: Iterable[Macro]) -> tuple[Macro, int, list[bytes]] | None:
    """The macro used at this byte, where its use ends, and what is passed; None where no definition fits."""
    candidates = list(macros)
    if not candidates:
        return None
    end = start + len(candidates[0].name)
    opening = _OPENING.match(data, end)
    read = arguments(data, opening.end() - 1) if opening else None
    for macro in candidates:
        if macro.parameters is None:
            return macro, end, []
        if read is not None and macro.takes(len(read[0])):
            # Line comments would swallow what follows on the one line of the expansion.
            return macro, read[1], [_COMMENT.sub(_kept, data[a:b]).strip() for a, b in read[0]]
    return None


def _kept(match: re.Match[bytes]) -> bytes:
    return match[1] or b" "


class Spliced(NamedTuple):
    """A piece of a file with macro uses replaced by what they expand to."""

    unit: Unit
    ranges: tuple[tuple[int, int], ...]
    """Where each expansion stands in the unit, in the order of the uses."""


def spliced(file: Unit, item: tuple[int, int], uses: list[tuple[int, int, bytes]]) -> Spliced:
    """The bytes ``item`` of a file with each use ``(start, end, text)``, in order, replaced."""
    out: list[bytes] = []
    ranges: list[tuple[int, int]] = []
    done, size = item[0], 0
    for start, end, text in uses:
        before = file.data[done:start]
        size += len(before)
        # As many lines as the use took, so that places after it keep theirs.
        padded = text + b"\n" * file.data.count(b"\n", start, end)
        ranges.append((size, size + len(text)))
        out += [before, padded]
        size += len(padded)
        done = end
    out.append(file.data[done : item[1]])
    at = file.span(item[0], item[0])
    return Spliced(parsed(file.path, b"".join(out), (at.line, at.column), file.meaning, file.hidden), tuple(ranges))
