"""One finding as people read it: in six or seven lines (evidence and its programs aside), or all that is known."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import NO_PROGRAM, Finding, Rule
from d9mlint.report import each, places
from d9mlint.report.lines import Line, cell, excerpted, labelled, linked, place
from d9mlint.report.words import (
    count,
    first_sentence,
    fits,
    is_of_generator,
    joined,
    one_line,
    seen,
    shortened,
    whole_parts,
)

STYLES = {"error": "bold red", "warning": "bold yellow", "info": "bold cyan"}
_LINES = 6
"""Of a finding where nothing more is asked for; one more where its conditions take two."""
_FIX = _WHEN = 2
"""Of these, those that the remedy, and the conditions, may take in any case."""
_MORE_OF_IT = "; more with --verbose"
_RAISES = re.compile(r"`[^`]+`(?: and `[^`]+`)* then raises?")
"""In a remedy, what it makes raise: who follows the rest alone has a program that stops."""
_SOME_RAISE = "; some ops then raise (--verbose)"
_INDENT = 8
_STARTED = " is started"
_DEFAULT = "(the default)"
_VALUE = re.compile(rf"\S+( {re.escape(_DEFAULT)})?")
"""What is no condition by itself: the last of the values that a flag may have."""
_CODE, _MORE = re.compile(r"`[^`]+`"), re.compile(r" and (\d+) more is started$")


def brief(finding: Finding, source: list[str], width: int, page: str = "") -> Iterator[Line]:
    """What, where, when and the fix in at most six lines, with the most telling of the other places.

    Conditions may take one more; programs that have to be told apart take a line each beside these.
    ``page`` is where the name of the rule leads to.
    """
    room = width - _INDENT
    lines = [_header(finding, page), *list(excerpted(finding.location, source, width, ""))[:1]]
    lines += labelled("when", _first_conditions(finding, room), width)
    lines += labelled("seen", seen(finding), width)
    remedy, left = _first_remedies(finding), _LINES - len(lines) - bool(finding.related)
    lines += labelled("fix", _as_much(remedy, room, max(left, _FIX)), width)
    left_over = max(_LINES - len(lines), 1)
    lines += each.lines(finding, width)
    lines += places.first(finding, left_over, width)
    yield from lines
    yield ()


def whole(finding: Finding, rule: Rule | None, source: list[str], width: int, page: str = "") -> Iterator[Line]:
    """All that is known of it: also why (of ``rule``, where that has not been told yet), and each place."""
    yield _header(finding, page)
    yield from excerpted(finding.location, source, width, STYLES.get(finding.severity, ""))
    yield from labelled("when", joined(map(one_line, each.common(finding))), width)
    yield from labelled("why", first_sentence(rule.why) if rule else "", width)
    yield from labelled("seen", seen(finding), width)
    yield from labelled("fix", finding.remedy, width)
    yield from each.lines(finding, width, whole=True)
    yield from places.whole(finding, width)
    yield ()


def _header(finding: Finding, page: str) -> Line:
    return (
        (f"{place(finding.location)}:{finding.location.column}: ", ""),
        (finding.severity, STYLES.get(finding.severity, "bold")),
        (" ", ""),
        linked(finding.rule, "bold", page),
        (f" [{finding.id}]{cell(finding.location)}", "dim"),
        *(((" confirmed:", "bold red"),) if finding.confirmed else ()),
        (f" {one_line(finding.message)}", ""),
    )


def _first_conditions(finding: Finding, room: int) -> str:
    """As many conditions as two lines hold, and how many more there are.

    That no program was found comes first, then what all programs need, what some do, and what is so by default; of each
    what leaves no choice.
    """
    told = sorted(map(one_line, each.common(finding)), key=_rank)
    if not told or fits(joined(told), room, _WHEN):
        return joined(told)
    for named in (1, 0):
        text = f"{joined(_naming(named, condition) for condition in told)} (--verbose)"
        if fits(text, room, _WHEN):
            return text
    short = [_naming(0, condition) for condition in told]
    for number in range(len(short) - 1, 0, -1):
        text = f"{joined(short[:number])}, and {_more(len(short) - number)}"
        if fits(text, room, _WHEN):
            return text
    return _first_alternatives(told[0], len(told) - 1, room)


def _rank(condition: str) -> tuple[bool, bool, bool, bool]:
    of_one, of_some = is_of_generator(condition), _is_of_some(condition)
    default = _DEFAULT in condition and not of_some  # (of a program that needs another flag as well)
    return not condition.endswith(NO_PROGRAM), default or of_one, of_some or of_one, " or " in condition


def _naming(most: int, condition: str) -> str:
    """A condition on the programs that are started, with so many names (1 or 0), and how many there are."""
    of_some = each.OF_SOME.fullmatch(condition)
    if of_some is None:
        return condition
    programs, more = _CODE.findall(of_some["programs"]), _MORE.search(of_some["programs"])
    number = len(programs) + (int(more[1]) if more else 0)
    if number == 1:
        return condition
    named = f"one of {programs[0]} and {number - 1} more" if most else f"one of {number} programs"
    return f"{of_some['before']}{named}{_STARTED}{of_some['words']}"


def _is_of_some(condition: str) -> bool:
    """Whether only some of the programs need a condition."""
    found = each.OF_SOME.fullmatch(condition)
    return found is not None and bool(found["before"] or found["words"])


def _more(left: int) -> str:
    return f"{count(left, 'more condition')} (--verbose)"


def _first_alternatives(condition: str, left: int, room: int) -> str:
    """Of a condition that is too long for its lines what fits, and that there is more, in it and ``left`` beside it."""
    ending = f", and {_more(left)}" if left else " (--verbose)"
    if each.OF_SOME.fullmatch(condition):
        return shortened(condition, room, _WHEN)
    first, _, rest = condition.partition(" or ")
    others = " or another value" if _VALUE.fullmatch(rest) else ", or another condition holds"
    text = f"{first}{others}{ending}"
    return text if first != condition and fits(text, room, _WHEN) else shortened(condition, room, _WHEN)


def _first_remedies(finding: Finding) -> str:
    """The first sentence about each part of the cause; code that follows is for those who ask for all.

    A part whose first code an earlier one has named says that at greater length.
    """
    told: list[str] = []
    for part in re.split(r"\n\s*\n(?!\s)", finding.remedy):
        prose = part.partition("\n  ")[0]
        code = _CODE.search(prose)
        if prose.strip() and not (code and any(code[0] in one for one in told)):
            told.append(first_sentence(prose).rstrip(".:"))
    return "; ".join(told)


def _as_much(remedy: str, room: int, lines: int) -> str:
    """What of a remedy fits into its lines, and whether anything is left out that somebody has to do."""
    text = whole_parts(remedy, room, lines)
    left = one_line(remedy)[len(text) :]
    if not text or not _CODE.search(left):
        return text or shortened(remedy, room, lines)
    more = whole_parts(remedy, room, lines, _MORE_OF_IT)
    raises = _RAISES.search(remedy)
    if raises is None or raises[0] in more:
        return more or text
    endings = (f"; {raises[0]} (--verbose)", _SOME_RAISE)
    return next(filter(None, (whole_parts(remedy, room, lines, ending) for ending in endings)), more or text)
