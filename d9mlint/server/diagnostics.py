"""From findings to diagnostics: what is shown beside the lines, with related places."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

from lsprotocol import types
from pygls.workspace import PositionCodec

from d9mlint.model import Finding, Location, Unchecked
from d9mlint.report.words import conditions, one_line
from d9mlint.server.judging import Run, absolute

SOURCE = "d9mlint"
UNCHECKED = "not-checked"
_SEVERITIES = {
    "error": types.DiagnosticSeverity.Error,
    "warning": types.DiagnosticSeverity.Warning,
    "info": types.DiagnosticSeverity.Information,
}
Lines = Callable[[Location], Sequence[str]]
"""The lines of the text that a place is one of; none where the text is not at hand."""
Uri = Callable[[Location], str]
"""What the client calls the document of a place."""


class Places:
    """What a client calls places: documents by URI, columns in the units that it counts in."""

    def __init__(self, codec: PositionCodec, uri: Uri, lines: Lines) -> None:
        self._codec = codec
        self._lines = lines
        self.uri = uri

    def range(self, at: Location) -> types.Range:
        """The range of a place."""
        lines = self._lines(at)

        def position(line: int, column: int) -> types.Position:
            place = types.Position(max(line - 1, 0), max(column - 1, 0))
            return self._codec.position_to_client_units(lines, place) if place.line < len(lines) else place

        return types.Range(position(at.line, at.column), position(at.end_line, at.end_column))

    def location(self, at: Location) -> types.Location:
        """A place in its document."""
        return types.Location(self.uri(at), self.range(at))


def of_runs(runs: Iterable[Run], places: Places) -> dict[str, list[types.Diagnostic]]:
    """By document, its diagnostics; a finding that several runs have counts once."""
    found: dict[str, dict[tuple[str, Location], types.Diagnostic]] = {}
    for run in runs:
        for one in run.report.findings:
            known = found.setdefault(places.uri(one.location), {})
            known.setdefault((one.rule, one.location), of_finding(one, places))
        for left in run.report.unchecked:
            at = Location(left.path, 1, 1, 1, 1)
            found.setdefault(places.uri(at), {}).setdefault((left.reason, at), _of_unchecked(left))
    return {uri: list(known.values()) for uri, known in sorted(found.items())}


def of_finding(found: Finding, places: Places) -> types.Diagnostic:
    """The diagnostic of a finding: its message, when it holds, and what to do."""
    when = conditions(found)
    told = one_line(found.message) + (f" (when {when})" if when else "")
    remedy = f"\nfix: {one_line(found.remedy)}" if found.remedy else ""
    return types.Diagnostic(
        range=places.range(found.location),
        message=told + remedy,
        severity=_SEVERITIES[found.severity],
        code=found.rule,
        source=SOURCE,
        related_information=[
            types.DiagnosticRelatedInformation(places.location(one.location), one_line(one.note))
            for one in found.related
        ],
        data={"fingerprint": found.fingerprint},
    )


def _of_unchecked(left: Unchecked) -> types.Diagnostic:
    start = types.Position(0, 0)
    return types.Diagnostic(
        range=types.Range(start, start), message=f"not checked: {one_line(left.reason)}",
        severity=types.DiagnosticSeverity.Error, code=UNCHECKED, source=SOURCE,
    )  # fmt: skip


def lines_of(buffers: Mapping[Path, str]) -> Lines:
    """The lines of files: those in the editor, else those on disk; each file is read once."""
    known: dict[str, list[str]] = {}

    def lines(at: Location) -> Sequence[str]:
        if at.in_cell:
            return ()
        if at.path not in known:
            path = absolute(at.path)
            text = buffers.get(path)
            if text is None:
                try:
                    text = path.read_text("utf-8", "replace")
                except OSError:
                    text = ""
            known[at.path] = text.splitlines(keepends=True)
        return known[at.path]

    return lines
