"""What the user has already judged: ``# d9m: ignore[name] reason`` comments, and the baseline file."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from d9mlint.model import ConfigError, Finding, Location, Remedy, Rule, UsageError, fingerprinted

MARK = "d9m:"
FORM = "# d9m: ignore[name] reason"


def _rule(name: str, rule_id: str, summary: str, why: str, remedy: str) -> Rule:
    return Rule(
        name=name,
        id=rule_id,
        family="suppressions",
        severity="warning",
        confidence="high",
        hazard="suppression",
        noise="impl",
        summary=summary,
        why=why,
        message=summary,
        remedies=(Remedy(remedy),),
    )


WITHOUT_REASON = _rule(
    "suppression-without-reason",
    "D9M901",
    "a suppression comment gives no reason",
    "Nobody can tell later whether a suppression without a reason still holds. It has no effect until it has one.",
    f"say why the finding is acceptable here: `{FORM}`",
)
UNUSED = _rule(
    "unused-suppression",
    "D9M902",
    "a suppression comment suppresses nothing",
    "The finding is gone, or the comment stands on another line than the finding. Left in place it would hide the next "
    "one.",
    "remove the comment, or move it to a line of the finding",
)
UNKNOWN = _rule(
    "unknown-suppression",
    "D9M903",
    "a `d9m:` comment cannot be understood or names no known rule",
    "A misspelt suppression suppresses nothing, and looks as if it did.",
    f"write `{FORM}` with a name from `d9mlint rules`",
)
RULES: tuple[Rule, ...] = (WITHOUT_REASON, UNUSED, UNKNOWN)
"""The rules about suppressions; they cannot be suppressed by a comment, only left out by the configuration."""


@dataclass(frozen=True, slots=True)
class Suppression:
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


# --- reading comments ------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Comment:
    """A comment token: its place, its text, the lines it is about, and whether it is alone on its line."""

    line: int
    column: int
    text: str
    first: int
    last: int
    alone: bool


def scan(text: str) -> tuple[Suppression, ...]:
    """The suppression comments in a Python source, in the order of the text; never raises.

    A comment after code is about its line, and about the whole statement when it follows the statement's last line.
    A comment alone on its line is about the statement (within brackets: the line) that follows.
    """
    if MARK not in text:
        return ()
    text = text.encode("utf-8", "replace").decode("utf-8")  # lone surrogates break the tokenizer of Python 3.12
    text = text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n")
    lines = text.split("\n")
    comments = _tokenized(text) if "\0" not in text else None  # a null byte is a SystemError in Python 3.12
    if comments is None:
        comments = _guessed(lines)
    return tuple(found for comment in comments for found in _suppressions(comment, lines[comment.line - 1]))


def _tokenized(text: str) -> list[_Comment] | None:
    """The comments with a mark, by Python's tokenizer; None where it cannot read the text."""
    import io
    import tokenize
    import warnings

    skipped = {tokenize.NL, tokenize.INDENT, tokenize.DEDENT, tokenize.ENCODING, tokenize.ENDMARKER}
    comments: list[tokenize.TokenInfo] = []
    code: dict[int, int] = {}
    """First line of the statement by each line that has code."""
    ends: dict[int, int] = {}
    """Last line of the statement by its first line."""
    start = 0
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # Python 3.12 warns of escapes in f-strings
            tokens = list(tokenize.generate_tokens(io.StringIO(text).readline))
    except (tokenize.TokenError, SyntaxError, ValueError):
        return None
    for token in tokens:
        if token.type == tokenize.COMMENT:
            if MARK in token.string:
                comments.append(token)
        elif token.type == tokenize.NEWLINE:
            ends[start], start = token.start[0], 0
        elif token.type not in skipped:
            start = start or token.start[0]
            code.update(dict.fromkeys(range(token.start[0], token.end[0] + 1), start))
    order = sorted(code)
    return [_placed(token.start, token.string, code, ends, order) for token in comments]


def _placed(
    at: tuple[int, int], text: str, code: Mapping[int, int], ends: Mapping[int, int], order: Sequence[int]
) -> _Comment:
    """A comment with the lines that it is about; ``order`` holds the lines with code."""
    line, column = at
    if line in code:
        start = code[line]
        first = start if ends.get(start, line) == line else line
        return _Comment(line, column + 1, text, first, line, alone=False)
    index = bisect_left(order, line)
    if index == len(order):
        return _Comment(line, column + 1, text, line, line, alone=True)
    first = order[index]
    last = ends.get(first, first) if code[first] == first else first
    return _Comment(line, column + 1, text, first, last, alone=True)


