"""The patch of what a check has found, proven before it is written.

The programs are checked again, in memory, with the patched files. What does not remove its finding, or brings another
one, is tried in the other ways there are and else left out, with the reason.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple

from d9mlint.app.causes import ALSO
from d9mlint.app.options import Options
from d9mlint.app.programs import checked
from d9mlint.model import Finding, Fix, Report
from d9mlint.report.words import first_sentence

if TYPE_CHECKING:
    from d9mlint.app.sources import Sources
    from d9mlint.fix.patches import Part

_TRIES = 16
"""Checks of patched programs at most; what is not proven by then is not written."""
_SUSPECTS = 5
"""Patches of a file that are left out one by one at most, to find the one that brings a new finding."""
_UNPROVEN = "a patch did not remove it, or brought another finding"
Told = tuple[str, str, str]
"""What a finding says, wherever it has moved: its rule, its file, its message without numbers."""


class Cure(NamedTuple):
    """Patched files, what they cure, and what is left with the reason."""

    sources: Mapping[str, bytes]
    cured: tuple[Finding, ...]
    left: tuple[tuple[Finding, str], ...]
    unsafe: int
    """Findings for which there is only a patch that changes the speed or behaviour of the program."""
    refused: tuple[tuple[str, str], ...]
    fixes: Mapping[Finding, Fix] = MappingProxyType({})
    """What cures each finding by itself."""
    changing: tuple[Finding, ...] = ()
    """The findings whose cure changes more than that the program can be repeated: its speed, behaviour or flags."""
    again: bool = False
    """Whether ways have failed that may do beside what is patched now."""


def cure(
    options: Options, before: Report, sources: Sources, overlay: Mapping[str, bytes] = MappingProxyType({}),
    wanted: Callable[[Finding], bool] = lambda found: True,
) -> Cure:  # fmt: skip
    """The patched files that are proven to cure: found by trying the ways there are for each ``wanted`` finding."""
    from d9mlint.app.sources import alone, plan
    from d9mlint.app.sources import patched as with_parts

    planned = plan(before._replace(findings=tuple(filter(wanted, before.findings))), sources)
    trial = _Trial(planned.ways, unsafe=options.unsafe_fixes)
    patched: dict[str, bytes] = {}
    refused: tuple[tuple[str, str], ...] = ()
    for _ in range(_TRIES):
        patched, refused, unmade = with_parts(trial.parts(), sources, sorted(trial.early))
        while unmade:
            trial.next(unmade)
            patched, refused, unmade = with_parts(trial.parts(), sources, sorted(trial.early))
        if not patched:
            break
        report = checked(options._replace(write_baseline=None), {**overlay, **patched}).report
        parts = [part for part in trial.parts() if part.path in patched]
        still, fresh = _still(parts, before, report), _fresh(before, report, patched)
        if not still and not fresh:
            break
        trial.next((part, _UNPROVEN) for part in still)
        for path in sorted(fresh.keys() - {part.path for part in still}):
            trial.less(path, fresh[path])
    else:
        patched = {}
    made: dict[Finding, list[Part]] = {}
    for part in trial.parts():
        if part.path in patched:
            made.setdefault(part.finding, []).append(part)
    failed = dict(trial.left(made))
    left = {**dict(planned.without), **failed}
    fixes = {
        found: Fix(first_sentence(found.remedy), edits, all(part.safe for part in parts))
        for found, parts in (made.items() if options.fixes else ())
        if (edits := alone(parts, sources, sorted(trial.early)))
    }
    changing = tuple(found for found, parts in made.items() if not all(part.safe for part in parts))
    return Cure(
        patched, tuple(made), tuple(left.items()), trial.only_unsafe, refused, fixes, changing, bool(patched and failed)
    )


def files(found: Finding, sources: Iterable[str]) -> set[str]:
    """The patched files that a finding may be cured by."""
    return {*found.entries, found.location.path}.intersection(sources)


class _Suspicion(NamedTuple):
    """New findings of a file, the part that is left out to see whether it brings them, and those that come next."""

    brought: frozenset[Told]
    part: Part | None
    others: Sequence[Part]


class _Trial:
    """Which parts of which ways are tried: for each finding the first way that has not failed."""

    def __init__(self, ways: Mapping[Finding, Sequence[Sequence[Part]]], *, unsafe: bool) -> None:
        allowed = {
            found: [way for way in each if unsafe or all(part.safe for part in way)] for found, each in ways.items()
        }
        self._ways = {found: each for found, each in allowed.items() if each}
        self.only_unsafe = len(allowed) - len(self._ways)
        self._dropped: set[Part] = set()
        self._reasons: dict[Finding, str] = {}
        self._suspected: dict[str, _Suspicion] = {}
        self.early: set[str] = set()
        """Files whose statements go before the imports that may draw."""

    def parts(self) -> list[Part]:
        """The parts that are tried now."""
        return [part for each in self._ways.values() for part in self._first(each)]

    def _first(self, ways: Sequence[Sequence[Part]]) -> Sequence[Part]:
        left = ([part for part in way if part not in self._dropped] for way in ways)
        return next((parts for parts in left if parts), ())

    def next(self, failed: Iterable[tuple[Part, str]]) -> None:
        """Tries another way, as parts cannot be made or have not removed their findings: earlier, else the next."""
        late = {part.path for part in self.parts()} - self.early
        for part, reason in failed:
            if part.statements and part.own is None and part.path in late:
                self.early.add(part.path)
            else:
                self._dropped.add(part)
                self._reasons.setdefault(part.finding, reason)

    def less(self, path: str, brought: frozenset[Told]) -> None:
        """Tries a file without the part that brings new findings; where none alone does, with less of what is risky."""
        before = self._suspected.get(path)
        if before is None or not before.brought <= brought:  # (the last suspect has brought some of them)
            unsafe = [part for part in self.parts() if part.path == path and not part.safe]
            suspects: Sequence[Part] = sorted(unsafe, key=lambda part: bool(part.edits))[:_SUSPECTS]
        else:
            suspects = before.others
            if before.part is not None:
                self._dropped.discard(before.part)
                self._reasons.pop(before.part.finding, None)
        if not suspects:
            self._suspected[path] = _Suspicion(brought, None, ())
            self._fewer(path)
            return
        self._suspected[path] = _Suspicion(brought, suspects[0], suspects[1:])
        self._dropped.add(suspects[0])
        self._reasons[suspects[0].finding] = f"its patch brings {', '.join(sorted({rule for rule, *_ in brought}))}"

    def _fewer(self, path: str) -> None:
        """Tries a file without its own seed, then with statements earlier, then without what is risky."""
        there = [part for part in self.parts() if part.path == path]
        own = [part for part in there if part.own is not None]
        if own:
            self._dropped.update(own)
        elif path not in self.early and any(part.statements for part in there):
            self.early.add(path)
        elif there:
            worst = max(map(_risk, there))
            self._dropped.update(part for part in there if _risk(part) == worst)

    def left(self, removed: Iterable[Finding]) -> Iterator[tuple[Finding, str]]:
        """The findings that no way has removed, with the reason."""
        done = set(removed)
        yield from ((found, self._reasons.get(found, _UNPROVEN)) for found in self._ways if found not in done)


def _risk(part: Part) -> tuple[bool, bool]:
    """How likely it is that a part brings a new finding."""
    return not part.safe, bool(part.edits)


def _still(parts: Sequence[Part], before: Report, after: Report) -> list[Part]:
    """The parts whose findings are still there."""
    known, now = _told(before), _told(after)
    left = {(_slug(one), entry) for one in after.findings for entry in (*one.entries, one.location.path)}
    return [
        part
        for part in parts
        if (part.statements and (_slug(part.finding), part.path) in left)
        or (part.edits and now[key := _key(part.finding)] >= known[key])
    ]


def _fresh(before: Report, after: Report, patched: Iterable[str]) -> dict[str, frozenset[Told]]:
    """By patched file, the findings of its programs that were not there."""
    known, sources = _told(before), set(patched)
    fresh = [one for one in after.findings if one.severity != "info" and _key(one) not in known]
    paths = {path for one in fresh for path in files(one, sources)}
    return {path: frozenset(_key(one) for one in fresh if path in files(one, sources)) for path in paths}


def _told(report: Report) -> Counter[Told]:
    """How often a rule says a text of a file, as lines move: findings, and places of a cause that were such."""
    told = [_key(found) for found in report.findings]
    more = [(one, one.note.partition(" (when ")[0]) for found in report.findings for one in found.related if one.rule]
    return Counter([*told, *((one.rule, one.location.path, _unnumbered(text)) for one, text in more)])


def _key(found: Finding) -> Told:
    return found.rule, found.location.path, _unnumbered(found.message.partition(ALSO)[0])


def _slug(found: Finding) -> str:
    return found.cause.rpartition("-")[0]


def _unnumbered(text: str) -> str:
    return re.sub(r"\d+", "#", text)
