"""Config files of which a run is given one: the file that a path names, else all of the project that fit it.

What all of them say of a key holds for a run with any of them; of what they say differently nothing is known.
"""

from __future__ import annotations

import itertools
import posixpath
import re
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from d9mlint.model import Location
from d9mlint.python.domain.conditions import UNKNOWN_DEFAULT, Flag, by_default
from d9mlint.python.domain.events import Frame
from d9mlint.python.domain.values import Const, FlagValue, Joined, Obj, Phi, Ref, Text, Value, alternatives
from d9mlint.python.source import settingsfiles
from d9mlint.python.source.filenames import folder
from d9mlint.python.source.reading import CannotRead

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

ANY_FILE = "the config file"
"""How a file is called in words of which there are several."""
_PATHS = ("os.path.join", "pathlib.Path", "os.path.expanduser")
_FOLDER, _OBJECTS = "os.path.dirname", "pathlib."
_SAME = (
    "os.path.abspath", "os.path.realpath", "os.path.normpath", "builtins.str", "os.fspath", "os.getcwd",
    "pathlib.Path.cwd", "pathlib.Path.resolve", "pathlib.Path.absolute", "pathlib.Path.as_posix",
)  # fmt: skip
"""Calls that give the path that they are given or called on in other words, or the working directory."""
_PARENTS = re.compile(r"pathlib\.Path((?:\.parent)+)")
_MOST_FILES, _MOST_LEAVES, _MOST_LEVELS = 300, 2_000, 8
_READ_OF_KEYS = 0.75
"""Of the keys at the top of a file those that a program has to have a word for: it is a file of its settings then."""
Leaves: TypeAlias = Mapping[tuple[str, ...], Any]
"""What a file says, by the way through its keys."""


class Stated(NamedTuple):
    """What the files say of which a run is given one, and how that one is called in words."""

    files: tuple[Leaves, ...]
    label: str

    def of(self, way: tuple[str, ...], absent: Any) -> list[Any]:
        """The different values that they give a key, in order; ``absent`` for those that do not have it."""
        said = (file.get(way, absent) for file in self.files)
        return list({repr(value): value for value in said}.values())

    def names(self, way: tuple[str, ...]) -> bool:
        """Whether any of them has the key."""
        return any(way in file for file in self.files)


class Differing(NamedTuple):
    """Stands for what files say differently; ``optional`` where some do not have the key at all."""

    values: tuple[Any, ...]
    optional: bool = False


def stated(
    interp: Interpreter, frame: Frame, path: Value | None, fits: Callable[[Mapping[str, Any]], bool]
) -> Stated | None:  # fmt: skip
    """What the files say that may lie at a path; of several that are possible those that fit. None for no file."""
    path = _left_alone(path)
    name = _words(path)
    data = _data(interp, frame, name) if name and not name.startswith("/") else None
    found = None if data is None else settingsfiles.read(name, data)
    if found is not None:
        leaves = _leaves(found)
        return None if leaves is None else Stated((leaves,), posixpath.basename(name))
    if not _is_given(path):
        return None
    wanted = re.compile(rf"(?:^|/){_pattern(path)}$", re.DOTALL)
    files = (_file(interp, each) for each in interp.knowledge.settings_files if wanted.search(each))
    fitting = (leaves for found in files if found and fits(found) and (leaves := _leaves(found)) is not None)
    several = tuple(itertools.islice(fitting, _MOST_FILES))
    return Stated(several, ANY_FILE) if several else None


def agreed(said: Stated) -> tuple[dict[str, Any], bool]:
    """What all files have, as one of them, and whether that is all that any has; `Differing` where they differ.

    Of what only some have that at the top, which a program can ask for by a default of its own.
    """
    first, *others = said.files
    common = {way: value for way, value in first.items() if all(way in other for other in others)}
    found: dict[str, Any] = {}
    for way in common:
        inner = found
        for name in way[:-1]:
            inner = inner.setdefault(name, {})
        values = said.of(way, None)
        inner[way[-1]] = values[0] if len(values) == 1 else Differing(tuple(values))
    inside = {way[0] for file in said.files for way in file if len(way) > 1}
    for way in dict.fromkeys(way for file in said.files for way in file):
        if len(way) == 1 and way not in common and way[0] not in inside:
            found[way[0]] = Differing(tuple(said.of(way, None)), optional=True)
    return found, all(len(file) == len(common) for file in said.files)


def differing(name: str, values: tuple[Any, ...], location: Location, spelled: str) -> Flag:
    """A setting to which the files give several values: it has none by default, and no others."""
    kind = "bool" if all(isinstance(value, bool) for value in values) else "value"
    return Flag(name, spelled, UNKNOWN_DEFAULT, kind, location, None not in values, values, values)


