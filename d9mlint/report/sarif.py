"""SARIF 2.1.0 for code-scanning services: relative paths only, no times.

https://docs.oasis-open.org/sarif/sarif/v2.1.0/sarif-v2.1.0.html
"""

from __future__ import annotations

from itertools import groupby
from urllib.parse import quote_from_bytes

from d9mlint import __version__
from d9mlint.model import Edit, Finding, Fix, Location, Related, Report, Rule, Unchecked
from d9mlint.report.json_ import Json, backing_of, changed_of, dump, target_of
from d9mlint.report.targets import groups
from d9mlint.report.words import conditions, one_line, unique

SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
HOME = "https://github.com/d9mlint/d9mlint"
_ROOT = "%SRCROOT%"
_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_PROBLEMS = {"error": "error", "warning": "warning", "info": "recommendation"}


def render(report: Report) -> str:
    """One run with the rules, results, and what could not be checked."""
    rules = _rules(report)
    index = {str(rule["id"]): number for number, rule in enumerate(rules)}
    driver = {
        "name": "d9mlint",
        "version": __version__,
        "semanticVersion": __version__,
        "informationUri": HOME,
        "rules": rules,
    }
    run: Json = {
        "tool": {"driver": driver},
        "invocations": [_invocation(report.unchecked)],
        "originalUriBaseIds": {_ROOT: {"description": {"text": "The directory in which d9mlint was run."}}},
        "columnKind": "unicodeCodePoints",
        "results": [_result(finding, index[finding.id]) for finding in report.findings],
        "properties": {
            "target": target_of(report),
            "entries": list(report.entries),
            "files": report.files,
            **({"changed": changed_of(report.changed)} if report.changed is not None else {}),
            "suppressed": report.suppressed,
            "baselined": report.baselined,
            "hidden": report.hidden,
        },
    }
    return dump({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]})


def _rules(report: Report) -> list[Json]:
    """A descriptor for each rule that found something, bare for those that the report does not describe."""
    targets = [group.target for group in groups(report)]
    used = {finding.rule for finding in report.findings}
    known = {
        rule.id: _rule(rule, unique(rule.remedy(target).strip() for target in targets))
        for rule in report.rules.values()
        if rule.name in used
    }
    others = {finding.id: _bare_rule(finding) for finding in reversed(report.findings)}
    return [rule for _, rule in sorted({**others, **known}.items())]


def _rule(rule: Rule, remedies: tuple[str, ...]) -> Json:
    why = rule.why.strip() or rule.summary
    heading = [f"{rule.name}: {rule.summary}", why]
    text = "\n\n".join([*heading, *(f"Remedy: {remedy}" for remedy in remedies)])
    sources = "\n".join(f"- {source}" for source in rule.sources)
    markdown = "\n\n".join(
        [
            f"# {rule.name}",
            rule.summary,
            why,
            *(["## Remedy", *remedies] if remedies else []),
            *(["## Sources", sources] if sources else []),
        ]
    )
    return {
        "id": rule.id,
        "name": rule.name,
        "shortDescription": {"text": rule.summary},
        "fullDescription": {"text": why},
        "help": {"text": text, "markdown": markdown},
        "defaultConfiguration": {"level": _LEVELS.get(rule.severity, "warning")},
        "properties": _tags(rule),
    }


def _bare_rule(finding: Finding) -> Json:
    return {
        "id": finding.id,
        "name": finding.rule,
        "defaultConfiguration": {"level": _LEVELS.get(finding.severity, "warning")},
        "properties": _tags(finding),
    }


def _tags(of: Rule | Finding) -> Json:
    return {
        "tags": list(unique((of.hazard, of.noise))),
        "precision": of.confidence,
        "problem.severity": _PROBLEMS.get(of.severity, "warning"),
    }


def _result(finding: Finding, rule_index: int) -> Json:
    when = conditions(finding)
    result: Json = {
        "ruleId": finding.id,
        "ruleIndex": rule_index,
        "level": _LEVELS.get(finding.severity, "warning"),
        "message": {"text": one_line(finding.message) + (f" (when {when})" if when else "")},
        "locations": [_place(finding.location)],
        "partialFingerprints": {"d9mlint/v1": finding.fingerprint},
    }
    if finding.related:
        result["relatedLocations"] = [_related(related, number) for number, related in enumerate(finding.related)]
    if fixes := [_fix(fix) for fix in finding.fixes if fix.edits and not any(e.location.in_cell for e in fix.edits)]:
        result["fixes"] = fixes
    result["properties"] = {
        "confidence": finding.confidence,
        "when": list(finding.when),
        "remedy": finding.remedy,
        "entries": list(finding.entries),
        **backing_of(finding),
    }
    return result


def _place(location: Location) -> Json:
    place: Json = {"physicalLocation": {"artifactLocation": _artifact(location.path), "region": _region(location)}}
    if location.cell:
        place["logicalLocations"] = [{"name": f"cell {location.cell}", "kind": "cell"}]
    if location.in_cell:  # viewers know no cells: the region is one of the cell's text
        place["physicalLocation"] = {"artifactLocation": _artifact(location.path)}
        place["message"] = {"text": f"cell {location.cell}, line {location.line}, column {location.column}"}
    return place


def _related(related: Related, number: int) -> Json:
    return {"id": number, **_place(related.location), "message": {"text": one_line(related.note)}}


def _region(location: Location) -> Json:
    return {
        "startLine": location.line,
        "startColumn": location.column,
        "endLine": location.end_line,
        "endColumn": location.end_column,
    }


def _artifact(path: str) -> Json:
    """A relative reference; a path that leads elsewhere has no base (it would not be below it)."""
    try:
        raw = path.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        raw = path.encode("utf-8", "surrogatepass")
    uri = quote_from_bytes(raw, safe="/")
    return {"uri": uri} if path.startswith("/") else {"uri": uri, "uriBaseId": _ROOT}


def _fix(fix: Fix) -> Json:
    by_path = groupby(sorted(fix.edits), key=lambda edit: edit.location.path)
    changes = [
        {"artifactLocation": _artifact(path), "replacements": [_replacement(edit) for edit in edits]}
        for path, edits in by_path
    ]
    return {
        "description": {"text": one_line(fix.message)},
        "artifactChanges": changes,
        "properties": {"safe": fix.safe},
    }


def _replacement(edit: Edit) -> Json:
    return {"deletedRegion": _region(edit.location), "insertedContent": {"text": edit.text}}


def _invocation(unchecked: tuple[Unchecked, ...]) -> Json:
    notes: list[Json] = [
        {
            "level": "error",
            "message": {"text": f"not checked: {one_line(one.reason)}"},
            "locations": [{"physicalLocation": {"artifactLocation": _artifact(one.path)}}],
        }
        for one in unchecked
    ]
    return {"executionSuccessful": not notes, "toolExecutionNotifications": notes}
