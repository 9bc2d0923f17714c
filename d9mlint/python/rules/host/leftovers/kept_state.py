"""State that a program takes up where an earlier run has left it, and writes anew: buffers, tables, results."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import Cond, both, by_default, has_raised, negate, opaque
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.testkeys import asked_by, asks
from d9mlint.python.domain.values import Dict, Obj, Ref, Seq, Unknown, Value, alternatives
from d9mlint.python.interpreter.library.streams import FILE_TESTS
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft, short_name
from d9mlint.python.judging.files.calls import EMPTIES, adds, is_numbered, opens, path_of, target_of, told
from d9mlint.python.judging.files.kept import besides_files
from d9mlint.python.judging.files.places import OF_ONE_RUN, same_place
from d9mlint.python.judging.wording import describe

_LOADS = re.compile(
    r"(json|ujson|orjson|pickle|cPickle|dill|cloudpickle|yaml|joblib|marshal)\.(load|safe_load|full_load)|(numpy|torch)\.load|"
    r"pandas\.read_\w+"
)
_TRAINS = (".partial_fit",)
_GROWS = (".append", ".extend", ".appendleft", ".insert", ".push", *_TRAINS)
_JOINS = ("pandas.concat", "numpy.append", "numpy.concatenate", "numpy.vstack", "numpy.hstack")
_ROWS = "pandas.DataFrame.append"
_TABLES = ("pandas.DataFrame", "numpy.array", "numpy.asarray", "builtins.list")
"""Calls that make something else of the rows that they are given."""
_ARRAYS = re.compile(r"(numpy|torch)\.(zeros|ones|empty|full)(_like)?")
"""Calls that make an array to be filled."""
_HARMLESS = re.compile(
    r"builtins\.(len|print|isinstance|type|str|list)|.*\.(info|debug|dumps?|save|to_csv|close|flush)"
)
"""Calls that may be given what is kept without anything else depending on it."""
_KEYS = frozenset({"credentials", "creds", "auth"})
_LETS_IN = re.compile(r"(.*\.)?(refresh|authorize|AuthorizedSession)")
"""Parameters, and calls, that take what somebody is let in with (google-api-python-client, google-auth, gspread)."""
_ASKS = re.compile(r"resum|restor|continu|restart|append|update", re.IGNORECASE)
"""Words of a setting with which somebody asks to go on."""
_NOT_ASKED = re.compile(r"\S+ is (not given|false)|--[\w-]+ is true \(the default\)")
_TAKES_UP = (
    "takes up what an earlier run has left in {}, and the program writes it anew: the same command a second time {}"
)
_REMEDY = (
    "begin anew in each run, in a folder of its own, and take up what is there only where a flag such as `--resume` "
    "asks for it"
)


class _Kept(NamedTuple):
    """What is read from a file that is there, and written to it again."""

    read: Event
    """The call that gives the contents."""
    write: Event
    path: Value
    others: tuple[Value, ...]
    """What it is where no file is there."""
    lists: frozenset[int]
    """The ``id`` of the lists that the contents were added to."""


def carried(
    program: Program, rule: Rule, calls: Sequence[Event], files: Sequence[Event], tests: Sequence[Event]
) -> Iterator[Draft]:  # fmt: skip
    """Where a file that is there is read, changed and written again, without anybody asking for it."""
    told_of: set[object] = set()
    for kept in _kept(calls, files):
        grows = _grows(kept, calls)
        uses = _used(kept, calls, grows)
        trains = grows is not None and grows.name.endswith(_TRAINS)
        state = trains or (grows is None and (_is_filled(kept, calls) or (_is_state(kept) and uses is not None)))
        if (grows is None and not state) or not _unasked(kept) or kept.read.location in told_of:
            continue
        if is_numbered(kept.path, [test for test in tests if not _lets_read(test, kept.read)]):
            continue
        told_of.add(kept.read.location)
        then = "begins with it" if state else "adds to it"
        related = [Related(kept.write.location, "is written again here")]
        use = grows if trains else uses
        related += [Related(use.location, "is used here")] if use is not None else []
        here = kept.read
        yield draft(
            program, rule, here.location, cond=besides_files(here.guards), related=related, remedy=_REMEDY,
            severity="" if state or uses is not None else "info", name=short_name(here),
            what=_TAKES_UP.format(told(kept.path), then),
        )  # fmt: skip


def _kept(calls: Sequence[Event], files: Sequence[Event]) -> Iterator[_Kept]:
    """The pairs of a load of what is there and a call that writes what was loaded to the same file."""
    loads = [e for e in calls if _LOADS.fullmatch(e.name)]
    openings = {id(e.result): e for e in files if e.result is not None and any(x.opens for x in e.effects)}
    writes = [e for e in files if any(x.writes for x in e.effects)] if loads else []
    grow = [e for e in calls if e.name.endswith(_GROWS) and isinstance(e.receiver, Seq)] if writes else []
    opened_by = [(write, _opened(write, openings)) for write in writes]
    to = [(write, target, place) for write, target in opened_by if (place := target_of(target)) is not None]
    for load in loads:
        opened = _opened(load, openings)
        path = path_of(opened)
        if path is None or not OF_ONE_RUN.isdisjoint(taint([path])[0]):
            continue
        for write, target, place in to:
            if write.index < load.index or not same_place(place, path) or adds(target) or not write.meets(load):
                continue
            if not _only_if_there(load, write) and not _made_if_absent(path, load, files):
                continue
            values = [v for v in (*write.args, write.receiver) if v is not None and v is not place]
            leaves = [leaf for value in values for leaf in _leaves(value)]
            lists = _filled(load, grow)
            if any(_is_loaded(leaf, load) or id(leaf) in lists for leaf in leaves):
                others = tuple(one for one in leaves if one is not load.result and one is not target.result)
                yield _Kept(load, write, path, others, lists)
                break


def _filled(load: Event, grow: Sequence[Event]) -> frozenset[int]:
    """The lists that what was loaded is added to: ``rows.extend(pd.read_csv("log.csv").values)``."""
    adding = (e for e in grow if e.index > load.index)
    return frozenset(
        id(e.receiver) for e in adding if any(_is_loaded(leaf, load) for value in e.args for leaf in _leaves(value))
    )


def _is_loaded(leaf: Value, load: Event) -> bool:
    """Whether a value is what was loaded, or an attribute of it."""
    whole = leaf.receiver if isinstance(leaf, Ref) else leaf
    return whole is not None and (whole is load.result or (isinstance(whole, Obj) and whole.event is load))


def _leaves(value: Value, joined: bool = True) -> Iterator[Value]:
    """What a value may be, what is in it where that is a list or a dict, and what it is joined from."""
    for _, leaf in alternatives(value):
        yield leaf
        made = leaf.event if isinstance(leaf, Obj) else None
        if isinstance(leaf, Dict):
            yield from (one for item in leaf.items.values() for _, one in alternatives(item))
        elif isinstance(leaf, Seq) and leaf.items is not None:
            yield from (one for item in leaf.items for _, one in alternatives(item))
        elif joined and made is not None and (made.name in _JOINS or made.name == _ROWS):
            parts = (*made.args, *((made.receiver,) if made.name == _ROWS and made.receiver is not None else ()))
            yield from (one for part in parts for one in _leaves(part, False))
        elif joined and made is not None and made.name.startswith(_TABLES):
            yield from (one for part in (*made.args[:1], made.receiver) if part is not None for one in _leaves(part))


def _opened(event: Event, openings: dict[int, Event]) -> Event:
    """The call that opened the stream which a call reads or writes; itself where it is given a path."""
    for value in (*event.args, *event.kwargs.values()):
        for _, leaf in alternatives(value):
            if id(leaf) in openings:
                return openings[id(leaf)]
    return event


def _only_if_there(load: Event, write: Event) -> bool:
    """Whether the program goes on, and writes, also where no file is there to be loaded."""
    return load.tried > write.tried or any(map(_asks_for_file, load.guards))


def _made_if_absent(path: Value, load: Event, files: Sequence[Event]) -> bool:
    """Whether the program makes the file, before it is loaded, only where none is there or none can be read."""
    made = (e for e in files if e.index < load.index and opens(e) and e.func is load.func)
    return any(
        same_place(place, path) and any(has_raised(one) or _asks_for_file(negate(one)) for one in e.guards)
        for e in made
        if (place := path_of(e)) is not None
    )


def _asks_for_file(cond: Cond) -> bool:
    return asks(opaque(cond), FILE_TESTS)


def _grows(kept: _Kept, calls: Sequence[Event]) -> Event | None:
    """The call that adds to what was loaded before it is written."""
    last = kept.write.index
    between = [e for e in calls if kept.read.index < e.index < last]
    for event in between:
        if event.name.endswith(_GROWS) and (_is_of(event.receiver, kept) or _is_part(event, kept)):
            return event
        if event.name in _JOINS and any(_is_of(value, kept) for value in event.args):
            return event
    return None


def _is_of(value: Value | None, kept: _Kept) -> bool:
    leaves = () if value is None else _leaves(value)
    return any(_is_loaded(leaf, kept.read) or id(leaf) in kept.lists for leaf in leaves)


def _is_part(event: Event, kept: _Kept) -> bool:
    """Whether a method is perhaps one of a part of what was read, where the file is: ``meta["steps"].append``."""
    if not (event.name.startswith("?.") and isinstance(event.receiver, Unknown) and event.func is kept.read.func):
        return False
    there = any(_asks_for_file(one) or has_raised(negate(one)) for one in event.guards)
    always = not kept.read.tried and not any(map(_asks_for_file, kept.read.guards))
    return (there or always) and set(kept.read.guards) <= set(event.guards)


def _used(kept: _Kept, calls: Sequence[Event], grows: Event | None) -> Event | None:
    """A call that looks at what was loaded, other than to add to it, to write it, to tell of it or to be let in."""
    for event in calls:
        if event.index <= kept.read.index or event is grows or event is kept.write or event.name.endswith(_GROWS):
            continue
        if event.name in _JOINS or _HARMLESS.fullmatch(event.name) or _LETS_IN.fullmatch(event.name):
            continue
        named = [value for name, value in event.kwargs.items() if name not in _KEYS]
        given = [*event.args, *named, event.receiver]
        if any(_is_of(value, kept) for value in given) or _is_part(event, kept):
            return event
    return None


def _is_state(kept: _Kept) -> bool:
    """Whether what begins anew without the file is something that a program trains or fills in a loop, and no dict."""
    return any(isinstance(leaf, Obj) and leaf.event is not None for leaf in kept.others) and not any(
        isinstance(leaf, Dict) for leaf in kept.others
    )


def _lets_read(test: Event, read: Event) -> bool:
    """Whether what is found there is read: a test that looks for a free name reads nothing."""
    known = (opaque(guard) for guard in read.guards)
    return any(test.tick in asked_by(one) for one in known if one is not None)


def _is_filled(kept: _Kept, calls: Sequence[Event]) -> bool:
    """Whether what begins without the file is an array that is filled in place, in a folder that nobody empties.

    Nobody would write an array again that is as it was loaded, or as it was made.
    """
    others = [one for one in kept.others if not isinstance(one, Ref)]  # (`numpy` of `numpy.save` is one)
    made = [one.event for one in others if isinstance(one, Obj) and one.event is not None]
    filled = bool(made) and len(made) == len(others) and all(_ARRAYS.fullmatch(one.name) for one in made)
    return filled and not any(EMPTIES.fullmatch(e.name) and e.index < kept.read.index for e in calls)


def _unasked(kept: _Kept) -> bool:
    """Whether the program does so by itself."""
    guards = [besides_files([one]) for one in (*kept.read.guards, *kept.write.guards)]
    if by_default(both(*guards)) is False:
        return False
    return not any(_ASKS.search(_NOT_ASKED.sub("", describe(one))) for one in guards)
