"""What a template's function is given: by calls, by macros that make the call, by explicit instantiations."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.judging import declarations
from d9mlint.kernels.judging.known.scalars import kind, plain
from d9mlint.kernels.judging.types.templates import after_arguments, call_at
from d9mlint.kernels.source.lexical import arguments, word_places
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.textual import code, define_at, defines
from d9mlint.kernels.source.unit import Unit, parsed

Node = tree_sitter.Node
_MAX_BEFORE = 400
_MAX_USES = 40
_EXPLICIT = re.compile(rb"\btemplate\s+(?!<)[^;{}()]*\Z")
_RESULT = re.compile(rb"(?:\s|\\\r?\n)*(?!(?:return|new|throw|delete|else|case)\b)\w(?:[\w:*&<>,\s]|\\\r?\n)*")
_TEMPLATE = re.compile(rb"\btemplate(?:\s|\\\r?\n)*<[^;{}()]*>(?:\s|\\\r?\n)*\Z")


class Given(NamedTuple):
    """The arguments of one call, in the unit that holds them, and the byte of the file where it is made.

    ``host`` is where the macro stands whose expansion holds the call: what its names mean.
    """

    unit: Unit
    arguments: tuple[Node, ...]
    at: int
    host: tuple[Unit, Node] | None = None


def calls(repository: Repository, path: str, at: int) -> Iterator[Given]:
    """The call whose function is named at a byte; where that is in a macro, what it is in each use of it."""
    file = repository.unit(path)
    if file is None:
        return
    if define_at(repository, path, at) is None:
        yield from _read(file, at, at, None)
        return
    for piece, place in expanded(repository, path, at):
        host = file.root.descendant_for_byte_range(place, place + 1)
        if host is not None:
            yield from _read(piece, 0, place, (file, host))


def _read(unit: Unit, start: int, at: int, host: tuple[Unit, Node] | None) -> Iterator[Given]:
    call = call_at(unit, start)
    listed = call.child_by_field_name("arguments") if call is not None else None
    if listed is not None:
        yield Given(unit, tuple(n for n in listed.named_children if n.type != "comment"), at, host)


def by_name(repository: Repository, path: str, at: int, macro: tuple[str, int]) -> Iterator[Given]:
    """The calls that a macro makes of the function whose name it is given at a byte: ``RUN(f)`` for ``f(x, n)``.

    ``macro`` is its name and the byte of its parenthesis.
    """
    name, opening = macro
    file, data = repository.unit(path), code(repository, path)
    listed = arguments(data, opening)
    host = file.root.descendant_for_byte_range(at, at + 1) if file is not None else None
    if file is None or host is None or listed is None or define_at(repository, path, at) is not None:
        return
    values = [data[a:b].strip() for a, b in listed[0]]
    place = next((n for n, (a, b) in enumerate(listed[0]) if a <= at < b), -1)
    for home in sorted(repository.reachable(path)):
        for define in repository.derived(defines, home).get(name, ()):
            if not 0 <= place < len(define.parameters):
                continue
            body = code(repository, home)[define.start : define.end].replace(b"\\", b" ")
            for start in word_places(body, define.parameters[place].encode()):
                text = _put_in(body[start:].partition(b";")[0], define.parameters, values)
                piece = parsed(path, text + b";")
                yield from _read(piece, _last_name(values[place]), at, (file, host))


def _last_name(text: bytes) -> int:
    """Where the name starts in ``(ns::f<1>)``."""
    match = re.match(rb"[(\s]*(?:\w+\s*::\s*)*", text)
    return match.end() if match is not None else 0


def _put_in(text: bytes, parameters: tuple[str, ...], values: list[bytes]) -> bytes:
    for name, value in zip(parameters, values, strict=False):
        text = re.sub(rb"\b" + re.escape(name.encode()) + rb"\b", lambda _, put=value: put, text)  # type: ignore[misc]
    return text


def expanded(repository: Repository, path: str, at: int) -> Iterator[tuple[Unit, int]]:
    """The rest of a macro's body from a byte to its semicolon, with what is put in there by each use in its file.

    Also the byte of the use.
    """
    define, data = define_at(repository, path, at), code(repository, path)
    if define is None:
        return
    body = data[at : define.end].partition(b";")[0].replace(b"\\", b" ").strip()
    found = 0
    for place in word_places(data, define.name.encode()):
        line = data[data.rfind(b"\n", 0, place) + 1 : place].lstrip()
        if line.startswith(b"#") or define_at(repository, path, place) is not None:
            continue
        listed = arguments(data, data.find(b"(", place)) if define.parameters else None
        values = [data[a:b].strip() for a, b in listed[0]] if listed is not None else []
        yield parsed(path, _put_in(body, define.parameters, values) + b";"), place
        found += 1
        if found >= _MAX_USES:
            return


def signature(repository: Repository, path: str, at: int) -> list[str] | None:
    """The types in the signature of an explicit instantiation whose function is named at a byte; None for others."""
    data = code(repository, path)
    if _EXPLICIT.search(data[max(0, at - _MAX_BEFORE) : at]) is None and not _to_instantiate(repository, path, at):
        return None
    name = re.compile(rb"\w+\s*").match(data, at)
    start = name.end() if name is not None else at
    opening = after_arguments(data, start) if data[start : start + 1] == b"<" else start
    listed = arguments(data, opening) if data[opening : opening + 1] == b"(" else None
    if listed is None:
        return None
    written = [data[a:b].replace(b"\\", b" ").decode("utf-8", "replace") for a, b in listed[0]]
    return [_type(one) for one in _whole(written)]


def _to_instantiate(repository: Repository, path: str, at: int) -> bool:
    """Whether a macro is only the signature of the function named there: ``template DECLARE(float);`` uses it."""
    define = define_at(repository, path, at)
    data = code(repository, path)
    if define is None or not define.parameters or _RESULT.fullmatch(data, define.start, at) is None:
        return False
    listed = arguments(data, data.find(b"(", at, define.end))
    return listed is not None and not data[listed[1] : define.end].strip(b" \t\r\n\\;")


def declares(data: bytes, at: int) -> bool:
    """Whether a template's head stands before a byte: what follows is declared for all types, instantiated for none."""
    return _TEMPLATE.search(data[max(0, at - _MAX_BEFORE) : at]) is not None