def spoken_of(interp: Interpreter) -> Callable[[Mapping[str, Any]], bool]:
    """Whether the modules that are loaded by now have words for most keys at the top of a file."""
    words: set[str] = set()
    for path in interp.modules:
        try:
            facts = interp.project.facts(path)
        except CannotRead:
            continue
        words |= interp.project.words(facts) if facts is not None else set()
    return lambda found: len(words.intersection(found)) >= _READ_OF_KEYS * len(found)


def _file(interp: Interpreter, path: str) -> dict[str, Any] | None:
    data = interp.project.peek(path)
    return None if data is None else settingsfiles.read(path, data)


def _data(interp: Interpreter, frame: Frame, name: str) -> bytes | None:
    """What is in a file beside the module that reads it, or below one of the folders that a program starts in."""
    folders = dict.fromkeys((folder(frame.module.path), *interp.roots, ""))
    paths = dict.fromkeys(posixpath.normpath(posixpath.join(at, name)) for at in folders)
    try:
        return next((data for path in paths if (data := interp.project.data(path)) is not None), None)
    except CannotRead:
        return None


def _leaves(found: Mapping[str, Any]) -> Leaves | None:
    """What a file says; None where it is too much for settings."""
    leaves = dict(itertools.islice(_each(found, ()), _MOST_LEAVES + 1))
    return leaves if len(leaves) <= _MOST_LEAVES else None


def _each(found: Mapping[str, Any], way: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name, value in found.items():
        inside = isinstance(value, dict) and value and len(way) < _MOST_LEVELS
        if inside and all(isinstance(key, str) for key in value):
            yield from _each(value, (*way, name))
        else:
            yield (*way, name), value


# -- paths ---------------------------------------------------------------------------------------------------------


def _joined(parts: list[str]) -> str:
    return posixpath.join(*parts)


def _left_alone(path: Value | None) -> Value | None:
    """Of several paths the one that a run without any flags takes, which may be called by several names."""
    leaves = [(cond, leaf) for cond, leaf in alternatives(path) if by_default(cond) is not False]
    certain = next((leaf for cond, leaf in leaves if by_default(cond) is True), None)
    if certain is not None or len(leaves) < 2:
        return certain or (leaves[0][1] if leaves else path)
    names = {posixpath.normpath(name) if (name := _words(leaf)) else "" for _, leaf in leaves}
    return leaves[0][1] if len(names) == 1 and "" not in names else path


def _words(path: Value | None) -> str:
    """A path all of whose parts are known, flags as they are by default; else empty."""
    path = _left_alone(path) if isinstance(path, Phi) else path
    if isinstance(path, (Const, FlagValue)):
        value = path.value if isinstance(path, Const) else path.flag.default
        return value if isinstance(value, str) else ""
    inner, levels = _above(path)
    if levels is not None:
        name = _words(inner)
        for _ in range(levels if name else 0):
            name = posixpath.dirname(name) or "."
        return name
    found = [_words(part) for part in _parts(path)]
    return _together(path, found) if found and all(found) else ""


def _above(path: Value | None) -> tuple[Value | None, int | None]:
    """A path of which a value is a folder above, or the same in other words, and how many levels above it is."""
    if isinstance(path, Ref) and path.receiver is not None and (found := _PARENTS.fullmatch(path.name)):
        return path.receiver, found[1].count(".parent")
    made = path.event if isinstance(path, Obj) and not isinstance(path, Joined) else None
    if made is None or made.name not in (*_SAME, _FOLDER):
        return None, None
    first = made.receiver if isinstance(made.receiver, (Obj, Text)) else made.args[0] if made.args else Const(".")
    return first, int(made.name == _FOLDER)


def _pattern(path: Value | None) -> str:
    """A regular expression for what a path may be whose flags are given."""
    if isinstance(path, Const):
        return re.escape(posixpath.normpath(path.value)) if isinstance(path.value, str) and path.value else ""
    found = [_pattern(part) for part in _parts(path)]
    return (_together(path, found, "/".join) if isinstance(path, Text) or found else "") or ".*"


def _together(path: Value | None, found: list[str], join: Callable[[list[str]], str] = _joined) -> str:
    """What the parts of a path are together: of a text as they stand, of a path with slashes between them."""
    if isinstance(path, Text):
        return ("" if not path.path or "/" in found else "/").join(found)
    texts = isinstance(path, Joined) and not path.type.startswith(_OBJECTS)  # ``os.path.join(folder, name) + ".yaml"``
    return "".join(found) if texts else join(found)


def _parts(path: Value | None) -> tuple[Value, ...]:
    """What a path is joined from; nothing for what is none."""
    if isinstance(path, Text):
        return path.parts
    if isinstance(path, Joined):
        return (Obj(path.type, path.event), *path.parts)
    if isinstance(path, Obj) and path.event is not None and path.event.name in _PATHS:
        return path.event.args
    return ()


def _is_given(path: Value | None) -> bool:
    """Whether who starts the program says which file it is."""
    leaves = [leaf for _, leaf in alternatives(path)]
    return any(isinstance(leaf, FlagValue) or any(map(_is_given, _parts(leaf))) for leaf in leaves)
