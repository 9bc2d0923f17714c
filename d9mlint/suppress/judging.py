"""Which findings the comments take away, and what is wrong with the comments themselves."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from d9mlint.model import Finding, Location, Remedy, Rule, fingerprinted
from d9mlint.suppress.comments import FORM, Suppression


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
