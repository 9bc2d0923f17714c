"""Files that a program writes: whether it does so in the order of a loop around, which nothing promises."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from d9mlint.model import Effect
from d9mlint.python.domain.choices import choose
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.taint import further, taint
from d9mlint.python.domain.values import Const, Dict, FlagValue, Inst, Obj, Seq, Text, Unknown, Value, alternatives
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import environment
from d9mlint.python.interpreter.scopes import COMPLETION, OrderLoop

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

WRITTEN = "written"
"""The sink of an order in which a stream is written."""
_MAX_MODE = 4
"""Characters of a mode; what is longer is the name of something."""
_WRITES = frozenset("wax")
FILE_TESTS = (".exists", ".isfile", ".isdir", ".is_file", ".is_dir")
"""Endings of the names of calls that ask whether a file is there."""
LISTINGS = (".listdir", ".scandir", ".glob", ".iglob", ".rglob", ".iterdir")
"""The same of calls that list the files that are there."""


_FILES = ("os.path.", "pathlib.")
_JOIN = "os.path.join"
_PATHS = ("pathlib.Path", "pathlib.PurePath", _JOIN)


def file_test(event: Event) -> str:
    """A test whether a file is there, by the name of the file as far as texts and flags tell it; empty for others."""
    path = event.args[0] if event.args else event.receiver
    path = path if event.name.startswith(_FILES) else None
    name = _path_in_words(path) if path is not None else None
    return f"{event.name.rpartition('.')[2]}({name!r})" if name else ""


def _path_in_words(path: Value) -> str | None:
    """A path of texts and flags: ``<--out>/last.pt``; None where more is in it."""
    if isinstance(path, Const):
        return path.value if isinstance(path.value, str) else None
    if isinstance(path, FlagValue):
        return f"<{path.flag.spelled}>"
    parts: Sequence[Value] = path.parts if isinstance(path, Text) else ()
    between = "" if isinstance(path, Text) else "/"
    if isinstance(path, Obj) and path.event is not None and path.event.name in _PATHS:
        parts = path.event.args
    found = [_path_in_words(part) for part in parts]
    words = [word for word in found if word and word != between]
    if None in found or not words:
        return None
    # A path object stands for all that is joined to it as well, which nothing can be to a file.
    whole = not isinstance(path, Obj) or path.event is None or path.event.name == _JOIN or "." in words[-1].lstrip(".")
    return between.join(words) if whole else None


def writes(event: Event) -> bool:
    """Whether what a call is given goes to a file; what is printed goes to the terminal, unless a file is given."""
    printed = event.name == "builtins.print" and "file" not in event.kwargs
    return not printed and any(effect.writes for effect in event.effects)


def written(interp: Interpreter, event: Event, frame: Frame) -> None:
    """Tells that a call writes to a stream that is older than a loop in no promised order: one file for all items."""
    if not any(effect.writes == "stream" for effect in event.effects):
        return
    for made in _openings(event):
        orders: list[Value] = []
        for loop in reversed(interp.order_loops):
            inside = made.loops[: loop.depth + 1] == tuple(interp.loops[: loop.depth + 1])
            own = inside and (len(made.loops) > loop.depth or _in_worker(made, loop))
            if not own or _appends(made):
                orders.append(Unknown(order=loop.order, sources=loop.sources))
        if orders:  # (of loops inside of each other each)
            interp.event("sink", WRITTEN, frame, environment.place_of(event), tuple(orders))
            return


def ordered(value: Value, event: Event) -> Iterator[Value]:
    """What of a value has an order where a call writes it: of a mapping the lists and the sums that it holds.

    Its keys have one as well; that of a listing hardly changes on one machine, that in which workers finish does.
    """
    if not isinstance(value, Dict):
        yield value
        return
    if value.order == COMPLETION and not _sorts_keys(event):
        yield Unknown(order=value.order, sources=value.sources)
    for item in (*value.items.values(), value.element):
        yield from (leaf for _, leaf in alternatives(item) if isinstance(leaf, (Seq, Unknown)))


def _dumps(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``json.dumps(value)``: the text has the order of the lists in the value."""
    given = [one for value in event.args[:1] for _, leaf in alternatives(value) for one in ordered(leaf, event)]
    return Unknown(*taint(given))


def _is_file(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``os.path.isfile("./")``: what ends like a folder is no file, and no file has no name."""
    path = event.args[0] if len(event.args) == 1 else None
    named = path.value if isinstance(path, Const) and isinstance(path.value, str) else None
    return Const(False) if named is not None and (not named or named.endswith("/")) else None


def _pickled(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``pickle.dumps(thing)``: an object in bytes, which may be read again."""
    given = event.args[0] if event.args else None
    return Obj(f"{event.name}()", event) if isinstance(given, (Inst, Obj)) else _dumps(interp, event, frame)


def _sorts_keys(event: Event) -> bool:
    """Whether mappings are written by their keys: yaml.org's dumpers do so unless they are told not to."""
    given = event.kwargs.get("sort_keys")
    if given is None:
        return event.name.startswith("yaml.")
    return not (isinstance(given, Const) and not given.value)


def _openings(event: Event) -> list[Event]:
    """The calls that opened the streams which a call is a method of, or is given."""
    values = (event.receiver, *event.args, *event.kwargs.values())
    leaves = [leaf for value in values if value is not None for _, leaf in alternatives(value)]
    made = [leaf.event for leaf in leaves if isinstance(leaf, Obj) and leaf.event is not None]
    return [one for one in made if any(x.opens and for_writing(one, x) for x in one.effects)]


def _in_worker(opening: Event, loop: OrderLoop) -> bool:
    """Whether each of the workers that a call starts opens a file of its own: none before them all, nor one name."""
    started = [one for one in loop.sources if one.kind == "call"]
    named = opening.args and isinstance(opening.args[0], Const)
    return loop.order == COMPLETION and not named and any(one.location in opening.stack for one in started)


def _appends(opening: Event) -> bool:
    return any("a" in _mode(opening, effect) for effect in opening.effects)


def for_writing(opening: Event, effect: Effect) -> bool:
    """Whether a call that opens a file does so to write it; what takes no mode is for nothing else."""
    return effect.mode is None or not _WRITES.isdisjoint(_mode(opening, effect))


def _mode(opening: Event, effect: Effect) -> str:
    value = opening.argument(effect.mode) if effect.mode is not None else None
    known = [leaf.value for _, leaf in alternatives(value) if isinstance(leaf, Const)] if value is not None else []
    return "".join(text for text in known if isinstance(text, str) and len(text) <= _MAX_MODE)


def _sum(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """How many of some files are there is known by the test: ``sum(path.exists() for path in paths) == 2``."""
    value = event.args[0] if event.args else None
    held = (value.items or (value.element,)) if isinstance(value, Seq) else ()
    for one in held:
        for _, leaf in alternatives(one):
            if isinstance(leaf, Obj) and leaf.event is not None and leaf.event.name.endswith(FILE_TESTS):
                return Obj("builtins.int", leaf.event)
    return None


def _joinpath(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``folder.joinpath(name)``: as ``folder / name``."""
    leaves = alternatives(event.receiver)
    return choose([(c, further(one, event.args) if isinstance(one, Obj) else one) for c, one in leaves])


TRANSFER: dict[str, Transfer] = dict.fromkeys(
    ("json.dumps", "ujson.dumps", "orjson.dumps", "yaml.dump", "yaml.safe_dump"), _dumps
) | {"os.path.isfile": _is_file, "pickle.dumps": _pickled, "builtins.sum": _sum, "pathlib.Path.joinpath": _joinpath}