def _whole(pieces: list[str]) -> Iterator[str]:
    """Pieces between commas, those of one list of template arguments joined: ``View<float, 2> x``."""
    joined = ""
    for piece in pieces:
        joined = f"{joined},{piece}" if joined else piece
        if joined.count("<") == joined.count(">"):
            yield joined
            joined = ""
    if joined:
        yield joined


def _type(text: str) -> str:
    """``float`` of ``const float* x``, ``unsigned int`` of ``unsigned int n``."""
    if text.rfind(">") > 0:
        return plain(text[: text.rfind(">") + 1])
    head, star, _ = text.partition("*" if "*" in text else "&")
    words = plain(head).split()
    if not star and len(words) > 1 and "<" not in words[-1] and not kind(words[-1]):
        words.pop()
    return " ".join(words)


def null(given: Node, place: int, function: Node, caller: Unit) -> bool:
    """Whether a call hands in a null pointer (``0``, ``NULL``), whose type says nothing of what is pointed to."""
    pointer = declarations.parameter_at(function, place)
    return pointer is not None and "pointer" in pointer.type and caller.text(given) in ("0", "NULL", "nullptr")


def naming(name: str, function: Node, unit: Unit) -> Iterator[tuple[int, str]]:
    """The parameters of a function whose types name a parameter of its template: their places and types."""
    for index, declared in enumerate(declarations.parameters(function)):
        typed = declared.child_by_field_name("type")
        text = unit.text(typed) if typed is not None else ""
        if re.search(rf"\b{re.escape(name)}\b", text):
            yield index, text
