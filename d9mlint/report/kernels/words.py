"""What the reports about kernel sources say alike."""

from __future__ import annotations

from collections import Counter

from d9mlint.model import GUARD_LEVELS, VERDICTS, Guard, KernelOp, KernelReport, KernelScan, LibraryCall, Location, Site
from d9mlint.report.words import count, listing, one_line

MOST = 5
"""Names listed before it is said how many more there are."""
VERDICT_WORDS = {
    "yes": "can vary",
    "conditional": "can vary under a condition",
    "depends": "depends on its use",
    "unknown": "unknown",
    "no": "cannot vary",
}
_GUARDS = {
    "none": "nothing: the kernel runs in deterministic mode too",
    "unknown": "not known: a binary does not show what deterministic mode does before the kernel",
    "other-path": "takes another way in deterministic mode",
    "throws": "refuses to run in deterministic mode",
}


def guard(given: Guard) -> str:
    """What deterministic mode does, and where that is written."""
    where = f" ({given.where.path}:{given.where.line})" if given.where is not None else ""
    if given.switch:
        default = f", which is `{given.default}` by default" if given.default else ""
        also = "" if given.level == "none" else f"; {_GUARDS[given.level]}"
        return f"takes another way with `{given.switch}`{default}{also}{where}"
    return _GUARDS[given.level] + where


def op_title(op: KernelOp) -> str:
    """``gradient of X`` for what computes one, and the names under which Python meets it."""
    parts = [
        part for part in (op.framework, op.direction if op.direction != "both" else "forward and backward") if part
    ]
    if op.gradient_of:
        parts.append(f"gradient of {listing(op.gradient_of, MOST)}")
    return ", ".join(parts)


def headline(report: KernelReport) -> str:
    """``3 unguarded sites that can vary in 2 ops``."""
    sites = report.open_sites
    if report.build:
        return _candidates(report)
    if not sites:
        return f"no unguarded site that can vary{' in what was looked at' if report.scan.skipped else ''}"
    ops = {name for site in sites for name in site.ops}
    text = f"{count(len(sites), 'unguarded site')} that can vary"
    without = sum(not site.ops for site in sites)
    if not ops:
        return f"{text}; no op was found that reaches them"
    rest = f" ({without} of them reached by no op that was found)" if without else ""
    return f"{text} in {count(len(ops), 'op')}{rest}"


def _candidates(report: KernelReport) -> str:
    """What a build holds: candidates, since a binary proves nothing."""
    sites = [site for site in report.scan.sites if site.can_vary]
    ops = {name for site in sites for name in site.ops}
    kernels = {site.function for site in sites}
    listed = f" of {count(len(ops), 'op')} and of kernels without a known op" if ops else ""
    listed = f" of {count(len(ops), 'op')}" if ops and all(site.ops for site in sites) else listed
    left = report.report.unchecked
    if left and not report.scan.sites:
        first = left[0].reason.partition(" (")[0]
        return f"{report.build}: no kernel could be read: {first}"
    if left:
        rest = f"; {count(len({one.path for one in left}), 'file')} not wholly read"
        return f"{report.build}: {count(len(kernels), 'kernel')}{listed} may vary among what was read{rest}"
    return f"{report.build}: {count(len(kernels), 'kernel')}{listed} may vary (candidates: a binary is no proof)"


def tally(report: KernelReport) -> str:
    """``2 can vary, 1 unknown``: the sites by verdict."""
    found = Counter(site.verdict for site in report.scan.sites)
    return ", ".join(f"{found[verdict]} {VERDICT_WORDS[verdict]}" for verdict in VERDICTS if found[verdict])


def guarded(report: KernelReport) -> str:
    """The sites that can vary by what deterministic mode does about them."""
    found = Counter(site.guard.level for site in report.scan.sites if site.can_vary)
    words = {"none": "unguarded", "unknown": "of unknown guard", "other-path": "with another path", "throws": "refused"}
    return ", ".join(f"{found[level]} {words[level]}" for level in GUARD_LEVELS if found[level])


def skipped(scan: KernelScan) -> str:
    """``3 files: atomics of Metal are not looked at (a.metal, ...)``."""
    by_reason: dict[str, list[str]] = {}
    for one in scan.skipped:
        by_reason.setdefault(one.reason, []).append(one.path)
    told = [f"{_counted(paths)} ({listing(paths, MOST)}): {why}" for why, paths in by_reason.items()]
    return "; ".join(told)


def _counted(paths: list[str]) -> str:
    return count(len(paths), "folder" if all(path.endswith("/") for path in paths) else "file")


def kind_of(one: Site | LibraryCall) -> str:
    """Class, form and type in a few words."""
    if isinstance(one, LibraryCall):
        return "library call"
    words = [one.class_, *([one.form] if one.form != "direct" else [])]
    if one.target_type:
        words.append(f"on {one_line(one.target_type)}")
    if one.memory == "shared":
        words.append("in shared memory")
    return ", ".join(words)


def at(location: Location) -> str:
    """``path:line``."""
    return f"{location.path}:{location.line}"
