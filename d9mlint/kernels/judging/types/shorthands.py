"""Macros of a source that stand for a type, or for an element of what they are given."""

from __future__ import annotations

import functools
import re

import tree_sitter

from d9mlint.kernels.judging.known.scalars import kind
from d9mlint.kernels.source.unit import Unit, parsed

Node = tree_sitter.Node
_MAX_EXPANSION = 500
_BODY = rb"((?:[^\n\\]|\\\r?\n)*)"
_ELEMENT = re.compile(rb"\s*\(*\s*(\w+)\s*\)*\s*\[")
_NO_TYPE = re.compile(rb"[^\w\s:<>,*]")
_COMMENT = re.compile(rb"//[^\n]*|/\*.*?\*/", re.DOTALL)


def meaning(name: str, unit: Unit) -> str | None:
    """The type that ``#define name type`` makes of a name in its source; None where several differ in kind."""
    if b"define" not in unit.data or not name.isidentifier():
        return None
    found = _types(name, unit.data)
    same = len(found) == 1 or (len({kind(one) for one in found}) == 1 and kind(found[0]))
    return found[0] if found and same and found[0] != name else None


@functools.lru_cache(maxsize=1024)
def _types(name: str, data: bytes) -> tuple[str, ...]:
    pattern = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+" + name.encode() + rb"[ \t]+(\S[^\n\\]*)$", re.MULTILINE)
    bodies = (_COMMENT.sub(b"", match[1]).strip() for match in pattern.finditer(data))
    return tuple(dict.fromkeys(b.decode() for b in bodies if b and b.isascii() and _NO_TYPE.search(b) is None))


def element_of(call: Node, unit: Unit) -> Node | None:
    """The argument of which a call of a macro names an element: ``t`` of ``AT(t, i)`` with ``((t)[(i) * stride])``."""
    called, listed = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if called is None or listed is None or called.type != "identifier" or b"define" not in unit.data:
        return None
    place = _place(unit.text(called), unit.data)
    given = [c for c in listed.named_children if c.type != "comment"]
    return given[place] if 0 <= place < len(given) else None


def expansion(call: Node, unit: Unit) -> Unit | None:
    """The expression that a macro of the file makes of a call; None for other calls."""
    called, listed = call.child_by_field_name("function"), call.child_by_field_name("arguments")
    if called is None or listed is None or called.type != "identifier" or b"define" not in unit.data:
        return None
    found = _expressions(unit.text(called), unit.data)
    given = [c.text or b"" for c in listed.named_children if c.type != "comment"]
    if len(found) != 1 or len(given) != len(found[0][0]):
        return None
    names, body = found[0]
    put = dict(zip(names, given, strict=True))
    text = re.sub(rb"\w+", lambda word: put.get(word[0], word[0]), body)
    return parsed(unit.path, text + b";") if len(text) < _MAX_EXPANSION else None


@functools.lru_cache(maxsize=1024)
def _expressions(name: str, data: bytes) -> tuple[tuple[tuple[bytes, ...], bytes], ...]:
    """The parameters and bodies of a macro that is called."""
    pattern = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+" + name.encode() + rb"\(([^()\n]*)\)" + _BODY, re.MULTILINE)
    bodies = ((m[1], _COMMENT.sub(b"", m[2].replace(b"\\", b" ")).strip()) for m in pattern.finditer(data))
    return tuple((tuple(p.strip() for p in listed.split(b",")), body) for listed, body in bodies if body)


@functools.lru_cache(maxsize=1024)
def _place(name: str, data: bytes) -> int:
    """Which parameter of a macro its body indexes; -1 where there is none, or definitions differ."""
    pattern = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+" + name.encode() + rb"\(([^()\n]*)\)" + _BODY, re.MULTILINE)
    found = set()
    for match in pattern.finditer(data):
        parameters = [p.strip() for p in match[1].split(b",")]
        body = _ELEMENT.match(match[2])
        found.add(parameters.index(body[1]) if body is not None and body[1] in parameters else -1)
    return found.pop() if len(found) == 1 else -1
