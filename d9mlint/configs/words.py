"""A shell text as words with their places: quotes, continued lines, comments, here-documents and operators.

Not the whole grammar: what is unknown ends a word or a command, and never raises. Sources: POSIX.1-2017, Shell Command
Language 2.2 (quoting), 2.3 (token recognition), 2.7.4 (here-documents); bash(1).
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from d9mlint.model import Location

_PLAIN = re.compile(r"[^\s'\"\\$`|&;()<>#]+")
_BLANK = re.compile(r"(?:[ \t\r]|\\\r?\n)+")
_COMMENT = re.compile(r"#[^\n]*")
_OPERATOR = re.compile(r"\|\||&&|;;&?|;&|\|&|&>>?|[0-9]*(?:<<<|<<-?|>>|>&|<&|<>|>\||<|>)|[|&;()\n]")
_NAME = re.compile(r"\$(?:\w+|[@*#?$!-])")
_HEREDOC = re.compile(r"[0-9]*<<(-?)$")


@dataclass(frozen=True, slots=True)
class Part:
    """A piece of a word: ``text``, a ``variable`` (its spelling), or something ``unknown`` (a substitution)."""

    kind: str
    text: str
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Word:
    """A word or an operator (``parts`` empty) and where it stands: offsets into the text."""

    parts: tuple[Part, ...]
    start: int
    end: int
    operator: str = ""


class Lines:
    """Where the pieces of a text stand; the text may begin on a line of its own in a larger file, indented."""

    def __init__(self, path: str, text: str, first: int = 1, indent: int = 0) -> None:
        self._path, self._first, self._indent = path, first, indent
        self._starts = [0, *(m.end() for m in re.finditer("\n", text))]

    def location(self, start: int, end: int) -> Location:
        """The place of what lies between two offsets."""
        return Location(self._path, *self._place(start), *self._place(end))

    def _place(self, offset: int) -> tuple[int, int]:
        line = bisect_right(self._starts, offset)
        return self._first + line - 1, self._indent + offset - self._starts[line - 1] + 1


class Fixed:
    """All pieces of a text stand at one place (a text in quotes, a folded one)."""

    def __init__(self, location: Location) -> None:
        self._location = location

    def location(self, start: int, end: int) -> Location:
        """That place."""
        return self._location


Places = Lines | Fixed


def words(text: str) -> Iterator[Word]:
    """The words and operators of a shell text, in order; here-documents are left out."""
    at = 0
    pending: list[tuple[str, bool]] = []
    wanted: bool | None = None
    while at < len(text):
        skipped = _BLANK.match(text, at) or _COMMENT.match(text, at)
        if skipped:
            at = skipped.end()
            continue
        operator = _OPERATOR.match(text, at)
        if operator:
            at = operator.end()
            yield Word((), operator.start(), at, operator[0])
            if operator[0] == "\n" and pending:
                at = _after_documents(text, at, pending)
                pending = []
            here = _HEREDOC.match(operator[0])
            wanted = bool(here[1]) if here else None
            continue
        word = _word(text, at)
        at = word.end
        if wanted is not None:
            pending.append(("".join(p.text for p in word.parts), wanted))
            wanted = None
        yield word


def _after_documents(text: str, at: int, pending: list[tuple[str, bool]]) -> int:
    for mark, indented in pending:
        while at < len(text):
            end = text.find("\n", at)
            end = len(text) if end < 0 else end
            line = text[at:end].rstrip("\r")
            at = end + 1
            if (line.lstrip("\t") if indented else line) == mark:
                break
    return min(at, len(text))


def _word(text: str, start: int) -> Word:
    parts: list[Part] = []
    at = start
    while at < len(text):
        char = text[at]
        if char in " \t\r\n|&;()<>":
            break
        if char == "\\":
            if text.startswith(("\\\n", "\\\r\n"), at):
                break
            parts.append(Part("text", text[at + 1 : at + 2], True))
            at += 2
        elif char == "'":
            end = _until(text, "'", at + 1)
            parts.append(Part("text", text[at + 1 : end], True))
            at = end + 1
        elif char == '"':
            at = _quoted(text, at + 1, parts)
        elif char in "$`":
            part, at = _expansion(text, at, False)
            parts.append(part)
        else:
            plain = _PLAIN.match(text, at)
            end = plain.end() if plain else at + 1
            parts.append(Part("text", text[at:end]))
            at = end
    return Word(tuple(parts), start, min(max(at, start + 1), len(text)))


def _until(text: str, mark: str, at: int) -> int:
    end = text.find(mark, at)
    return len(text) if end < 0 else end


def _quoted(text: str, at: int, parts: list[Part]) -> int:
    """The inside of double quotes; returns the offset after them."""
    run: list[str] = []
    while at < len(text) and text[at] != '"':
        if text[at] == "\\" and at + 1 < len(text):
            if text[at + 1] != "\n":
                run.append(text[at + 1] if text[at + 1] in '$`"\\' else text[at : at + 2])
            at += 2
        elif text[at] in "$`":
            parts.append(Part("text", "".join(run), True))
            run = []
            part, at = _expansion(text, at, True)
            parts.append(part)
        else:
            run.append(text[at])
            at += 1
    parts.append(Part("text", "".join(run), True))
    return at + 1


def _expansion(text: str, at: int, quoted: bool) -> tuple[Part, int]:
    """A ``$`` or a backtick: a variable where it is one, else unknown."""
    if text[at] == "`":
        end = _until(text, "`", at + 1) + 1
        return Part("unknown", text[at:end], quoted), end
    if text.startswith("${", at):
        end = _closing(text, at + 2, "{", "}")
        return Part("variable", text[at:end], quoted), end
    if text.startswith("$(", at):
        end = _closing(text, at + 2, "(", ")")
        return Part("unknown", text[at:end], quoted), end
    if text.startswith("$'", at) and not quoted:
        end = _until(text, "'", at + 2)
        return Part("text", text[at + 2 : end], True), end + 1
    name = _NAME.match(text, at)
    if name is None:
        return Part("text", "$", quoted), at + 1
    return Part("variable", name[0], quoted), name.end()


def _closing(text: str, at: int, left: str, right: str) -> int:
    """The offset after the bracket that closes; brackets within count, quotes hide them."""
    depth = 1
    while at < len(text):
        char = text[at]
        if char == "\\":
            at += 1
        elif char == "'" and left == "(":
            at = _until(text, "'", at + 1)
        elif char == left:
            depth += 1
        elif char == right:
            depth -= 1
            if not depth:
                return at + 1
        at += 1
    return len(text)
