"""Findings and sources in, new sources out; nothing here touches the disk."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from d9mlint.model import Edit, Finding, Fix, Location

NEWLINE = re.compile(r"\r\n|\r|\n")
_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class Applied:
    """The files that change, the findings whose fix was applied, and the files left alone with the reason."""

    sources: Mapping[str, bytes] = field(default_factory=dict)
    fixed: tuple[Finding, ...] = ()
    refused: tuple[tuple[str, str], ...] = ()
    edits: Mapping[str, Sequence[Edit]] = field(default_factory=dict)
    """By file, the edits that were made."""


def apply(findings: Iterable[Finding], sources: Mapping[str, bytes]) -> Applied:
    """Applies the safe fixes of ``findings`` to ``sources``.

    Of overlapping fixes the first (in the order of reports) wins; a fix is applied with all its edits or not at all; a
    file that would not parse any more is left as it is.
    """
    chosen = list(_chosen(sorted(findings, key=lambda f: (f.sort_key, f.fixes)), sources))
    broken: dict[str, str] = {}
    while True:
        edits = _by_path(fix for _, fix in chosen)
        done = {path: edited(sources[path], edits[path]) for path in sorted(edits)}
        failed = {
            path: "its fixes would break it" for path, data in done.items() if data is None or not _parses(path, data)
        }
        if not failed:
            break
        broken.update(failed)
        chosen = [(found, fix) for found, fix in chosen if not failed.keys() & {e.location.path for e in fix.edits}]
    changed = {path: data for path, data in done.items() if data is not None and data != sources[path]}
    return Applied(changed, tuple(found for found, _ in chosen), tuple(sorted(broken.items())))


def apply_edits(edits: Iterable[Edit], sources: Mapping[str, bytes]) -> Applied:
    """Applies ``edits`` to ``sources``: of those that overlap the first; a file that would not parse stays as it is."""
    taken: dict[str, list[Edit]] = {}
    for edit in dict.fromkeys(edits):
        others = taken.setdefault(edit.location.path, [])
        if not any(overlaps(edit.location, other.location) for other in others):
            others.append(edit)
    done = {path: edited(sources[path], found) for path, found in sorted(taken.items())}
    good = {path: data for path, data in done.items() if data is not None and _parses(path, data)}
    broken = tuple((path, "its fixes would break it") for path in done if path not in good)
    return Applied({path: data for path, data in good.items() if data != sources[path]}, (), broken, taken)


def _chosen(findings: Sequence[Finding], sources: Mapping[str, bytes]) -> Iterator[tuple[Finding, Fix]]:
    taken: set[Edit] = set()
    for found in findings:
        for fix in found.fixes:
            usable = fix.safe and fix.edits and all(edit.location.path in sources for edit in fix.edits)
            if not usable:
                continue
            new = [edit for edit in dict.fromkeys(fix.edits) if edit not in taken]
            others = [*taken, *new]
            if any(overlaps(a.location, b.location) for a in new for b in others if a is not b):
                continue
            taken.update(new)
            yield found, fix
            break


def overlaps(one: Location, other: Location) -> bool:
    """Whether two ranges cannot both be replaced: they share text, or begin at the same place."""
    if one.path != other.path:
        return False
    a, b = sorted(((x.line, x.column), (x.end_line, x.end_column)) for x in (one, other))
    return a[0] == b[0] or b[0] < a[1]


def _by_path(fixes: Iterable[Fix]) -> dict[str, set[Edit]]:
    out: dict[str, set[Edit]] = {}
    for fix in fixes:
        for edit in fix.edits:
            out.setdefault(edit.location.path, set()).add(edit)
    return out


def edited(data: bytes, edits: Iterable[Edit]) -> bytes | None:
    """``data`` with ``edits`` (which do not overlap); None where it cannot be read or a range lies outside of it.

    Encoding, byte order mark and line ends stay: inserted text gets those of the file.
    """
    written_in = encoding(data)
    if written_in is None:
        return None
    mark = _BOM if data.startswith(_BOM) else b""
    try:
        text = data[len(mark) :].decode(written_in)
    except UnicodeDecodeError:
        return None
    new = edited_text(text, edits)
    try:
        return None if new is None else mark + new.encode(written_in)
    except UnicodeEncodeError:
        return None


def edited_text(text: str, edits: Iterable[Edit]) -> str | None:
    """The same for a text; None where a range lies outside of it."""
    starts = [0, *(match.end() for match in NEWLINE.finditer(text))]
    length, newline = len(text), _newline(text)
    for edit in sorted(edits, reverse=True):
        place = edit.location
        start = _offset(starts, length, place.line, place.column)
        end = _offset(starts, length, place.end_line, place.end_column)
        if start is None or end is None or end < start:
            return None
        text = text[:start] + NEWLINE.sub(newline, edit.text) + text[end:]
    return text


def _offset(starts: Sequence[int], length: int, line: int, column: int) -> int | None:
    if not 1 <= line <= len(starts) or column < 1:
        return None
    end = starts[line] if line < len(starts) else length
    offset = starts[line - 1] + column - 1
    return offset if offset <= end else None


def _newline(text: str) -> str:
    found = NEWLINE.search(text)
    return found.group() if found else "\n"


def encoding(data: bytes) -> str | None:
    """What the source says it is written in (PEP 263); None where Python would refuse it."""
    import io
    import tokenize

    try:
        encoding, _ = tokenize.detect_encoding(io.BytesIO(data).readline)
    except SyntaxError:
        return None
    return "utf-8" if encoding == "utf-8-sig" else encoding


def is_python(path: str) -> bool:
    """Whether a file is Python, or a notebook, which is edited as its Python."""
    return path.endswith((".py", ".ipynb"))


def _parses(path: str, data: bytes) -> bool:
    if not is_python(path):  # whoever knows what it is reads it again
        return True
    import libcst as cst

    try:
        cst.parse_module(data)
    except (cst.ParserSyntaxError, cst.CSTValidationError, SyntaxError, ValueError, RecursionError):
        return False
    return True
