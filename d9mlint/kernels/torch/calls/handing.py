"""Objects that a function hands to others: ``Sum sum{out}; k<<<1, 32>>>(x, sum);``, ``k<<<1, 32>>>(Sum{out})``.

And what a template of a function hands on of the class that it is given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.kernels.source import lexical
from d9mlint.kernels.torch.blocks import Block
from d9mlint.kernels.torch.calls.standing import HOLDER

_ARGUMENTS = rb"(?:\s*<[^<>;{}()]*(?:<[^<>;{}()]*>[^<>;{}()]*)*>)?"
_DECLARED = re.compile(_ARGUMENTS + rb"\s*[&*]?\s*(\w+)\s*[({;=,)]")
"""After the name of a class: a variable of it."""
_MADE = re.compile(_ARGUMENTS + rb"\s*[({]")
"""After the name of a class: an object is made of it."""
_INTO = re.compile(rb"\b(\w+)\s*=\s*(?:\w+\s*::\s*)*\Z")
"""Before the name of a class of which an object is made: the variable that holds it."""
_CALLED = re.compile(rb"\b(\w+)" + _ARGUMENTS + rb"\s*(?:<<<[^;{}]{0,300}>>>)?\s*\Z")
"""Before the parenthesis of a call or launch."""
_PARAMETER = re.compile(rb"\b(?:typename|class)\s+(\w+)\s*[,>]")
_KEYWORDS = frozenset((b"if", b"for", b"while", b"switch", b"return", b"sizeof", b"decltype", b"alignof", b"noexcept"))
_MAX_BEFORE = 600
"""How far before an argument the call may begin that it stands in."""
_MAX_HEAD = 300
"""How far before the name of a function its template may begin."""


def takers(data: bytes, place: int, width: int, end: int) -> Iterator[bytes]:
    """The functions to which an object of a class, named at a place, is handed as an argument of its own."""
    after = place + width
    made, declared = _MADE.match(data, after, end), _DECLARED.match(data, after, end)
    into = _INTO.search(data, max(0, place - 200), place) if made is not None else None
    if into is None and made is not None:
        yield from _taker(data, place)
    named = into[1] if into is not None else declared[1] if declared is not None else b""
    yield from of_variable(data, named, after, end)


def of_variable(data: bytes, name: bytes, start: int, end: int) -> Iterator[bytes]:
    """The functions to which a variable is handed as an argument of its own, between two places."""
    for at in lexical.word_places(data, name, start, end) if name else ():
        alone = data[at + len(name) : at + len(name) + 20].lstrip()[:1] in (b",", b")")
        if alone and data[max(0, at - 20) : at].rstrip(b" \n\t*&")[-1:] in (b",", b"("):
            yield from _taker(data, at)


def of_class(block: Block) -> Iterator[bytes]:
    """The templates to which a template of a function gives the class that it is given, without those that hold it."""
    text = _with_head(block)
    for named in _PARAMETER.finditer(text):
        for given in re.finditer(rb"(\w+)\s*<\s*" + named[1] + rb"\b", text[named.end() :]):
            if HOLDER.search(given[1]) is None and not given[1].startswith(b"make_"):
                yield given[1]


def of_object(block: Block) -> Iterator[bytes]:
    """The functions to which a template of a function hands an object that it is given, of the class it is given."""
    text = _with_head(block)
    for named in _PARAMETER.finditer(text):
        held = re.compile(rb"\b" + named[1] + rb"\s*(?:const\s*)?[&*]*\s*(\w+)\s*[,)]")
        for variable in held.finditer(text, named.end()):
            yield from of_variable(text, variable[1], variable.end(), len(text))


def _with_head(block: Block) -> bytes:
    """The text of a function with what stands before its parameters, as far as the statement before it."""
    data, first = block.unit.data, max(0, block.start - _MAX_HEAD)
    before = max(data.rfind(mark, first, block.start) for mark in (b"}", b";"))
    return data[max(first, before + 1) : block.end]


def _taker(data: bytes, place: int) -> Iterator[bytes]:
    """The function of whose call an argument stands at a place."""
    depth = 0
    for at in range(place - 1, max(-1, place - _MAX_BEFORE), -1):
        mark = data[at : at + 1]
        if mark in b")]}":
            depth += 1
        elif mark in b"([{":
            depth -= 1
            if depth < 0:
                called = _CALLED.search(data, max(0, at - _MAX_BEFORE), at) if mark == b"(" else None
                if called is not None and called[1] not in _KEYWORDS:
                    yield called[1]
                return
        elif mark == b";" and depth == 0:
            return