def _guessed(lines: Sequence[str]) -> list[_Comment]:
    """The comments with a mark in a text that is not Python (yet): everything from a ``#`` before the mark on."""
    bare = [index for index, line in enumerate(lines, 1) if line.strip() and not line.lstrip().startswith("#")]
    code = {index: index for index in bare}
    found = []
    for number, line in enumerate(lines, 1):
        mark = re.search(rf"#+[ \t]*{MARK}", line) if MARK in line else None
        if mark:
            found.append(_placed((number, mark.start()), line[mark.start() :], code, code, bare))
    return found


def _suppressions(comment: _Comment, line_text: str) -> Iterator[Suppression]:
    """Each ``# d9m:`` part of a comment; other tools' parts may stand before and after."""
    starts = [match.start() for match in re.finditer(rf"(?:^|(?<=\s))#+[ \t]*{MARK}", comment.text)]
    for start, end in zip(starts, [*starts[1:], len(comment.text)], strict=False):
        part = comment.text[start:end].rstrip()
        names, reason, whole_file, problem = _parsed(part)
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


def _parsed(part: str) -> tuple[tuple[str, ...], str, bool, str]:
    """Names, reason, whether for the whole file, and what is wrong, of one ``# d9m: ...``."""
    match = re.match(rf"#+[ \t]*{MARK}[ \t]*(ignore|ignore-file)[ \t]*(?:\[([^\]]*)\](.*))?$", part, re.DOTALL)
    if not match:
        return (), "", False, f"not understood; the form is `{FORM}`"
    whole_file = match[1] == "ignore-file"
    names = tuple(dict.fromkeys(name.strip() for name in (match[2] or "").split(",") if name.strip()))
    if not names:
        return (), "", whole_file, f"names no rule; the form is `{FORM}`"
    # What other tools want to read is no reason.
    reason = re.split(r"(?:^|\s)#+(?=\s|noqa|type:|fmt:|nosec|pragma|pylint)", match[3], maxsplit=1)[0]
    reason = reason.strip(" \t:;,.-\u2013\u2014")
    return names, reason if any(map(str.isalnum, reason)) else "", whole_file, ""


# --- applying them ---------------------------------------------------------------------------------------------------


def apply(
    findings: Iterable[Finding],
    suppressions: Mapping[str, Sequence[Suppression]],
    known: Iterable[Rule],
    active: Collection[str] | None = None,
) -> tuple[tuple[Finding, ...], int, tuple[Finding, ...]]:
    """Sorts out the suppressed findings: those kept, the number of the others, and findings about the comments.

    ``suppressions`` are those of each file, ``known`` all rules there are. ``active`` are the names of the rules that
    were run (None: all): whether a comment about another rule is unused cannot be told. Call this before findings of
    low confidence are hidden, else their suppressions look unused.
    """
    names = {rule.name: rule.name for rule in known} | {rule.id: rule.name for rule in known}
    used: set[tuple[str, int, str]] = set()
    kept: list[Finding] = []
    count = 0
    for finding in findings:
        path = finding.location.path
        hits = [
            (path, index, name)
            for index, one in enumerate(suppressions.get(path, ()))
            if one.reason and not one.problem and one.covers(finding.location)
            for name in one.names
            if name in (finding.rule, finding.id)
        ]
        used.update(hits)
        count += bool(hits)
        if not hits:
            kept.append(finding)
    extra: list[Finding] = []
    for path in sorted(suppressions):
        for index, one in enumerate(suppressions[path]):
            idle = [name for name in one.names if (path, index, name) not in used]
            extra += _judged(path, one, idle, names, active)
    return tuple(kept), count, _with_fingerprints(extra, suppressions)


