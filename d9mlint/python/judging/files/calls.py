"""What calls do to files, and where: those that open, read, write, test, list, move and remove them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from d9mlint.model import Argument
from d9mlint.python.domain.choices import choose
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, FlagValue, Joined, Obj, Phi, Ref, Setting, Text, Value, alternatives
from d9mlint.python.interpreter.library.streams import for_writing
from d9mlint.python.judging.drafts import value_text
from d9mlint.python.judging.files.places import begins, places, same_place

READS = re.compile(
    r"(numpy|torch|joblib|pickle)\.load|numpy\.(loadtxt|genfromtxt|fromfile|memmap)|pandas\.read_\w+|h5py\.File|"
    r"numpy\.lib\.format\.open_memmap|(builtins|io|codecs|gzip|bz2|lzma|smart_open|fsspec)\.open|tensorflow\.io\.gfile\.GFile|"
    r"pathlib\.Path\.(open|read_text|read_bytes)|(linecache\.getlines?|fileinput\.input|datasets\.load_dataset)"
)
EMPTIES = re.compile(r"os\.(remove|unlink|rename|replace|truncate)|shutil\.(rmtree|move)|.*\.(unlink|rename|truncate)")
"""Calls that take files away, or what is in them."""
MOVES = (
    "os.replace", "os.rename", "os.symlink", "os.link", "shutil.move", "shutil.copy", "shutil.copy2", "shutil.copyfile",
)  # fmt: skip
"""Calls that put a file into another place, or give it another name; the first argument is where it was."""
_OF_METHOD = ("pathlib.", "?.")
_OF_PATHS = ("os.", "pathlib.")
"""Modules whose functions give the same path for the same arguments, as far as they give one."""
_TABLES = (".to_csv", ".to_json")
_MODE = Argument(None, "mode")
"""Where tables are told how to be written."""
_LOGGER, _APPEND = "keras.callbacks.CSVLogger", Argument(2, "append")
"""A callback that writes a row for each epoch (keras/src/callbacks/csv_logger.py), and what has it go on with one."""
_SECOND = (".dump", "torch.save")
"""How the names of calls end that are given first what they write, and then where."""


# -- where a call does something ---------------------------------------------------------------------------------------


def path_of(event: Event) -> Value | None:
    """The file that a call opens, reads or writes: of a method of a path that itself, else the first argument."""
    if event.receiver is not None and event.name.startswith("pathlib."):
        return event.receiver
    return event.args[0] if event.args else None


def tested_file(test: Event) -> Value | None:
    """The file that a call asks for, whether it is there: ``os.path.exists(path)``, ``path.exists()``."""
    return test.args[0] if test.args else test.receiver


def listed_by(listing: Event) -> Value | None:
    """The folder, or the pattern of names, that a call lists; of a method of a path that itself."""
    if listing.name.startswith(_OF_METHOD):
        return listing.receiver
    return listing.args[0] if listing.args else listing.receiver


def target_of(event: Event) -> Value | None:
    """Where a call writes: ``joblib.dump(value, path)``, ``numpy.save(path, value)``, ``open(path, "w")``."""
    if event.name.endswith(_SECOND):
        return event.args[1] if len(event.args) > 1 else None
    return path_of(event)


def given(event: Event) -> list[Value]:
    """What a call is given that may be a path, or its beginning."""
    return [*event.args[:2], *event.kwargs.values(), *([event.receiver] if event.receiver is not None else [])]


def file_of(value: Value, makers: Mapping[int, Event] = {}) -> Value:
    """The file that a stream writes, with ``makers`` (``results(program)``) also one that it reads; else the value."""
    if isinstance(value, Phi):  # `open(file, "rb") if isinstance(file, str) else file`
        return choose([(cond, file_of(leaf, makers)) for cond, leaf in alternatives(value)])
    made = value.event if isinstance(value, Obj) else makers.get(id(value))
    path = path_of(made) if made is not None and any(effect.opens for effect in made.effects) else None
    return value if path is None else file_of(path)


def told(path: Value) -> str:
    """A path in words."""
    leaf = next((leaf for _, leaf in alternatives(path)), path)
    known = isinstance(leaf, FlagValue) or (isinstance(leaf, Const) and isinstance(leaf.value, str))
    return f"`{value_text(leaf)}`" if known else "a file"


# -- what it does --------------------------------------------------------------------------------------------------


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


# -- loops ---------------------------------------------------------------------------------------------------------


def varies(path: Value, loop: int, calls: Sequence[Event]) -> bool:
    """Whether a path may be another one in each turn of a loop: something in it is not known, or is made there."""
    todo, seen = [path], set[int]()
    while todo:
        for _, leaf in alternatives(todo.pop()):
            if id(leaf) in seen or isinstance(leaf, (Const, FlagValue, Setting)):
                continue
            seen.add(id(leaf))
            joined = leaf.parts if isinstance(leaf, (Text, Joined)) else ()
            if isinstance(leaf, Obj) and leaf.event is not None and loop in leaf.event.loops:
                if not leaf.event.name.startswith(_OF_PATHS) or not is_alike(leaf.event, loop, calls):
                    return True
                todo += (*given(leaf.event), *leaf.event.args[2:])
            elif not joined and not isinstance(leaf, Obj) and (not isinstance(leaf, Ref) or leaf.name[0] == "?"):
                return True  # (an attribute of what is not known may be any)
            todo += joined
    return False


def is_alike(event: Event, loop: int, calls: Sequence[Event]) -> bool:
    """Whether a call is given the same paths in all turns of a loop that are told."""
    turns = (e for e in calls if e.location == event.location and e.name == event.name and loop in e.loops)
    return all(len(e.args) == len(event.args) and all(map(same_place, given(e), given(event))) for e in turns)


def is_numbered(path: Value, tests: Sequence[Event]) -> bool:
    """Whether a path begins with a folder of this run: a loop has looked for a name that is not there yet."""
    looked = [one for test in tests if test.loops for value in given(test)[:1] for _, one in places(value)]
    return any(begins(place, one) for _, place in places(path) for one in looked if one.is_open)
