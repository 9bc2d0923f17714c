"""Numbers that are counted in a folder: they end the loop that fills it, or are the names of more files in it.

What an earlier run has left there is counted, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import both, by_default
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import is_number, taint
from d9mlint.python.domain.values import Value
from d9mlint.python.interpreter.marks.bounded import listings
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft, short_name
from d9mlint.python.judging.files.calls import EMPTIES, given, opens
from d9mlint.python.judging.files.folders import folder_of, writes_into
from d9mlint.python.judging.files.kept import besides_files, written_by
from d9mlint.python.judging.files.places import Place, begins, is_of_one_run, places
from d9mlint.python.judging.wording import describe
from d9mlint.python.rules.host.leftovers.unasked import is_asked

_WHAT = (
    "counts what an earlier run has left in a folder that the program fills until enough is there: the same command a "
    "second time makes less, or nothing, and goes on with the files of the first"
)
_REMEDY = (
    "count what this run has made, in an empty folder of its own (and refuse one that is not empty), and take up what "
    "is there only where a flag such as `--resume` asks for it"
)
_NUMBERS = (
    "numbers the files of a loop after those that an earlier run has left in the folder: the same command a second "
    "time writes them under other names, and the folder holds the files of both runs"
)
_LENGTH = "builtins.len"
_BY_RUN = "number the files of each run from 0, in an empty folder of its own (and refuse one that is not empty)"
_SAVES = re.compile(
    r"(builtins\.open|.*\.(save|imwrite|imsave|save_image|savefig|savez|savez_compressed|savetxt|write_png|write_jpeg))"
)
"""Calls that write a file, also methods of what is not known (an image): the path is among what they are given."""


def counted(program: Program, rule: Rule, calls: Sequence[Event]) -> Iterator[Draft]:
    """At the listing of a folder by whose files a loop is ended that draws, or trains, and puts files there."""
    bounds = [event for event in program.events if event.kind == "bound" and not event.detached]
    if not bounds:
        return
    told_of = set()
    loops: dict[int, list[Event]] = {bound.loops[-1]: [] for bound in bounds}
    for event in calls:
        for loop in loops.keys() & event.loops:
            loops[loop].append(event)
    for bound in bounds:
        inside = loops[bound.loops[-1]]
        drawing = next((e for e in inside if any(x.draws or x.trains for x in e.effects)), None)
        for listing in listings(taint(bound.args)[2]) if drawing is not None else ():
            folder = folder_of(listing)
            write = next(writes_into(folder, (e for e in inside if e.index > listing.index)), None)
            if write is None or listing.location in told_of or any(map(is_of_one_run, folder)):
                continue
            if _is_asked(listing, bound, write) or _is_own(folder, listing, calls):
                continue
            told_of.add(listing.location)
            related = [Related(write.location, "a file is written there, in the loop that this ends")]
            yield draft(program, rule, listing, related=related, remedy=_REMEDY, name=short_name(listing), what=_WHAT)


# -- names ---------------------------------------------------------------------------------------------------------


def numbered(program: Program, rule: Rule, calls: Sequence[Event]) -> Iterator[Draft]:
    """At the listing of a folder by whose files those are numbered that a loop writes there.

    One file, or a folder, that is numbered so is this run's own.
    """
    told_of = set()
    counts = {id(one) for asked in program.calls(_LENGTH) for one in listings(taint(asked.args)[2])}
    for write in (one for one in calls if one.loops and _SAVES.fullmatch(one.name) and not _reads(one)):
        for place in written_by(write):
            leaves = [leaf.value for leaf in Place(place.names[-1:]).leaves]
            listed = [
                one for leaf in leaves for one in listings(taint([leaf])[2]) if is_number(leaf) or id(one) in counts
            ]
            listing = next((one for one in listed if any(_holds(folder, place) for folder in folder_of(one))), None)
            if listing is None or listing.location in told_of or is_of_one_run(place):
                continue
            if _is_asked(listing, write) or _is_own(folder_of(listing), listing, calls) or listing.loops:
                continue
            told_of.add(listing.location)
            related = [Related(write.location, "a file of the next number is written there")]
            yield draft(
                program, rule, listing, related=related, remedy=_BY_RUN, name=short_name(listing), what=_NUMBERS
            )


def _reads(event: Event) -> bool:
    """Whether a call opens a file that is there."""
    return any(effect.opens for effect in event.effects) and not opens(event)


def _holds(folder: Place, place: Place) -> bool:
    return len(place.names) == len(folder.names) + 1 and begins(place, folder)


# -- folders -------------------------------------------------------------------------------------------------------


def _is_asked(*events: Event) -> bool:
    """Whether somebody has to ask for it."""
    guards = [besides_files([one]) for event in events for one in event.guards]
    return by_default(both(*guards)) is False or any(is_asked(describe(one), off=True) for one in guards)


def _is_own(folder: tuple[Place, ...], listing: Event, calls: Sequence[Event]) -> bool:
    """Whether all that is in a folder is surely of this run: it was emptied, or filled, before it is listed."""
    before = [e for e in calls if e.index < listing.index and set(e.guards) <= set(listing.guards) and not e.contexts]
    emptied = (e for e in before if EMPTIES.fullmatch(e.name))
    return any(map(_is_of_list, emptied)) or any(
        (EMPTIES.fullmatch(e.name) and any(_is_above(path, folder) for path in given(e)))
        or any(True for _ in writes_into(folder, [e]))
        for e in before
    )


def _is_above(path: Value, folder: tuple[Place, ...]) -> bool:
    """Whether a path is a folder, or one that it lies in, whichever it is."""
    above = [place for _, place in places(path)]
    return bool(folder) and all(any(begins(one, place) for place in above) for one in folder)


def _is_of_list(event: Event) -> bool:
    """Whether a call removes what a folder is seen to hold: ``for path in folder.iterdir(): path.unlink()``."""
    return bool(listings(taint(given(event))[2]))
