"""Whether somebody asks a program to go on from what an earlier run has left, and words for where that lies."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import replace

from d9mlint.model import Related, Rule
from d9mlint.python.domain.conditions import (
    UNKNOWN_DEFAULT,
    Cond,
    both,
    by_a_file,
    by_default,
    conjuncts,
    literal,
    literals,
    negate,
)
from d9mlint.python.domain.diagrams import simplified
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.tellable import FILE_TEST
from d9mlint.python.domain.testkeys import asks
from d9mlint.python.domain.values import Obj, Seq, Unknown, Value, alternatives
from d9mlint.python.interpreter.library.streams import FILE_TESTS
from d9mlint.python.interpreter.marks.bounded import listings
from d9mlint.python.interpreter.program import Program, is_none
from d9mlint.python.interpreter.provenance import made_of, results
from d9mlint.python.judging.drafts import Draft, draft, short_name, value_text, written_at
from d9mlint.python.judging.files.calls import listed_by, opens, path_of, target_of
from d9mlint.python.judging.files.kept import besides_files
from d9mlint.python.judging.files.places import flags_within, places, same_place
from d9mlint.python.judging.wording import describe

RESUMES = re.compile(r"resum|restor|continu|restart", re.IGNORECASE)
_ON = re.compile(r"(--[\w-]+|[\w.]+( in (the config file|\S+))?) is (\S+ \(the default\)|not set)")
"""What a condition says of a flag or a setting that is on, has such a value, or names nothing, where nobody asks."""
_NOT_OFF = re.compile(r"--no[-_]\S+ is not given")
"""What it says where nobody turns off what is on."""
_OFF = re.compile(r"\S+ is (not given|false)")
"""What a condition says of what is left off: who does not ask to start anew asks for nothing."""
THERE = re.compile(r"exists\(|isfile\(|isdir\(|is_file\(|is_dir\(")
STARTS, CONTINUES = "starts with trained weights", "continues from the checkpoint"
PICKS = ("builtins.max", "builtins.min")
_READ_TEXT = ".read_text"
_MOST_STEPS = 6
"""Calls between what is read and the path that is made of it: ``readline``, ``strip``, ``join``."""


def is_asked(words: str, *, off: bool = False) -> bool:
    """Whether a condition, in words, is that somebody asks to go on; ``off``: also by leaving a flag off."""
    words = _NOT_OFF.sub("", _ON.sub("", words))
    return RESUMES.search(words if off else _OFF.sub("", words)) is not None


def asked_for(load: Event, training: Event) -> bool:
    """Whether who trains has to ask for it: by a flag that is off, or by a setting whose name says so."""
    conds = [one for cond in load.guards for one in conjuncts(cond) if not by_a_file(one)]
    if by_default(simplified(both(*conds), both(*training.guards))) is False:
        return True
    words = [describe(one) for one in conds if not _by_name(one)]
    if not _names_file(load):  # what a file is called says nothing then: `exists("out/<restore_file>.pt")`
        words = [FILE_TEST.sub("", text) for text in words]
    return any(is_asked(text, off=True) for text in words)


def _by_name(cond: Cond) -> bool:
    """Whether a flag passes a test by the name that it has where it is not given: `--continue_from` is `latest`."""
    one = literal(cond)
    of_text = one is not None and one.flag is not None and isinstance(one.flag.default, str) and one.flag.default
    return bool(of_text) and by_default(cond) is True


def _names_file(load: Event) -> bool:
    """Whether who starts the program has to name what is loaded."""
    flags = flags_within(load.args[0]).values() if load.args else ()
    return any(not flag.default or flag.default == UNKNOWN_DEFAULT or flag.required for flag in flags)


def besides_path(cond: Cond) -> Cond:
    """A condition but for what it says of the path that is loaded: what that is called asks for nothing.

    ``if resume_file:``, ``not config.resume.startswith("https")``.
    """
    return both(*(one for one in conjuncts(cond) if not _is_of_path(one)))


def _is_of_path(cond: Cond) -> bool:
    """Whether a test comes out negative, or is that a local variable has a value."""
    one = literal(cond)
    test = one.opaque if one is not None else None
    return test is not None and one is not None and (one.outcome is False or test.text.isidentifier())


def asks_for_files(cond: Cond) -> bool:
    """Whether a condition is that files are there, tested on the spot or before (``there = path.exists()``)."""
    return any(asks(one.opaque, FILE_TESTS) for one in literals(cond)) or bool(THERE.search(describe(cond)))


def listed(program: Program, path: Value | None) -> Value | None:
    """The folder, or the pattern, of the listing that a path is taken from, also as its newest; None where none is."""
    listing = listing_of(program, path)
    return None if listing is None else listed_by(listing)


def listing_of(program: Program, path: Value | None) -> Event | None:
    """The call that lists the folder which a path is taken from, also as its newest; None where none does."""
    picked = [made.args[0] for made in made_of(path, results(program)) if made.name in PICKS and made.args]
    for _, leaf in (pair for value in (path, *picked) for pair in alternatives(value)):
        sources: tuple[Event, ...] = leaf.sources if isinstance(leaf, (Unknown, Obj, Seq)) else ()
        found = listings(sources)
        if found:
            return found[0]
    return None


def named_in(program: Program, path: Value | None) -> Value | None:
    """The file that the program writes, too, from which it reads a path: ``latest.txt``; None where none is."""
    makers, todo = results(program), [path]
    for _ in range(_MOST_STEPS):
        made = [event for value in todo for event in made_of(value, makers)]
        read = next((e for e in made if e.name.endswith(_READ_TEXT) or any(x.opens for x in e.effects)), None)
        if read is not None:
            file = path_of(read)
            written = (target_of(e) for e in program.events if not e.detached and opens(e))
            return file if file is not None and any(one and same_place(one, file) for one in written) else None
        todo = [value for event in made for value in (event.receiver, *event.args) if value is not None]
    return None


def folder_told(folder: Value) -> str:
    """A folder in words."""
    first = next((beginning for _, place in places(folder) if (beginning := place.told_beginning)), None)
    return "its own folder" if first is None else f"`{value_text(first)}`"


def left_over(
    program: Program, rule: Rule, load: Event, folder: Value, saves: Iterable[Event], then: str = STARTS,
    when: Cond = True, remedy: str = "", does: str = CONTINUES,
) -> Draft:  # fmt: skip
    """A finding at what takes up a checkpoint; ``does`` is what it does with it, ``then`` what a second run does."""
    related = [Related(written_at(saved), "saves there") for saved in saves][:1]
    given = besides_files([negate(is_none(folder)), when])  # (without a folder nothing is saved, either)
    there = replace(load, guards=(besides_files(load.guards),))
    return draft(
        program, rule, there, cond=given, related=related, remedy=remedy, name=short_name(load),
        folder=folder_told(folder), then=then, does=does,
    )  # fmt: skip
