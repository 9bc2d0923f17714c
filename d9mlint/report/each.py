"""The programs that have a finding, a line each: where its script comes to it, and when."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from d9mlint.model import GENERATORS, Finding, InProgram
from d9mlint.report.lines import Line, labelled, place
from d9mlint.report.words import count, fits, is_of_generator, joined, one_line, printable

MOST = 5
"""Programs that a short report names a line each; one more takes the line that would say so."""
OF_SOME = re.compile(r"(?P<before>if |.* unless |)(?P<programs>(?:one of )?`.*? is started)(?P<words>, .*|)")
"""A condition that some programs need, or all but some, or that one of some is started."""
_MORE = ", under conditions (--verbose)"


def is_told(finding: Finding) -> bool:
    """Whether its programs have to be told: each is cured for itself, or some ask for more than others."""
    return finding.apart or any(_own(finding))


def common(finding: Finding) -> list[str]:
    """The conditions that stand for themselves: without those that the lines of the programs tell."""
    told = is_told(finding)
    return [words for words in finding.when if not (told and OF_SOME.fullmatch(words))]


def lines(finding: Finding, width: int, *, whole: bool = False) -> Iterator[Line]:
    """The programs, one a line, and how many more there are; of the ``whole`` all with their conditions."""
    if not is_told(finding):
        return
    room, told = width - 8, finding.programs
    shown = told if whole or len(told) <= MOST + 1 else told[:MOST]
    pairs = zip(shown, _own(finding), strict=False)
    texts = [_program(one, own, told, 0 if whole else room) for one, own in pairs]
    if left := len(told) - len(shown):
        texts.append(f"{count(left, 'more program')} (--verbose)")
    for number, text in enumerate(texts):
        line, *more = labelled("in", text, width)
        yield ((" " * 8, ""), *line[1:]) if number else line
        yield from more


def _program(one: InProgram, own: Sequence[str], programs: Sequence[InProgram], room: int) -> str:
    """``train.py:12, when --amp is given``; where there is only so much room, whether there are conditions."""
    where = place(one.reached) if one.reached is not None else printable(one.entry)
    where += _generators(one, programs)
    when = joined(map(one_line, own))
    text = f"{where}, when {when}" if when else where
    return text if not room or fits(text, room, 2) else where + (_MORE if when else "")


def _own(finding: Finding) -> list[list[str]]:
    """Of each program, the conditions that not all have."""
    if any(map(is_of_generator, finding.when)):
        return [[] for _ in finding.programs]  # alike in all programs
    needs = Counter(words for one in finding.programs for words in {*one.when})
    return [[words for words in one.when if needs[words] < len(finding.programs)] for one in finding.programs]


def _generators(one: InProgram, programs: Sequence[InProgram]) -> str:
    """Which generators it is about in this program, where in others it is about others."""
    if all(one.concerns == other.concerns for other in programs):
        return ""
    named = [GENERATORS[name].partition("'s")[0] for name in one.concerns if name in GENERATORS]
    return f" ({' and '.join(named)})" if named else ""
