"""Edits out of the parts of patches: those where findings stand, and one for the start of each file."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from d9mlint.fix import beginnings, statements
from d9mlint.fix.edits import overlaps
from d9mlint.fix.own import seeds
from d9mlint.fix.patches import Files, Part
from d9mlint.fix.place import Need
from d9mlint.model import Edit

_SAME_TEXT = "another patch changes the same text"


class Made(NamedTuple):
    """The edits of parts, and the parts that cannot be made, with the reason."""

    edits: tuple[Edit, ...]
    left: tuple[tuple[Part, str], ...] = ()


def edits(parts: Sequence[Part], files: Files, early: Collection[str] = ()) -> Made:
    """The edits of all parts, one for the start of each file, as far as they can be made.

    ``early``: files whose statements go before the first import that may draw. Of parts that would change the same text
    the first is made.
    """
    out: list[Edit] = []
    needs: list[Need] = []
    left: list[tuple[Part, str]] = []
    for part in parts:
        if any(overlaps(new.location, one.location) for new in part.edits for one in out if new != one):
            left.append((part, _SAME_TEXT))
        else:
            out += part.edits
            needs += part.needs
    starting = [part for part in parts if part.statements]
    wanted: dict[str, list[str]] = {}
    for path in dict.fromkeys(part.path for part in starting):
        there = [part for part in starting if part.path == path]
        wanted[path] = [one for one in _ordered(there) if any(_is_at_top(part, one) for part in there)]
        for own in dict.fromkeys(part.own for part in there if part.own is not None):
            users = [part for part in there if part.own == own]
            told = [one for one in _ordered(users) if statements.is_seed(one) and one not in wanted[path]]
            made = seeds.put(path, files.texts[path], own, told)
            if not isinstance(made, str) and _clash(made, out):
                made = _SAME_TEXT
            if isinstance(made, str):
                left += [(part, made) for part in users]
            else:
                out += [one for one in made if isinstance(one, Edit)]
                needs += [one for one in made if isinstance(one, Need)]
    for path in dict.fromkeys([*wanted, *(need.path for need in needs)]):
        needed = list(dict.fromkeys(need.text for need in needs if need.path == path))
        told = wanted.get(path, [])
        if not told and not needed:
            continue
        put = beginnings.insertion(
            path,
            files.texts[path],
            told,
            needed,
            early=path in early,
            cells=files.cells.get(path, ()),
            own=files.own,
            before=_first_line(parts, path),
        )
        if not isinstance(put, str):
            out += put
        elif told:
            left += [(part, put) for part in starting if part.path == path]
    return Made(tuple(dict.fromkeys(out)), tuple((part, _told(part, reason)) for part, reason in left))


def _first_line(parts: Sequence[Part], path: str) -> float:
    """The first line of a file that uses a function which parts need to be defined there."""
    using = [part for part in parts if any(need.path == path and need.text.startswith("def ") for need in part.needs)]
    lines = (edit.location.line for part in using for edit in part.edits if edit.location.path == path)
    return min(lines, default=math.inf)


def _told(part: Part, reason: str) -> str:
    """The reason, with the file where that is not the one that the finding stands in."""
    return reason if part.path == part.finding.location.path else f"in {part.path}, {reason}"


def _is_at_top(part: Part, statement: str) -> bool:
    """Whether a statement of a part stands at the start of its file: all but seeds with the program's own one."""
    return statement in part.statements and (part.own is None or not statements.is_seed(statement))


def _clash(made: Sequence[Edit | Need], others: Sequence[Edit]) -> bool:
    edited = [one for one in made if isinstance(one, Edit)]
    return any(overlaps(one.location, other.location) for one in edited for other in others if one != other)


def _ordered(parts: Iterable[Part]) -> Iterator[str]:
    """The statements of several parts, each once: variables, seeds, switches."""
    found = list(dict.fromkeys(one for part in parts for one in part.statements))
    whole = any(".utils.set_random_seed(" in one for one in found)
    yield from (one for one in found if one.startswith("os."))
    yield from (one for one in found if ".seed(" in one and not whole)
    yield from (one for one in found if statements.is_seed(one) and ".seed(" not in one)
    yield from (one for one in found if not statements.is_seed(one) and not one.startswith("os."))
