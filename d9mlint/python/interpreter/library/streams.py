"""Files that a program writes: whether it does so in the order of a loop around, which nothing promises."""

from __future__ import annotations

from typing import TYPE_CHECKING

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import Const, Obj, Unknown, Value, alternatives
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import environment

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

WRITTEN = "written"
"""The sink of an order in which a stream is written."""
_FILE = "io.IOBase"
_OPENS = {
    **dict.fromkeys(
        ("builtins.open", "io.open", "codecs.open", "gzip.open", "bz2.open", "lzma.open", "tensorflow.io.gfile.GFile"),
        Argument(1, "mode"),
    ),
    "pathlib.Path.open": Argument(0, "mode"),
    "?.open": Argument(0, "mode"),
}
_MAX_MODE = 4
"""Characters of a mode; what is longer is the name of something."""
_STREAMS = ("io.", "csv.", "zipfile.", "tarfile.", "tensorflow.io.TFRecordWriter")


def writes(event: Event) -> bool:
    """Whether what a call is given goes to a file; what is printed goes to the terminal, unless a file is given."""
    printed = event.name == "builtins.print" and "file" not in event.kwargs
    return not printed and any(effect.writes for effect in event.effects)


def written(interp: Interpreter, event: Event, frame: Frame) -> None:
    """Tells that a call writes to a stream that is older than a loop in no promised order: one file for all items."""
    if not any(effect.writes == "stream" for effect in event.effects):
        return
    for made in _openings(event):
        for loop in reversed(interp.order_loops):
            inside = made.loops[: loop.depth + 1] == tuple(interp.loops[: loop.depth + 1])
            if not inside or len(made.loops) <= loop.depth or _appends(made):
                order = Unknown(order=loop.order, sources=loop.sources)
                interp.event("sink", WRITTEN, frame, environment.place_of(event), (order,))
                return


def _openings(event: Event) -> list[Event]:
    """The calls that opened the streams which a call is a method of, or is given."""
    values = (event.receiver, *event.args, *event.kwargs.values())
    leaves = [leaf for value in values if value is not None for _, leaf in alternatives(value)]
    return [x.event for x in leaves if isinstance(x, Obj) and x.event is not None and x.type.startswith(_STREAMS)]


def _appends(opening: Event) -> bool:
    return "a" in _mode(opening)


def _mode(opening: Event) -> str:
    mode = opening.argument(_OPENS[opening.name]) if opening.name in _OPENS else None
    known = [leaf.value for _, leaf in alternatives(mode) if isinstance(leaf, Const)] if mode is not None else []
    return "".join(text for text in known if isinstance(text, str) and len(text) <= _MAX_MODE)


def _open(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """A file to be written."""
    return Obj(_FILE, event, taint(event.args)[0]) if set(_mode(event)) & set("wax") else None


TRANSFER: dict[str, Transfer] = dict.fromkeys(_OPENS, _open)
