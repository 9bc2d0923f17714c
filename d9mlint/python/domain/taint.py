"""What values carry along into what is made of them: where they come from, and whose order they have."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, TypeGuard

from d9mlint.python.domain.values import (
    NO_ORIGINS,
    UNKNOWN,
    Bound,
    Class,
    CondValue,
    Const,
    Dict,
    FlagValue,
    Func,
    Inst,
    Joined,
    Module,
    Obj,
    Partial,
    Phi,
    Ref,
    Seq,
    Super,
    Text,
    Unknown,
    Value,
    alternatives,
)

if TYPE_CHECKING:
    from d9mlint.python.domain.events import Event

MAX_PARTS = 8
"""Parts that a text which is joined from several is known by."""
_PLACES = {"{": re.compile(r"\{[^{}]*\}"), "%": re.compile(r"%[-+ #0-9.]*[a-zA-Z]")}
"""The places to fill of a template, by what they begin with."""
ARRAY = "numbers"
"""The origin of an array that holds numbers and no text."""
FLOAT = "float"
"""The origin of a number that is rounded in each turn of a loop, beside that of a number."""
_ONLY_NUMBERS = frozenset({ARRAY})
NUMBERS = frozenset({"int", "length", ARRAY, FLOAT})
"""Origins that say that a value itself is a number, or holds them; what is made of it need not."""
ABOUT = ("shape", "dtype", "device", "ndim")
"""Attributes that say what kind of array something is, whatever numbers are in it."""
_PATHS = ("pathlib.", "os.path.join()", "os.path.dirname()")
"""Beginnings of the types of paths."""
_CLEAN = frozenset({Const, FlagValue, CondValue, Func, Bound, Partial, Class, Inst, Module, Super})
"""Values that carry no taint; most values are one of these."""
_NOTHING: tuple[frozenset[str], str, tuple[Event, ...]] = (NO_ORIGINS, "", ())


class Computed(Unknown):
    """What an arithmetic operator makes of values that are not known: something, and never None.

    ``of_settings``: of flags and numbers alone (``args.epochs + 1``), so that the same command gives the same.
    """

    __slots__ = ("of_settings",)

    def __init__(self, like: Unknown, of_settings: bool = False) -> None:
        super().__init__(like.origins, like.order, like.sources)
        self.of_settings = of_settings


def taint(values: Any) -> tuple[frozenset[str], str, tuple[Event, ...]]:
    """Origins, order and source events of several values together."""
    carrying = [value for value in values if type(value) not in _CLEAN and value is not UNKNOWN]
    if not carrying:
        return _NOTHING
    if len(carrying) == 1 and type(alone := carrying[0]) is Unknown and len(alone.sources) < 2:
        return alone.origins, alone.order, alone.sources
    origins = NO_ORIGINS
    order = ""
    sources: dict[int, Event] = {}
    plain: list[Event] = []
    for value in carrying:
        for _, leaf in alternatives(value):
            o, r, s = taint_of(leaf)
            if not (o or r or s):
                continue
            if o:
                origins |= o
            order = order or r
            if not o and not r:
                plain += s
                continue
            for event in s:
                sources.setdefault(id(event), event)
    if not order:  # (an item of a listing comes from it, but what is in an order has that from elsewhere)
        for event in plain:
            sources.setdefault(id(event), event)
    return origins, order, tuple(sources.values())


def taint_of(value: Value) -> tuple[frozenset[str], str, tuple[Event, ...]]:
    """Origins, order and source events of one value."""
    if isinstance(value, Unknown):
        return value.origins, value.order, value.sources
    if isinstance(value, Obj):
        own = (value.event,) if value.event and (value.order or not value.origins <= _ONLY_NUMBERS) else ()
        return value.origins, value.order, (*own, *value.sources)
    if isinstance(value, Seq):
        inner = taint([*(value.items or ()), *((value.element,) if value.element else ())])
        return inner[0], value.order or inner[1], (*value.sources, *inner[2])
    if isinstance(value, Phi):
        return taint([value])
    if isinstance(value, Dict):
        return NO_ORIGINS, value.order, value.sources
    if (
        isinstance(value, Ref)
        and isinstance(value.receiver, (Unknown, Obj))
        and value.name.rpartition(".")[2] not in ABOUT
    ):
        return taint_of(value.receiver)  # an attribute of something made from the clock comes from the clock
    return NO_ORIGINS, "", ()


def mixed(values: Any) -> Unknown:
    """What is made of several values: their origins, order and sources, but no number for being made of numbers."""
    origins, order, sources = taint(values)
    return Unknown(origins - NUMBERS, order, sources)


def text_of(parts: Sequence[Value], path: bool = False) -> Unknown:
    """What is joined to a text or a path: known by what it begins with, and what else it is joined from."""
    flat = _merged(one for part in parts for one in (part.parts if isinstance(part, Text) else (part,)))
    like = mixed(parts)
    if len(flat) > MAX_PARTS:
        flat[MAX_PARTS:] = [like]
    known = isinstance(flat[0], (FlagValue, Const)) or begins_path(flat[0]) or is_variable(flat[0])
    if not known and not _begins_in_folder(flat):
        return like
    return Text(tuple(flat), like, path or any(part.path for part in parts if isinstance(part, Text)))


def _merged(parts: Iterable[Value]) -> list[Value]:
    """Parts of a text, of which no two that follow each other are known."""
    found: list[Value] = []
    for part in parts:
        last = found[-1] if found else None
        if _is_str(last) and _is_str(part):
            found[-1] = Const(last.value + part.value)
        else:
            found.append(part)
    return found


def _is_str(value: Value | None) -> TypeGuard[Const]:
    return isinstance(value, Const) and isinstance(value.value, str)


def is_variable(value: Value) -> bool:
    """Whether a value is that of a variable of the environment which whoever starts the program may have set."""
    return type(value) is Unknown and value.name.startswith("$")


def _begins_in_folder(parts: Sequence[Value]) -> bool:
    """Whether a text begins with a folder that is not known, and may begin others: ``f"{folder}/index.json"``."""
    first, second = parts[0], parts[1] if len(parts) > 1 else None
    named = isinstance(second, Const) and isinstance(second.value, str) and second.value.startswith("/")
    return named and type(first) is Unknown and first is not UNKNOWN


def ends(value: Value) -> tuple[str, str]:
    """What a text begins and ends with, as far as that is known for sure."""
    if isinstance(value, Const):
        return (value.value, value.value) if isinstance(value.value, str) else ("", "")
    if not isinstance(value, Text) or value.path:
        return "", ""
    found = [one.value if isinstance(one, Const) and isinstance(one.value, str) else "" for one in value.parts]
    return _plain(found[0]), _plain(found[-1])


def _plain(piece: str) -> str:
    """A piece of a template; nothing where it may stand for something else (``%%``, ``{{``)."""
    return "" if set(piece) & set("%{}") else piece


def differ(one: Value, other: Value) -> bool:
    """Whether two texts are surely not the same, whatever is filled in: ``f"retrieval_{x}"`` and ``"pretrain"``."""
    (begin, end), (begins, stops) = ends(one), ends(other)
    return not (
        (begin.startswith(begins) or begins.startswith(begin)) and (end.endswith(stops) or stops.endswith(end))
    )  # fmt: skip


def further(path: Obj, parts: Sequence[Value]) -> Obj:
    """A path with more joined to it, which comes from the clock, say, where that does; others stay as they are."""
    origins, _, sources = taint(parts)
    origins -= NUMBERS
    known = path.parts if isinstance(path, Joined) else ()
    if len(known) + len(parts) > MAX_PARTS and not origins:
        return path
    more = (*path.sources, *sources) if origins else path.sources
    return Joined(path, (*known, *parts), path.origins | origins, more)


def begins_path(value: Value) -> bool:
    """Whether a value, which is not known, tells apart the texts and paths that begin with it."""
    return isinstance(value, Ref) or (isinstance(value, Obj) and value.type.startswith(_PATHS))


def filled_in(template: str, opening: str, given: Sequence[Value]) -> Unknown:
    """What a template with places to fill (``opening``: ``%`` or ``{``) becomes: known by what it is joined from."""
    pieces = _PLACES[opening].split(template)
    if len(pieces) != len(given) + 1:
        pieces = [template.partition(opening)[0], *([""] * len(given))]
    parts: list[Value] = [Const(pieces[0])] if pieces[0] else []
    for piece, value in zip(pieces[1:], given, strict=True):
        parts += [value, Const(piece)] if piece else [value]
    return text_of(parts) if parts else mixed(given)


def is_number(value: Value) -> bool:
    """Whether a value is known to be a number."""
    if isinstance(value, Const):
        return isinstance(value.value, (int, float))
    return isinstance(value, Unknown) and not value.origins.isdisjoint(NUMBERS - {ARRAY})


def holds_numbers(value: Value) -> bool:
    """Whether a value is known to be a number, or an array of numbers."""
    return is_number(value) or (isinstance(value, (Unknown, Obj)) and ARRAY in value.origins)