def _judged(
    path: str, one: Suppression, idle: Sequence[str], known: Mapping[str, str], active: Collection[str] | None
) -> Iterator[Finding]:
    """What is wrong with one comment; ``idle`` are those of its names that suppressed nothing."""
    if one.problem:
        yield _finding(UNKNOWN, path, one, f"`d9m:` comment: {one.problem}")
        return
    own = {rule.name for rule in RULES} | {rule.id for rule in RULES}
    for name in idle:
        if name in own:
            yield _finding(UNKNOWN, path, one, f"`{name}` cannot be suppressed by a comment, only by the configuration")
        elif name not in known:
            yield _finding(UNKNOWN, path, one, f"unknown rule `{name}` in a suppression{_did_you_mean(name, known)}")
    listed = ", ".join(one.names)
    if not one.reason:
        yield _finding(WITHOUT_REASON, path, one, f"suppression of `{listed}` gives no reason and so has no effect")
        return
    judged = [name for name in idle if name in known and name not in own and (active is None or known[name] in active)]
    if judged:
        where = "in this file" if one.whole_file else "here"
        yield _finding(
            UNUSED, path, one, f"suppression of `{', '.join(judged)}` is unused: nothing to suppress {where}"
        )


def _did_you_mean(name: str, known: Collection[str]) -> str:
    import difflib

    close = difflib.get_close_matches(name, sorted(known), n=1)
    return f"; did you mean `{close[0]}`?" if close else ""


def _finding(rule: Rule, path: str, one: Suppression, message: str) -> Finding:
    return Finding(
        rule=rule.name,
        id=rule.id,
        hazard=rule.hazard,
        noise=rule.noise,
        severity=rule.severity,
        confidence=rule.confidence,
        message=message,
        location=Location(path, one.line, one.column, one.line, one.end_column),
        remedy=rule.remedies[0].text,
    )


def _with_fingerprints(
    findings: Iterable[Finding], suppressions: Mapping[str, Sequence[Suppression]]
) -> tuple[Finding, ...]:
    """The findings about comments, in the order of reports, each with its stable identity."""

    def line_text(finding: Finding) -> str:
        comments = suppressions[finding.location.path]
        return next(one.line_text for one in comments if one.line == finding.location.line)

    return tuple(fingerprinted(sorted(findings, key=lambda one: one.sort_key), line_text))


# --- baseline --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Baseline:
    """The findings that were there when the baseline was written."""

    fingerprints: frozenset[str] = frozenset()


def write_baseline(findings: Iterable[Finding], path: Path) -> None:
    """Writes the findings as known; the same findings give the same bytes. Raises UsageError where it cannot write."""
    import json

    known = {
        finding.fingerprint: {
            "rule": finding.rule,
            "path": finding.location.path,
            "message": finding.message,
        }
        for finding in sorted(findings, key=lambda one: one.sort_key)
        if finding.fingerprint
    }
    text = json.dumps({"version": 1, "fingerprints": known}, indent=1, sort_keys=True) + "\n"
    try:
        path.write_text(text, encoding="ascii", newline="\n")
    except OSError as error:
        raise UsageError(f"{path}: cannot be written: {error.strerror}") from error


def load_baseline(path: Path) -> Baseline:
    """Reads what ``write_baseline`` wrote; raises ConfigError, naming the file, for anything else."""
    import json

    try:
        data: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"{path}: baseline not found") from error
    except OSError as error:
        raise ConfigError(f"{path}: cannot be read: {error.strerror}") from error
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"{path}: not a baseline: not valid JSON: {error}") from error
    if not isinstance(data, dict) or "version" not in data:
        raise ConfigError(f"{path}: not a baseline: expected an object with `version` and `fingerprints`")
    if data["version"] != 1 or isinstance(data["version"], bool):
        raise ConfigError(f"{path}: baseline version {data['version']!r} is unknown, expected 1; write it anew")
    known = data.get("fingerprints")
    if not isinstance(known, dict) or not all(_is_entry(entry) for entry in known.values()):
        raise ConfigError(
            f"{path}: not a baseline: `fingerprints` must map each fingerprint to `rule`, `path` and `message`"
        )
    return Baseline(frozenset(known))


def _is_entry(entry: object) -> bool:
    return isinstance(entry, dict) and all(isinstance(entry.get(key), str) for key in ("rule", "path", "message"))


def split(findings: Iterable[Finding], baseline: Baseline) -> tuple[tuple[Finding, ...], int]:
    """The findings that the baseline does not know, and the number of those that it knows."""
    everything = tuple(findings)
    new = tuple(finding for finding in everything if finding.fingerprint not in baseline.fingerprints)
    return new, len(everything) - len(new)
