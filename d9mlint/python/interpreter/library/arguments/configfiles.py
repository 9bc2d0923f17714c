"""Settings that a program reads from a JSON or YAML file beside it: flags whose defaults stand in that file."""

from __future__ import annotations

import itertools
import posixpath
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from d9mlint.model import Location
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import Const, Dict, FlagValue, Obj, Seq, Text, Unknown, Value
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import environment
from d9mlint.python.interpreter.library.arguments.flags import flag_of
from d9mlint.python.source import settingsfiles
from d9mlint.python.source.filenames import folder
from d9mlint.python.source.reading import CannotRead

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_READ, _OF_PATHS = ".read", "pathlib."
_BACK = 50
"""Events among which a file is looked for that was opened before it is read."""
_PATHS = ("os.path.join", "pathlib.Path", "os.path.abspath", "os.path.expanduser", "builtins.str")
_MOST_LEVELS, _MOST = 6, 200
_MOST_ITEMS = 16
"""Parts in a list, each of which makes something of its own; numbers in lists are none."""
_SETTINGS = (str, int, float, bool, type(None))


def _load(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``json.load(file)``, ``yaml.safe_load(file)``, ``json.loads(file.read())``; None where the file is not known."""
    path = _path(interp, environment.first(event))
    name = "" if path is None else _words(path)
    data = _data(interp, frame, name) if name and not name.startswith("/") else None
    found = None if data is None else settingsfiles.read(name, data)
    if found is None:
        return None
    others = not isinstance(path, Const)  # which may have more
    return _settings(found, f"{{}} in {posixpath.basename(name)}", event.location, others, itertools.count(1))


def _data(interp: Interpreter, frame: Frame, name: str) -> bytes | None:
    """What is in a file beside the module that reads it, or below one of the folders that a program starts in."""
    folders = dict.fromkeys((folder(frame.module.path), *interp.roots))
    paths = dict.fromkeys(posixpath.normpath(posixpath.join(at, name)) for at in folders)
    try:
        return next((data for path in paths if (data := interp.project.data(path)) is not None), None)
    except CannotRead:
        return None


def _settings(
    held: dict[str, Any], spelling: str, location: Location, open_: bool, count: Iterator[int], prefix: str = "",
) -> Dict:  # fmt: skip
    """What a file holds: each constant the default of a setting, under its dotted name."""
    made = Dict({}, open_)
    for name, value in held.items():
        if next(count) > _MOST:
            made.open = True
        else:
            made.items[name] = _setting(value, spelling, location, open_, count, f"{prefix}{name}")
    return made


def _setting(value: Any, spelling: str, location: Location, open_: bool, count: Iterator[int], dotted: str) -> Value:
    if isinstance(value, dict) and dotted.count(".") < _MOST_LEVELS and all(isinstance(one, str) for one in value):
        return _settings(value, spelling, location, open_, count, f"{dotted}.")
    if isinstance(value, _SETTINGS):
        return FlagValue(flag_of(dotted, value, location, False, spelling.format(dotted)))
    if isinstance(value, list) and len(value) <= _MOST_ITEMS and value and all(isinstance(one, dict) for one in value):
        parts = enumerate(value)
        return Seq("list", [_setting(one, spelling, location, open_, count, f"{dotted}[{at}]") for at, one in parts])
    return Seq("list", None) if isinstance(value, list) else Unknown()


def _path(interp: Interpreter, stream: Value) -> Value | None:
    """The path of the file that a stream reads, or whose whole text this is; it was opened just before."""
    for event in reversed(interp.story.events[-_BACK:]):
        if event.kind != "call" or event.result is not stream:
            continue
        if event.name.endswith(_READ) and event.receiver is not None:
            return _path(interp, event.receiver)
        if any(effect.opens for effect in event.effects):
            return event.args[0] if event.args and not event.name.startswith(_OF_PATHS) else event.receiver
    return None


def _words(path: Value) -> str:
    """A path all of whose parts are known, flags as they are by default; else empty."""
    if isinstance(path, (Const, FlagValue)):
        value = path.value if isinstance(path, Const) else path.flag.default
        return value if isinstance(value, str) else ""
    if isinstance(path, Text):
        found = [_words(part) for part in path.parts]
        between = "" if not path.path or "/" in found else "/"
        return between.join(found) if all(found) else ""
    if isinstance(path, Obj) and path.event is not None and path.event.name in _PATHS:
        parts = [_words(part) for part in (*path.event.args, *getattr(path, "parts", ()))]
        return posixpath.join(*parts) if parts and all(parts) else ""
    return ""


TRANSFER: dict[str, Transfer] = dict.fromkeys(
    ("json.load", "json.loads", "ujson.load", "yaml.load", "yaml.safe_load", "yaml.full_load"), _load
)
