"""Suppression comments: what one says, in any language."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from d9mlint.model import Location

MARK = "d9m:"
FORM = "# d9m: ignore[name] reason"
CPP_FORM = "// d9m: ignore[name] reason"


class Suppression(NamedTuple):
    """One suppression comment: where it stands, the lines that it is about, and what it says."""

    line: int
    column: int
    end_column: int
    first: int
    last: int
    """The lines that it covers, both included; a finding is suppressed when it touches one of them."""
    names: tuple[str, ...]
    reason: str = ""
    whole_file: bool = False
    problem: str = ""
    """What cannot be understood about it; then it suppresses nothing."""
    line_text: str = ""

    def covers(self, location: Location) -> bool:
        """Whether a finding there is one that this comment is about."""
        return self.whole_file or (location.line <= self.last and self.first <= location.end_line)


class Comment(NamedTuple):
    """A comment token: its place, its text, the lines it is about, and whether it is alone on its line."""

    line: int
    column: int
    text: str
    first: int
    last: int
    alone: bool


def suppressions(comment: Comment, line_text: str, form: str = FORM) -> Iterator[Suppression]:
    """Each ``# d9m:`` part of a comment; other tools' parts may stand before and after.

    ``comment.text`` has ``#`` where another language writes other marks; ``form`` is how that language writes it all.
    """
    starts = [match.start() for match in re.finditer(rf"(?:^|(?<=\s))#+[ \t]*{MARK}", comment.text)]
    for start, end in zip(starts, [*starts[1:], len(comment.text)], strict=False):
        part = comment.text[start:end].rstrip()
        names, reason, whole_file, problem = _parsed(part, form)
        if whole_file and not problem and not (comment.alone and comment.column == 1):
            problem = "`ignore-file` must stand alone on a line, unindented"
        yield Suppression(
            line=comment.line,
            column=comment.column + start,
            end_column=comment.column + start + len(part),
            first=comment.first,
            last=comment.last,
            names=names,
            reason=reason,
            whole_file=whole_file,
            problem=problem,
            line_text=line_text.strip(),
        )


def _parsed(part: str, form: str) -> tuple[tuple[str, ...], str, bool, str]:
    """Names, reason, whether for the whole file, and what is wrong, of one ``# d9m: ...``."""
    match = re.match(rf"#+[ \t]*{MARK}[ \t]*(ignore|ignore-file)[ \t]*(?:\[([^\]]*)\](.*))?$", part, re.DOTALL)
    if not match:
        return (), "", False, f"not understood; the form is `{form}`"
    whole_file = match[1] == "ignore-file"
    names = tuple(dict.fromkeys(name.strip() for name in (match[2] or "").split(",") if name.strip()))
    if not names:
        return (), "", whole_file, f"names no rule; the form is `{form}`"
    # What other tools want to read is no reason.
    reason = re.split(r"(?:^|\s)#+(?=\s|noqa|NOLINT|type:|fmt:|nosec|pragma|pylint)", match[3], maxsplit=1)[0]
    reason = reason.strip(" \t:;,.-\u2013\u2014")
    return names, reason if any(map(str.isalnum, reason)) else "", whole_file, ""
