"""Files of a program: which calls are given the same one, and what opens or writes it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from d9mlint.model import Argument
from d9mlint.python.domain.choices import same
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, FlagValue, Joined, Obj, Ref, Setting, Text, Value, alternatives
from d9mlint.python.interpreter.library.streams import for_writing
from d9mlint.python.judging.drafts import value_text
from d9mlint.python.judging.paths import path_of

READS = re.compile(
    r"(numpy|torch|joblib|pickle)\.load|numpy\.(loadtxt|genfromtxt|fromfile|memmap)|pandas\.read_\w+|h5py\.File|"
    r"numpy\.lib\.format\.open_memmap|(builtins|io|codecs|gzip|bz2|lzma|smart_open|fsspec)\.open|tensorflow\.io\.gfile\.GFile|"
    r"pathlib\.Path\.(open|read_text|read_bytes)|(linecache\.getlines?|fileinput\.input|datasets\.load_dataset)"
)
EMPTIES = re.compile(r"os\.(remove|unlink|rename|replace|truncate)|shutil\.(rmtree|move)|.*\.(unlink|rename|truncate)")
"""Calls that take files away, or what is in them."""
_JOINS = ("os.path.join", "pathlib.Path")
_SPELLED = tuple(
    f"os.path.{name}" for name in ("abspath", "basename", "dirname", "expanduser", "expandvars", "normpath", "realpath")
)
"""Functions that spell a path in another way, or give a part of it: the same for the same path."""
_OF_PATHS = ("os.", "pathlib.")
"""Modules whose functions give the same path for the same arguments, as far as they give one."""
_MOST_BASES = 40
_TABLES = (".to_csv", ".to_json")
_MODE = Argument(None, "mode")
"""Where tables are told how to be written."""
_LOGGER, _APPEND = "keras.callbacks.CSVLogger", Argument(2, "append")
"""A callback that writes a row for each epoch (keras/src/callbacks/csv_logger.py), and what has it go on with one."""


def opens(event: Event) -> bool:
    """Whether a call opens or writes a file."""
    return any(x.writes or (x.opens and for_writing(event, x)) for x in event.effects)


def adds(event: Event) -> bool:
    """Whether a call opens a file to write at its end."""
    asked = [x.mode for x in event.effects if x.opens and x.mode is not None]
    asked += [_MODE] if event.name.endswith(_TABLES) else []
    modes = (event.argument(one) for one in asked)
    texts = (mode.value for mode in modes if isinstance(mode, Const))
    return goes_on_with_table(event) or any(isinstance(text, str) and "a" in text for text in texts)


def goes_on_with_table(event: Event) -> bool:
    """Whether a callback adds the rows of this run to a table that is there."""
    append = event.argument(_APPEND) if event.name == _LOGGER else None
    return isinstance(append, Const) and append.value is True


def target_of(event: Event) -> Value | None:
    """Where a call writes: ``joblib.dump(value, path)``, ``numpy.save(path, value)``, ``open(path, "w")``."""
    if event.name.endswith((".dump", "torch.save")):
        return event.args[1] if len(event.args) > 1 else None
    return path_of(event)


def given(event: Event) -> list[Value]:
    """What a call is given that may be a path, or its beginning."""
    return [*event.args[:2], *event.kwargs.values(), *([event.receiver] if event.receiver is not None else [])]


def same_path(one: Value, other: Value) -> bool:
    """Whether two paths are surely the same, as far as they are told."""
    if one is other or same(one, other):
        return not isinstance(one, Const) or isinstance(one.value, str)
    if isinstance(one, Text) and isinstance(other, Text):
        return len(one.parts) == len(other.parts) and all(map(same_path, one.parts, other.parts))
    if isinstance(one, Obj) and isinstance(other, Obj) and one.event is not None and other.event is not None:
        alike = one.event.name == other.event.name and one.event.name in (*_JOINS, *_SPELLED)
        parts, theirs = (*one.event.args, *_joined(one)), (*other.event.args, *_joined(other))
        return alike and len(parts) == len(theirs) > 0 and all(map(same_path, parts, theirs))
    return False


def _joined(path: Obj) -> tuple[Value, ...]:
    """What was joined to a path."""
    return path.parts if isinstance(path, Joined) else ()


def varies(path: Value, loop: int, calls: Sequence[Event]) -> bool:
    """Whether a path may be another one in each turn of a loop: something in it is not known, or is made there."""
    todo, seen = [path], set[int]()
    while todo:
        for _, leaf in alternatives(todo.pop()):
            if id(leaf) in seen or isinstance(leaf, (Const, FlagValue, Setting)):
                continue
            seen.add(id(leaf))
            if isinstance(leaf, Text):
                todo += leaf.parts
            elif isinstance(leaf, Obj) and leaf.event is not None:
                if loop not in leaf.event.loops:
                    todo += _joined(leaf)
                elif leaf.event.name.startswith(_OF_PATHS) and is_alike(leaf.event, loop, calls):
                    todo += (*given(leaf.event), *leaf.event.args[2:], *_joined(leaf))
                else:
                    return True
            elif not isinstance(leaf, Ref) or leaf.name.startswith("?"):  # (an attribute of what is not known)
                return True
    return False


def is_alike(event: Event, loop: int, calls: Sequence[Event]) -> bool:
    """Whether a call is given the same paths in all turns of a loop that are told."""
    turns = (e for e in calls if e.location == event.location and e.name == event.name and loop in e.loops)
    return all(len(e.args) == len(event.args) and all(map(same_path, given(e), given(event))) for e in turns)


def is_numbered(path: Value, tests: Sequence[Event]) -> bool:
    """Whether a path begins with a folder of this run: a loop has looked for a name that is not there yet."""
    tried = {id(leaf) for test in tests if test.loops for one in given(test)[:1] for _, leaf in alternatives(one)}
    return bool(tried) and any(id(one) in tried for one in _bases(path))


def _bases(path: Value) -> Iterator[Value]:
    """What a path may be, and the paths that it is made from."""
    todo, seen = [path], set[int]()
    while todo and len(seen) < _MOST_BASES:
        for _, leaf in alternatives(todo.pop()):
            if id(leaf) in seen:
                continue
            seen.add(id(leaf))
            yield leaf
            if isinstance(leaf, Text):
                todo += leaf.parts[:1]
            elif isinstance(leaf, Obj) and leaf.event is not None and leaf.event.name in _JOINS:
                todo += leaf.event.args[:1]


def told(path: Value) -> str:
    """A path in words."""
    leaf = next((leaf for _, leaf in alternatives(path)), path)
    known = isinstance(leaf, FlagValue) or (isinstance(leaf, Const) and isinstance(leaf.value, str))
    return f"`{value_text(leaf)}`" if known else "a file"
