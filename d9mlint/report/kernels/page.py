"""The report about kernel sources as one HTML file: a table that sorts and filters, with excerpts and chains.

It needs no server and no network; whatever comes from the sources is escaped, and the page may load nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from d9mlint.model import GUARD_LEVELS, VERDICTS, KernelOp, KernelReport, LibraryCall, Location, Site
from d9mlint.report import html
from d9mlint.report.excerpt import ShownLine, around, source_lines
from d9mlint.report.kernels.words import VERDICT_WORDS, at, guard, guarded, headline, op_title, tally
from d9mlint.report.words import count, one_line

_TEMPLATE = "kernels/page.html.j2"
_GUARD_WORDS = {"none": "none", "unknown": "unknown", "other-path": "other path", "throws": "throws"}


class Row(NamedTuple):
    """A site or a library call as the page shows it; ``key`` is its anchor."""

    key: str
    file: str
    """The file's name and the line."""
    folder: str
    order: str
    """What sorting by place compares."""
    function: str
    name: str
    kind: str
    type: str
    verdict: str
    rank: int
    reason: str
    guard: str
    guard_text: str
    silenced: bool
    ops: tuple[str, ...]
    facts: tuple[tuple[str, str], ...]
    lines: tuple[ShownLine, ...]


class OpRow(NamedTuple):
    """An op as the page shows it."""

    name: str
    about: str
    python: tuple[str, ...]
    guard: str
    guard_text: str
    sites: tuple[tuple[str, str], ...]
    """Anchor and place."""
    chain: tuple[tuple[str, str], ...]


def render(report: KernelReport) -> str:
    """The whole page."""
    scan = report.scan
    texts = {path: source_lines(text) for path, text in sorted(scan.sources.items())}
    rows = [_site(n, s, report, texts) for n, s in enumerate(scan.sites, 1)]
    rows += [_call(n, c, report, texts) for n, c in enumerate(scan.library_calls, 1)]
    rows.sort(key=lambda row: (row.rank, row.guard != "none", row.order))
    keys = {s.location: f"site-{n}" for n, s in enumerate(scan.sites, 1)}
    keys |= {c.location: f"call-{n}" for n, c in enumerate(scan.library_calls, 1)}
    return html.render(
        _TEMPLATE,
        headline=headline(report),
        cards=_cards(report),
        rows=rows,
        verdicts=[(v, VERDICT_WORDS[v]) for v in VERDICTS if any(row.verdict == v for row in rows)],
        guards=[(g, _GUARD_WORDS[g]) for g in GUARD_LEVELS if g != "unknown" or report.build],
        kinds=sorted({row.kind for row in rows}),
        ops=[_op(op, keys) for op in scan.ops],
        anchors={op.name: f"op-{n}" for n, op in enumerate(scan.ops, 1)},
        findings=[f for f in report.report.findings if f.hazard == "suppression"],
        unchecked=report.report.unchecked,
        skipped=scan.skipped,
        at=at,
        words=VERDICT_WORDS,
    )


def _cards(report: KernelReport) -> list[tuple[str, str, str]]:
    """Number, what it counts, and more about it."""
    scan = report.scan
    open_ops = {name for site in report.open_sites for name in site.ops}
    return [
        (str(len(report.open_sites)), "unguarded sites that can vary", guarded(report)),
        (str(len(open_ops)), "ops that reach them", f"{count(len(scan.ops), 'op')} in all"),
        (str(len(scan.sites)), "atomic operations", tally(report)),
        (str(len(scan.library_calls)), "library calls", "documented to vary, or perhaps"),
        (str(scan.files), "files scanned", f"{len(report.report.unchecked)} not checked"),
    ]


def _site(number: int, site: Site, report: KernelReport, texts: dict[str, list[str]]) -> Row:
    facts = [
        ("form", site.form),
        ("intrinsic", site.intrinsic),
        ("implements", site.implements),
        ("old value", site.return_use),
        ("memory", site.memory),
        ("scope", site.scope),
        ("function", site.qualifier),
    ]
    return _row(
        f"site-{number}", site, site.atomic, site.class_, site.target_type, facts, report, texts,
    )  # fmt: skip


def _call(number: int, call: LibraryCall, report: KernelReport, texts: dict[str, list[str]]) -> Row:
    return _row(f"call-{number}", call, call.name, "library call", "", [("rule", call.rule)], report, texts)


def _row(
    key: str, one: Site | LibraryCall, name: str, kind: str, type_: str, facts: list[tuple[str, str]],
    report: KernelReport, texts: dict[str, list[str]],
) -> Row:  # fmt: skip
    place = one.location
    return Row(
        key=key, file=at(place).rpartition("/")[2], folder=place.path.rpartition("/")[0],
        order=f"{place.path}:{place.line:09}:{place.column:06}",
        function=one_line(one.function),
        name=one_line(name), kind=kind, type=one_line(type_), verdict=one.verdict, rank=VERDICTS.index(one.verdict),
        reason=one.reason, guard=one.guard.level, guard_text=guard(one.guard),
        silenced=place in report.silenced, ops=one.ops, facts=tuple((k, v) for k, v in facts if v),
        lines=around(place, texts.get(place.path, [])),
    )  # fmt: skip


def _op(op: KernelOp, keys: dict[Location, str]) -> OpRow:
    return OpRow(
        name=op.name,
        about=op_title(op),
        python=op.python,
        guard=op.guard.level,
        guard_text=guard(op.guard),
        sites=tuple((keys.get(location, ""), at(location)) for location in op.sites),
        chain=tuple((at(step.location), one_line(step.text)) for step in op.chain),
    )
