"""What a report says of its findings as a whole: the headline and the facts below it, alike in text and on a page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from d9mlint.model import NOISES, SEVERITIES, Changed, Coverage, Finding, Launch, Report
from d9mlint.report.words import count, is_of_generator, one_line, printable, unique

_UNSEEDED = "unseeded-"
"""How the cause is called whose cure is a seed."""
_DEFAULTS = (" is not given", " is not set", "(the default)", " is started")
TRIED = "nothing of what is computed (a self-test that builds, runs and asserts), so nothing that varies matters"
NO_PROGRAM = "no script that starts a program was found, only modules were looked at: name a script to follow it"
IDLE = "nothing that a rule is about (no generator, framework or setting), so no calls are followed"
_NOISE_WORDS = {"algo": "random choices", "impl": "implementation"}


def headline(report: Report, where: str = "see --verbose") -> str:
    """How many findings there are of each severity, and what is not seeded; ``where`` tells where calls are listed."""
    if not report.findings:
        if report.changed is not None and not report.files and not report.unchecked:
            return "Nothing was judged: no file that is checked has changed."
        calls = unfollowed(report)
        but = f" ({calls}: {where})" if calls else ""
        if not report.entries and report.files:
            but = f" ({NO_PROGRAM})"
        return f"No findings in what could be checked{but}." if report.unchecked else f"No findings{but}."
    found = Counter(finding.severity for finding in report.findings)
    parts = [
        f"{found[severity]} info" if severity == "info" else count(found[severity], severity)
        for severity in reversed(SEVERITIES)
        if found[severity]
    ]
    return f"{count(len(report.findings), 'finding')}: {', '.join(parts)}{_unseeded(report)}"


def _unseeded(report: Report) -> str:
    """Which programs draw from generators that nothing seeds when they are run without any flag."""
    found = (
        one for one in report.findings if one.cause.startswith(_UNSEEDED) and one.concerns and one.severity != "info"
    )
    programs = unique(entry for one in found if _unasked(one) for entry in one.entries)
    if not programs:
        return ""
    named = f"`{printable(programs[0])}`" + (f" and of {len(programs) - 1} more" if len(programs) > 1 else "")
    return f"; the default run of {named} is not seeded"


def _unasked(found: Finding) -> bool:
    """Whether a program without any flag has a finding, of one of several generators at least."""
    of_generators = [condition for condition in found.when if is_of_generator(condition)]
    others = (condition for condition in found.when if condition not in of_generators)
    return all(map(by_default, others)) and (not of_generators or any(map(by_default, of_generators)))


def by_default(condition: str) -> bool:
    """Whether a condition holds where no flag is given, as far as its words say."""
    return condition.endswith(_DEFAULTS)


def totals(report: Report) -> list[str]:
    """What else is of interest besides the number of findings, in a few words each."""
    may = fixable(report)
    calls = unfollowed(report) if report.findings else ""
    programs = f"{count(len(report.entries), 'program')} in " if report.entries else ""
    found = [
        f"{programs}{count(report.files, 'file')}" if report.files or programs else "",
        f"up to {may} can be fixed by --fix" if may else "",
        not_shown(report),
        f"{calls} (--verbose)" if calls else "",
    ]
    return [part for part in found if part]


def coverage(report: Report) -> str:
    """How much of the programs was seen to run: of all entries together."""
    found = [one for one in report.coverage.values() if one.interpreted]
    idle = len(report.coverage) - len(found)
    programs = "the program holds" if len(report.coverage) == 1 else f"{idle} of {len(report.coverage)} programs hold"
    tried = sum(not one.kept for one in found)
    parts = [
        unfollowed(report),
        f"{programs} {IDLE}" if idle else "",
        f"{count(tried, 'program')} {'keeps' if tried == 1 else 'keep'} {TRIED}" if tried else "",
    ]
    if functions := sum(one.functions for one in found):
        called = functions - sum(sum(one.uncalled.values()) for one in found)
        entries = f", counted for each of {len(found)} entries" if len(found) > 1 else ""
        parts.insert(0, f"{called} of {functions} functions are seen to be called{entries}")
    return "; ".join(filter(None, parts))


def unfollowed(report: Report) -> str:
    """How many calls could not be followed; empty where all could."""
    number = sum(len(one.unfollowed) for one in report.coverage.values())
    return f"{count(number, 'call')} could not be followed" if number else ""


def changed(one: Changed | None) -> str:
    """What the run was limited to; empty where it was not."""
    if one is None:
        return ""
    if not one.since:
        return "nothing is staged, so everything is judged"
    number = one.entries - one.left_out
    entries = f"{number} of {one.entries} {'entry' if one.entries == 1 else 'entries'}"
    files = count(len(one.files), "file")
    what = f"a staged file ({files})" if one.staged else f"a changed file ({files} since {printable(one.since)})"
    left = f"; {one.left_out} left out" if one.left_out else ""
    return f"{entries} {'reaches' if number == 1 else 'reach'} {what}{left}"


def coverage_of(one: Coverage) -> str:
    """How much of one program was seen to run."""
    files = count(one.files, "file")
    if not one.interpreted:
        return f"{files} with {IDLE}"
    called = one.functions - sum(one.uncalled.values())
    coarse = (
        f"; {count(one.coarse, 'condition')} too large to be told apart, so `when` may say too much"
        if one.coarse
        else ""
    )
    return f"{called} of {one.functions} functions in {files} are seen to be called{coarse}"


def noise(findings: Iterable[Finding]) -> str:
    """How many findings are of which kind of randomness."""
    found = Counter(finding.noise for finding in findings)
    return ", ".join(f"{found[noise]} {noise} ({_NOISE_WORDS[noise]})" for noise in NOISES if found[noise])


def evidence(findings: Iterable[Finding]) -> str:
    """How far the evidence that the user named bears on the findings."""
    given = [finding for finding in findings if any(not one.record.own for one in finding.evidence)]
    confirmed = sum(finding.confirmed for finding in given)
    parts = ((confirmed, "confirmed"), (len(given) - confirmed, "not confirmed by the evidence about their ops"))
    return ", ".join(f"{number} {what}" for number, what in parts if number)


def may_be_fixed(finding: Finding, report: Report) -> bool:
    """Whether a safe fix may cure it; to find out for sure takes another check."""
    safe = any(fix.safe for fix in finding.fixes) or finding.cause.startswith(_UNSEEDED)
    return safe or bool(finding.rule in report.rules and report.rules[finding.rule].cure.get("safe"))


def fixable(report: Report) -> int:
    """How many findings a safe fix may cure."""
    return sum(may_be_fixed(finding, report) for finding in report.findings)


def launched(launch: Launch) -> str:
    """``scripts/run.sh:12 with PYTHONHASHSEED=0``."""
    known = [f"{v.name}={'?' if v.value is None else v.value}" for v in launch.environment]
    return one_line(launch.place + (f" with {', '.join(known)}" if known else ""))


def not_shown(report: Report) -> str:
    parts = (
        (report.suppressed, "suppressed"),
        (report.baselined, "in the baseline"),
        (report.hidden, "hidden (low confidence)"),
    )
    return ", ".join(f"{number} {what}" for number, what in parts if number)
