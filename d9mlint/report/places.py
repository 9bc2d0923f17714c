"""The other places of a finding as lines: those of one file that do the same in one, and only so many."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from d9mlint.model import Finding, Related
from d9mlint.report import each
from d9mlint.report.lines import Line, cell, labelled, place
from d9mlint.report.words import count, listing, one_line, printable, shortened, unique, whole_parts

_MOST = 20
"""Lines with places in a long report; JSON has all."""
_LINES, _NAMES = 8, 2
"""Line numbers, and names of what is called there, that are told where several places do the same."""
_DOES = re.compile(r"`(?P<name>[^`]+)`(?P<does> [^`(]+)")
"""What a place has to do with a finding: something that is called there, and what that does."""
_WORDS = 20
"""So many columns of what a place has to do with a finding say something."""
_INDENT = 8


def first(finding: Finding, most: int, width: int) -> Iterator[Line]:
    """The first of the other places, one a line, and how many more there are."""
    programs = finding.programs if each.is_told(finding) else ()
    told = {(one.reached.file, one.reached.line) for one in programs if one.reached}
    others = (one for one in finding.related if (one.location.file, one.location.line) not in told)
    places = unique(_short(related, finding) for related in others)
    for number, text in enumerate(places[:most], 1):
        left = len(places) - most if number == most else 0
        more = f"; and {count(left, 'more place')} (--verbose)" if left > 0 else ""
        room = width - _INDENT - len(more)
        where = text.partition(": ")[0]
        start = shortened(text, room) if not more or room - len(where) >= _WORDS else where
        line = (whole_parts(text, room) or start) + more
        if more and len(line) > width - _INDENT:
            line = f"{count(left + 1, 'more place')} (--verbose)"
        yield from labelled("see", line, width)


def whole(finding: Finding, width: int) -> Iterator[Line]:
    """The other places, those of one file that do the same in one line, and where the rest of many is to be found."""
    groups: dict[tuple[str, str], list[Related]] = {}
    for related in finding.related:
        groups.setdefault((related.location.file, _does(related)), []).append(related)
    told = list(groups.values())
    for those in told[:_MOST]:
        yield from labelled("see", _together(those, finding), width)
    left = [related for those in told[_MOST:] for related in those]
    if left:
        files = len({related.location.file for related in left})
        text = f"and {count(len(left), 'more place')} in {count(files, 'file')} (--format json)"
        yield from labelled("see", text, width)


def _does(related: Related) -> str:
    """What happens at a place, whatever is called there."""
    found = _DOES.fullmatch(one_line(related.note))
    return found["does"] if found else related.note


def _together(those: list[Related], finding: Finding) -> str:
    """Places of one file that do the same: where all of them are, and what is called there."""
    lines = list(dict.fromkeys(one.location.line for one in those))
    if len(lines) == 1:
        return _told(those[0], finding)
    names = unique(found["name"] for one in those if (found := _DOES.fullmatch(one_line(one.note))))
    note = one_line(those[0].note)
    if len(names) > 1:
        note = f"{_alternatives(names)}{_does(those[0])}"
    numbers = f"lines {listing([str(line) for line in sorted(lines)], _LINES)}"
    return f"{', '.join(filter(None, (_file(those[0], finding), numbers)))}: {note}"


def _alternatives(names: Iterable[str]) -> str:
    shown = list(names)
    left = len(shown) - _NAMES
    told = [f"`{name}`" for name in shown[:_NAMES]]
    return ", ".join(told) + f" or {left} more" if left > 0 else " or ".join(told)


def _short(related: Related, finding: Finding) -> str:
    """As `_told`; of a file in the finding's folder only what stands below that folder."""
    folder = finding.location.path.rpartition("/")[0] + "/"
    told = _told(related, finding)
    return told.removeprefix(printable(folder)) if related.location.path.startswith(folder) else told


def _told(related: Related, finding: Finding) -> str:
    """Where another place is, and what it has to do with the finding."""
    return f"{_where(related, finding)}: {one_line(related.note)}"


def _where(related: Related, finding: Finding) -> str:
    """Where another place is, its line alone where it stands in the same file."""
    at, file = related.location, _file(related, finding)
    outside = at.path != finding.location.path
    return f"{place(at)}{cell(at)}" if outside else ", ".join(filter(None, (file, f"line {at.line}")))


def _file(related: Related, finding: Finding) -> str:
    """What the lines of a place are counted in; nothing where it is the same as for the finding."""
    at, here = related.location, finding.location
    if at.path != here.path:
        return printable(at.file)
    return f"cell {at.cell}" if at.file != here.file else ""
