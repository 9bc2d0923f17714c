"""Switches that give each block of a launch cells of its own: ``(!deterministic ? 0 : blockIdx.x * stride)``."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import tree_sitter

from d9mlint.kernels.source.unit import Unit
from d9mlint.model import Location

_CHOICE = rb"(!?)\s*(?:\w+(?:\.|->))*\b(%s)\s*\?([^?:;]{1,200}):([^?:;]{1,200}?)[);]"
_BLOCK = re.compile(rb"\bblockIdx\b")
_DEFINED = re.compile(rb"(?<![.>\w])(\w+)\s*=(?![=])([^;]*);")
_WORD = re.compile(rb"\w+")
_MAX_ROUNDS = 6


def spreading(
    unit: Unit, function: tree_sitter.Node, place: int, names: Collection[bytes], opposites: Collection[bytes]
) -> tuple[bytes, Location] | None:
    """The switch that adds the block's number to the address of an atomic in a function, and where; None for none.

    The variable that the choice stands in has to lead to what the statement at ``place`` works on.
    """
    if not names:
        return None
    pattern = re.compile(_CHOICE % b"|".join(map(re.escape, sorted(names))))
    for match in pattern.finditer(unit.data, function.start_byte, place):
        on, off = (4, 3) if bool(match[1]) != (match[2] in opposites) else (3, 4)
        if _BLOCK.search(match[on]) is None or _BLOCK.search(match[off]) is not None:
            continue
        if _used(unit.data, place).intersection(_led_to(unit.data, match.start(), place)):
            return match[2], unit.span(match.start(2), match.end(2))
    return None


def _used(data: bytes, place: int) -> set[bytes]:
    """The words of the rest of a statement."""
    end = data.find(b";", place)
    return set(_WORD.findall(data, place, end if end >= 0 else len(data)))


def _led_to(data: bytes, start: int, place: int) -> set[bytes]:
    """The variables that are made of the one whose definition goes on at ``start``, itself included."""
    opening = max(data.rfind(b";", 0, start), data.rfind(b"{", 0, start), data.rfind(b"}", 0, start)) + 1
    first = next(_definitions(data, opening, data.find(b";", start) + 1), None)
    found = {first[0]} if first is not None else set()
    made = list(_definitions(data, start, place))
    for _ in range(_MAX_ROUNDS):
        more = {name for name, value in made if not found.isdisjoint(_WORD.findall(value))}
        if more <= found:
            break
        found |= more
    return found


def _definitions(data: bytes, start: int, end: int) -> Iterator[tuple[bytes, bytes]]:
    for match in _DEFINED.finditer(data, start, max(start, end)):
        yield match[1], match[2]
