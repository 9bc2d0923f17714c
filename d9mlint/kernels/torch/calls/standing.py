"""How the name of a class stands at a place: whether who names it may call methods of it without naming them."""

from __future__ import annotations

import re
from typing import NamedTuple

from d9mlint.kernels.torch.blocks import Block

_IN_TEMPLATE = re.compile(rb"<[^<>;{}()]*(?:<[^<>;{}()]*>[^<>;{}()]*)*\Z")
"""Before a template argument: an angle bracket is open."""
HOLDER = re.compile(
    rb"\b(?:\w+_ptr|vector|array|optional|pair|tuple|\w*map|set|function|(?:\w+_)?cast|ObjectRef|\w+_wrapper|isinstance)"
    rb"\s*\Z"
)
"""Templates that hold objects of a class, and call no method of it."""
_CAST = re.compile(rb"\b(?:\w+_)?cast\s*<\s*(?:const\s+)?(?:\w+\s*::\s*)*\Z")
"""Before the class of an object that is asked for: ``dynamic_cast<Class *>(module)`` calls nothing of it."""
_COMMENT = re.compile(rb"//[^\n]*(?=\n)|/\*.*?\*/", re.DOTALL)
_IN_ALIAS = re.compile(rb"\b(?:using\s+\w+\s*=|typedef)[^;{}]*\Z")
_MADE = re.compile(rb"(?:(\w+)\s*\*\s*(?:const\s+)?\w+\s*[=({]\s*)?\bnew\s+(?:\w+\s*::\s*)*\Z")
"""An object that is made to be called through its base class, the type of the pointer where that is seen.

What a constructor makes, other methods call.
"""
_STORED = re.compile(rb"\bmake_(?:shared|unique)\s*<\s*(?:\w+\s*::\s*)*\Z")
_ALONE = re.compile(rb"\s*[,;})]")
MAX_BEFORE = 2_000
_MAX_MAKER = 200
"""How far before a class the ``new`` or template may stand that makes an object of it."""


class Standing(NamedTuple):
    """How the name of a class stands at a place."""

    stored: bool
    """``std::make_shared<Class>``: an object that others call."""
    made: bool
    """``new Class``."""
    given: bool
    """It is handed to a template that does not only hold it, or stands in an alias."""
    cast: bool = False
    """``dynamic_cast<Class *>(object)``: what is called on the object then is named."""
    alone: bool = False
    """Nothing is made of it or declared with it: ``{Metric::Class, 1}``."""


def standing(data: bytes, place: int, width: int) -> Standing:
    """How the name of a class that begins at a byte stands there; ``width`` are its bytes."""
    first = max(0, place - _MAX_MAKER)
    stored, new = _STORED.search(data, first, place) is not None, _MADE.search(data, first, place)
    own = new is not None and new[1] is not None and data.startswith(new[1], place)
    made = new is not None and not own  # who points to the class itself names the methods that he calls
    cast = _CAST.search(data, first, place) is not None
    alone = _ALONE.match(data, place + width) is not None
    return Standing(stored, made, _is_given(data[max(0, place - MAX_BEFORE) : place]), cast, alone)


def reaches(other: Block, block: Block, at: Standing) -> bool:
    """Whether who names a class may call a method of it, which it does not name: it hands the class to a template.

    Objects and functors are called without a name; an alias is used elsewhere in the block.
    """
    name = block.name
    if at.cast and not name.startswith("operator"):
        return False
    if at.stored or (at.made and other.scope and other.name == other.scope):
        return name == block.scope
    if name == block.scope and at.alone:
        return at.made or at.given
    if name.startswith(("operator", "~")) or name in (block.scope, "forward", "backward", "apply"):
        return True
    return at.made or at.given or other.kind == "export"


def _is_given(before: bytes) -> bool:
    """Whether what follows is handed to a template that does not only hold it, or stands in an alias."""
    before = _COMMENT.sub(b"", before)  # `// at least <= 1`
    statement = before[max(before.rfind(mark) for mark in (b";", b"{", b"}")) + 1 :]
    inside = statement[max(statement.rfind(mark) for mark in (b"(", b")")) + 1 :]
    handed = _IN_TEMPLATE.search(inside) if b"<" in inside else None
    if handed is not None:
        start = len(statement) - len(inside) + handed.start()
        if HOLDER.search(statement, max(0, start - _MAX_MAKER), start) is None:
            return True
    return _IN_ALIAS.search(statement) is not None
