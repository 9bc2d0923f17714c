"""Evidence on kernels: what was run, what it says of the sites of a scan, and the atomics in their PTX."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from d9mlint.model import OUTCOMES, Evidence, EvidenceReport, UsageError
from d9mlint.model.emulation import KernelEvidence, PtxAtomics, SiteEvidence
from d9mlint.model.evidence import CONFIRMED, EMULATED, HARNESS, NOT_REPRODUCED, UNTESTED
from d9mlint.report.evidence import json_
from d9mlint.report.evidence.record import dated
from d9mlint.report.json_ import Json, dump
from d9mlint.report.lines import NARROWEST, Line, hanging, item, joined, labelled, place
from d9mlint.report.words import count, listing, one_line, printable, share

_STYLES = {CONFIRMED: "bold red", EMULATED: "bold red", HARNESS: "bold magenta"}


_MOST_PLACES = 6
"""Of a group; JSON has all of them."""


def data(report: KernelEvidence) -> Json:
    """The report of ``verify`` with the key ``kernels``: the probes, the sites with their evidence, the PTX."""
    return {
        **json_.data(report.evidence),
        "kernels": {
            "probes": list(report.probes),
            "sites": [_site(one) for one in report.sites],
            "ptx": [_ptx(one) for one in report.ptx],
        },
    }


def record(report: KernelEvidence) -> str:
    """The evidence to be kept, with its date and label."""
    return dated(data(report), report.evidence)


def render(report: KernelEvidence, format: str, *, color: bool = False, width: int = 100) -> str:
    """``report`` as ``text`` or ``json``.

    Raises:
        UsageError: another format.
    """
    if format == "json":
        return dump(data(report))
    if format != "text":
        raise UsageError(f"--kernels has no {format} report: choose text or json")
    return joined(_lines(report, max(width, NARROWEST)), color=color)


def _site(one: SiteEvidence) -> Json:
    site = one.site
    return {
        "path": site.location.path, "line": site.location.line, "column": site.location.column,
        "function": site.function, "class": site.class_, "verdict": site.verdict,
        "probe": one.probe or None, "kernels": list(one.launches),
    }  # fmt: skip


def _ptx(one: PtxAtomics) -> Json:
    entries = [{"entry": name, "instructions": dict(seen)} for name, seen in one.entries]
    return {"path": one.source, "entries": entries, "problem": one.problem or None}


def _lines(report: KernelEvidence, width: int) -> Iterator[Line]:
    found = {one.case.op: one for one in report.evidence.evidence}
    own = [one for one in report.evidence.evidence if one.case.op not in report.probes]
    probes = [one for one in report.evidence.evidence if one.case.op in report.probes]
    for one in own:
        yield from _own(one, width)
    if probes:
        yield (("Probes: the same operation in a kernel of d9mlint's own", "bold"),)
        for one in probes:
            yield from _probe(one, width)
        yield ()
    yield from _sites(report.sites, found, width)
    for file in report.ptx:
        yield from _instructions(file, width)
    yield from _summary(report.evidence, width)


def _own(one: Evidence, width: int) -> Iterator[Line]:
    where = ", ".join(part for part in (one.device, one.case.dtype, one.case.execution) if part)
    yield (
        (one.verdict, _STYLES.get(one.verdict, "bold")),
        (" ", ""),
        (printable(one.case.op), "bold"),
        (f" [{where}]", "dim"),
    )
    yield from labelled("ran", one_line(one.case.run), width)
    yield from labelled("runs", _runs(one), width)
    for site in one.findings:
        yield from labelled("site", site, width)
    yield from labelled("note", one_line(one.note), width)
    yield ()


def _probe(one: Evidence, width: int) -> Iterator[Line]:
    words = _runs(one) or one_line(one.note)
    text = f"{one.case.op}: {one.verdict}{f', {words}' if words else ''}"
    yield from hanging(text, width)


def _runs(one: Evidence) -> str:
    """What was seen; empty where nothing was run."""
    if not one.runs:
        return ""
    noun = "schedule" if one.case.execution == "emulated" else "run"
    if not one.differing:
        bound = "" if one.bound is None else f" (at most {share(one.bound)} differ with 95 % confidence)"
        return f"the same bits in {count(one.runs, noun)}{bound}"
    far = (
        "" if one.max_relative is None else f", up to {one.max_ulp} ULP, {one.max_relative:.1e} of the largest element"
    )
    return f"{one.differing} of {one.runs} {noun}s differ ({one.distinct} distinct){far}"


def _sites(sites: tuple[SiteEvidence, ...], found: dict[str, Evidence], width: int) -> Iterator[Line]:
    """Those with evidence of their own one by one, the others by what their probe has shown."""
    if not sites:
        return
    yield (("Sites", "bold"),)
    groups: dict[str, list[str]] = {}
    for one in sites:
        kind = f"{one.site.class_}, can vary: {one.site.verdict}"
        probe = f"probe {one.probe}: {found[one.probe].verdict}" if one.probe in found else "no probe for it"
        seen = [f"{name}: {found[name].verdict}" for name in one.launches if name in found]
        if seen:
            yield from hanging(f"{place(one.site.location)} {kind}; this kernel: {'; '.join(seen)}; {probe}", width)
        else:
            groups.setdefault(f"{kind}; {probe}", []).append(place(one.site.location))
    if groups:
        alone = count(sum(map(len, groups.values())), "site")
        yield ((f"  {alone} without evidence of {'its' if alone == '1 site' else 'their'} own (--spec gives it):", ""),)
    for kind, places in sorted(groups.items()):
        yield from hanging(f"{kind}; {count(len(places), 'site')}: {listing(places, _MOST_PLACES)}", width)
    yield ()


def _instructions(file: PtxAtomics, width: int) -> Iterator[Line]:
    if file.problem or not file.entries:
        words = one_line(file.problem) or "no atomic instruction"
        yield from hanging(f"PTX of {printable(file.source)}: {words}", width)
        return
    yield ((f"PTX of {printable(file.source)}", "bold"),)
    for name, seen in file.entries:
        words = ", ".join(f"{number} x {op}" for op, number in seen)
        yield from hanging(f"{one_line(name)}: {words}", width)
    yield ()


def _summary(report: EvidenceReport, width: int) -> Iterator[Line]:
    seen = Counter(one.verdict for one in report.evidence)
    parts = [f"{seen[verdict]} {verdict}" for verdict in OUTCOMES if seen[verdict]]
    text = f"{count(len(report.evidence), 'kernel')}: {', '.join(parts)}" if parts else "Nothing was executed."
    yield ((text, "bold"),)
    if any(one.verdict in (EMULATED, NOT_REPRODUCED) and one.case.execution == "emulated" for one in report.evidence):
        yield from item(
            "emulated", "other schedules than these are possible on a GPU, and some of these are not", width
        )
    if seen[UNTESTED]:
        yield from item("untested", next(one.note for one in report.evidence if one.verdict == UNTESTED), width)
    for file in report.unchecked:
        yield from item("not checked", f"{printable(file.path)}: {one_line(file.reason)}", width)
    if report.stopped:
        yield (
            (f"  partial report, {report.stopped}: {count(len(report.unfinished), 'kernel')} not executed", "bold red"),
        )
