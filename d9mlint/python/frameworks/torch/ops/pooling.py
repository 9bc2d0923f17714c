"""Max-poolings that give indices, and what puts values back to these places: twice to none where no windows overlap.

Sources: torch 2.13, nn/modules/pooling.py (MaxPool2d, MaxUnpool2d), nn/functional.py (max_pool2d_with_indices).
"""

from __future__ import annotations

import re

from d9mlint.model import Argument, Op
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Seq, Value
from d9mlint.python.interpreter.program import Program, is_none

_UNPOOLS = re.compile(r"torch\.nn\.functional\.max_unpool\dd$")
_LAYER = re.compile(r"torch\.nn\.(Adaptive|Fractional)?MaxPool\dd")
_FUNCTION = re.compile(r"torch\.nn\.functional\.(adaptive_|fractional_)?max_pool\dd(_with_indices)?")
_PLAIN = re.compile(r"torch\.nn\.(MaxPool\dd|functional\.max_pool\dd(_with_indices)?)")
"""Those whose windows are all of one size, at one distance."""
_INDICES = "return_indices"
_OF_LAYER = {"kernel_size": 0, "stride": 1, "dilation": 3, _INDICES: 4}
_OF_FUNCTION = {"kernel_size": 1, "stride": 2, "dilation": 4, _INDICES: 6}
"""Where their arguments stand."""


def puts_each_once(program: Program, op: Op) -> bool:
    """Whether an unpooling gets each place once: all poolings of the program that give indices have windows apart."""
    return bool(_UNPOOLS.search(op.name)) and program.once("poolings-apart", _all_apart)


def _all_apart(program: Program) -> bool:
    every = [
        e for e in program.events if e.kind == "call" and (_LAYER.fullmatch(e.name) or _FUNCTION.fullmatch(e.name))
    ]
    giving = [event for event in every if _gives_indices(event)]
    return bool(giving) and all(map(_apart, giving))


def _argument(event: Event, name: str) -> Value | None:
    places = _OF_FUNCTION if _FUNCTION.fullmatch(event.name) else _OF_LAYER
    return event.argument(Argument(places[name], name))


def _gives_indices(event: Event) -> bool:
    """Whether a pooling gives indices, too, or may."""
    asked = _argument(event, _INDICES)
    never = asked is None or (isinstance(asked, Const) and not asked.value)
    return event.name.endswith("_with_indices") or not never


def _apart(event: Event) -> bool:
    """Whether the windows are surely no wider than their distance."""
    if not _PLAIN.fullmatch(event.name):
        return False
    dilation = _argument(event, "dilation")
    size, distance = _sizes(_argument(event, "kernel_size")), _argument(event, "stride")
    if not size or (dilation is not None and set(_sizes(dilation)) != {1}):
        return False
    steps = size if distance is None or is_none(distance) is True else _sizes(distance)
    most = max(len(size), len(steps))
    return bool(steps) and all(
        one <= step for one, step in zip(_spread(size, most), _spread(steps, most), strict=False)
    )


def _spread(numbers: list[int], most: int) -> list[int]:
    return numbers * most if len(numbers) == 1 else numbers


def _sizes(value: Value | None) -> list[int]:
    """A number or those of a tuple; none where they are not known."""
    items = value.items if isinstance(value, Seq) else [value]
    if isinstance(value, Const) and isinstance(value.value, tuple):
        return [one for one in value.value if isinstance(one, int)]
    found = [one.value for one in items or () if isinstance(one, Const) and isinstance(one.value, int)]
    return found if items and len(found) == len(items) else []
