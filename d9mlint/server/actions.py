"""What can be done about a diagnostic: a fix, or a comment that suppresses it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from difflib import SequenceMatcher

from lsprotocol import types

from d9mlint import suppress
from d9mlint.model import Edit, Finding, Fix, Location, Report
from d9mlint.report.summary import may_be_fixed
from d9mlint.server.diagnostics import Lines, Places, of_finding

FIX_ALL = f"{types.CodeActionKind.SourceFixAll.value}.d9mlint"
REASON = "TODO: say why this may vary"
_NAMES = re.compile(r"(d9m:\s*ignore\[)([^\]]*)(\])")


def quick_fixes(found: Finding, report: Report, places: Places, lines: Lines) -> Iterator[types.CodeAction]:
    """The actions for one finding, what is safe first; those without an edit are worked out when they are chosen."""
    diagnostics = [of_finding(found, places)]
    own = sorted(
        (fix for fix in found.fixes if not any(e.location.in_cell for e in fix.edits)), key=lambda f: not f.safe
    )
    for fix in own:
        yield types.CodeAction(
            title=f"{fix.message}{'' if fix.safe else ' (changes what the program does)'}",
            kind=types.CodeActionKind.QuickFix, diagnostics=diagnostics, edit=_edit(fix, places), is_preferred=fix.safe,
        )  # fmt: skip
    cure = report.rules[found.rule].cure if found.rule in report.rules else {}
    if not own and not found.location.in_cell and (cure or may_be_fixed(found, report)):
        safe = may_be_fixed(found, report)
        yield types.CodeAction(
            title=f"Cure {found.rule}{'' if safe else ' (may change speed or behaviour)'}",
            kind=types.CodeActionKind.QuickFix, diagnostics=diagnostics, is_preferred=safe,
            data={"fingerprints": [found.fingerprint], "unsafe": not safe},
        )  # fmt: skip
    edit = suppression(found, lines(found.location))
    if edit is not None:
        yield types.CodeAction(
            title=f"Suppress {found.rule} here", kind=types.CodeActionKind.QuickFix, diagnostics=diagnostics,
            edit=_edit(Fix("", (edit,)), places),
        )  # fmt: skip


def fix_all(report: Report, uri: str, places: Places) -> types.CodeAction | None:
    """All safe fixes of the findings in a document; None where there are none."""
    own = (found for found in report.findings if places.uri(found.location) == uri and not found.location.in_cell)
    fingerprints = [found.fingerprint for found in own if may_be_fixed(found, report)]
    if not fingerprints:
        return None
    data = {"fingerprints": fingerprints, "unsafe": False}
    return types.CodeAction(title="Apply all safe fixes of d9mlint", kind=FIX_ALL, data=data)


def suppression(found: Finding, lines: Sequence[str]) -> Edit | None:
    """The edit that suppresses a finding by a comment of its own on the line above, or by its name in one there.

    None where no comment can stand there.
    """
    at = found.location
    form = suppress.form(at.path)
    if not form or not 1 <= at.line <= len(lines):
        return None
    above = lines[at.line - 2].rstrip("\r\n") if at.line > 1 else ""
    if (known := _NAMES.search(above)) and above.lstrip().startswith(form[:1]):
        place = Location(at.path, at.line - 1, known.end(2) + 1, at.line - 1, known.end(2) + 1)
        return Edit(place, f", {found.rule}")
    if above.endswith("\\"):
        return None
    text = lines[at.line - 1]
    indent = text[: len(text) - len(text.lstrip())]
    comment = form.replace("name", found.rule).replace("reason", REASON)
    ending = "\r\n" if text.endswith("\r\n") else "\n"
    return Edit(Location(at.path, at.line, 1, at.line, 1), f"{indent}{comment}{ending}")


def _edit(fix: Fix, places: Places) -> types.WorkspaceEdit:
    changes: dict[str, list[types.TextEdit]] = {}
    for edit in fix.edits:
        changes.setdefault(places.uri(edit.location), []).append(
            types.TextEdit(places.range(edit.location), edit.text)
        )  # fmt: skip
    return types.WorkspaceEdit(changes=changes)


def between(before: Mapping[str, bytes], after: Mapping[str, bytes], places: Places) -> types.WorkspaceEdit:
    """The edits that make the files of ``before`` those of ``after``: whole lines."""
    changes: dict[str, list[types.TextEdit]] = {}
    for path, data in sorted(after.items()):
        old = before[path].decode("utf-8", "replace").splitlines(keepends=True)
        new = data.decode("utf-8", "replace").splitlines(keepends=True)
        for tag, i1, i2, j1, j2 in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if tag != "equal":
                place = types.Range(types.Position(i1, 0), types.Position(i2, 0))
                uri = places.uri(Location(path, 1, 1, 1, 1))
                changes.setdefault(uri, []).append(types.TextEdit(place, "".join(new[j1:j2])))
    return types.WorkspaceEdit(changes=changes)
