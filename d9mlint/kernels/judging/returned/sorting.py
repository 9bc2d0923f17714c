"""Places that threads take by a counter in arrays that are sorted afterwards: the order does not reach the result."""

from __future__ import annotations

import re
from typing import NamedTuple

from d9mlint.kernels.judging import declarations
from d9mlint.kernels.judging.known.scalars import kind
from d9mlint.kernels.judging.returned.uses import Use
from d9mlint.kernels.sites.atomics import Atomic
from d9mlint.kernels.source import lexical
from d9mlint.kernels.source.repository import Repository

_STORED = re.compile(rb"\b(\w+)\s*\[([^\[\];]{1,200})\]\s*(?:\.\s*\w+\s*)?=(?!=)")
_SORT = re.compile(rb"\b(?:\w*[sS]ort(?!ed)(?:Keys|Pairs)?\w*)\s*(?:<[^;{}()]{0,200}>\s*)?(?=\()")
_SORTED = rb"\b%s\s*\.\s*(?:arg)?sort\w*\s*\("
_MADE = rb"\b(\w+)\s*(?:\[[^\[\]]*\]\s*)*(?:=\s*\{?|\{)[^;{}]*\b%s\b"
_LAUNCH = rb"\b%s\s*(?:<[^;{}()]{0,300}>\s*)?<<<[^;{}]{1,300}>>>\s*(?=\()"
_BASE = re.compile(rb"[A-Za-z_]\w*")
_MAX_AFTER = 4_000


class Sorting(NamedTuple):
    """How arrays are sorted in which places were taken."""

    text: str
    """The call that sorts."""
    whole: bool
    """Whether elements that compare equal are the same, and none is left out."""


def sorted_after(atomic: Atomic, use: Use, repository: Repository) -> Sorting | None:
    """The sorting of all that is stored at places which the old value gives; None where something is not sorted."""
    function, node = atomic.function, atomic.node
    if function is None or node is None or not use.into:
        return None
    data, body = atomic.unit.data, function.node
    arrays: dict[bytes, None] = {}
    last = node.end_byte
    for match in _STORED.finditer(data, body.start_byte, body.end_byte):
        named = {word.decode("utf-8", "replace") for word in re.findall(rb"\w+", match[2])}
        if match.start(2) <= node.start_byte < match.end() or not use.names.isdisjoint(named):
            arrays[match[1]] = None
            last = max(last, match.end())
    if not arrays:
        return None
    found = _sorts(data, last, body.end_byte, tuple(arrays))
    if not found and "__global__" in function.qualifier:
        found = _after_launches(atomic, tuple(arrays), repository)
    if not found:
        return None
    only = declarations.declared(node, next(iter(arrays)).decode(), atomic.unit)
    scalars = len(arrays) == 1 and only is not None and kind(only.type) != ""
    return Sorting(found, scalars and not _bounded(data[body.start_byte : body.end_byte], use.names))


def _bounded(body: bytes, names: frozenset[str]) -> bool:
    """Whether some find no place: what is left out changes from run to run."""
    listed = b"|".join(re.escape(name.encode()) for name in sorted(names))
    return bool(names) and re.search(rb"\b(?:" + listed + rb")\s*(?:<|>=)(?![<=])", body) is not None


def _sorts(data: bytes, first: int, end: int, arrays: tuple[bytes, ...]) -> str:
    """The call behind a place that sorts all of some arrays, or what was made of them; empty for none."""
    known = {array: {array} for array in arrays}
    for array in arrays:
        made = re.compile(_MADE % re.escape(array))
        known[array] |= {match[1] for match in made.finditer(data, first, end)}
    for match in _SORT.finditer(data, first, end):
        listed = lexical.arguments(data, match.end())
        given = data[match.end() : listed[1]] if listed is not None else b""
        words = set(_BASE.findall(given))
        if all(not names.isdisjoint(words) for names in known.values()):
            return " ".join(data[match.start() : match.end()].decode("utf-8", "replace").split())
    if len(arrays) == 1:
        own = re.compile(_SORTED % re.escape(arrays[0])).search(data, first, end)
        return own[0].decode("utf-8", "replace").rstrip("( ") if own is not None else ""
    return ""


def _after_launches(atomic: Atomic, arrays: tuple[bytes, ...], repository: Repository) -> str:
    """The call that sorts what a kernel was given for its arrays, behind each of its launches."""
    function = atomic.function
    if function is None:
        return ""
    places = [declarations.parameter_place(function.node, array.decode(), atomic.unit) for array in arrays]
    launch = re.compile(_LAUNCH % re.escape(function.name.encode()))
    found = ""
    for path in repository.holding(function.name.encode()) if -1 not in places else ():
        data = repository.data(path)
        for match in launch.finditer(data):
            listed = lexical.arguments(data, match.end())
            if listed is None or max(places) >= len(listed[0]):
                return ""
            named = [_variable(data[slice(*listed[0][place])]) for place in places]
            found = _sorts(data, listed[1], _end(data, listed[1]), tuple(named)) if all(named) else ""
            if not found:
                return ""
    return found


def _variable(written: bytes) -> bytes:
    """The variable of an argument: ``keys`` of ``thrust::raw_pointer_cast(keys.data())``, ``keys.data_ptr<int>()``."""
    words = [m[0] for m in _BASE.finditer(written) if written[m.end() : m.end() + 1] not in (b"(", b":", b"<")]
    return words[0] if words else b""


def _end(data: bytes, at: int) -> int:
    """Where the function ends in which something stands, as far as a line that closes a brace at its start tells."""
    closed = data.find(b"\n}", at, at + _MAX_AFTER)
    return closed if closed >= 0 else min(len(data), at + _MAX_AFTER)
