"""Which findings are of one cause: those of programs that share a place of it, and of copies of these programs."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

from d9mlint.app.besides import CONFIG_FILES
from d9mlint.model import Finding, Location

_Key = tuple[str, str | Location]
_OF_A_PLACE = re.compile(r":\d+:\d+$")
"""What a cause ends with that is a place: where the value is made which is to be another one."""
_PART = "/"
"""In a cause, before what of it is concerned: what one remedy is for."""
OF_PROGRAM = frozenset({"determinism-switch", "unseeded"})
"""Causes that each program has for itself, wherever the code stands that shows it: a switch, a seed that is not set."""


def slug(found: Finding) -> str:
    """The cause without what of it is concerned."""
    return found.cause.partition(_PART)[0]


def part(found: Finding) -> str:
    """What of its cause a finding concerns: the generator that is not seeded."""
    return found.cause.partition(_PART)[2]


def grouped(findings: Iterable[Finding], sources: Mapping[str, str]) -> list[list[Finding]]:
    """The findings, those of one cause together; ``sources`` tell which programs are copies."""
    told, causes, programs = list(findings), _Causes(), _Programs(sources)
    keys = [_keys(found, programs, number) for found, number in zip(told, _numbers(told), strict=True)]
    for each in keys:
        causes.join(each)
    groups: dict[_Key, list[Finding]] = {}
    for found, (first, *_) in zip(told, keys, strict=True):
        groups.setdefault(causes.first(first), []).append(found)
    return list(groups.values())


def _keys(found: Finding, programs: _Programs, number: int) -> list[_Key]:
    """What a finding has in common with all others of its cause: rule and place, or the cause in its programs.

    A cause that names a place of the code is one whatever program comes there. A finding that depends on no program is
    that of its file; one without a cause is that of its place in all copies, or of all config files that have the same
    setting.
    """
    if not found.cause:
        if found.location.path.endswith(CONFIG_FILES):
            same = f"{found.rule}: {found.severity}, {found.message}, {number}"
            return [(found.rule, found.location), (same, "")]
        there = f"{found.rule}: {found.message} at {found.location.column}, {number}"
        return [(found.rule, found.location), (there, programs.named(found.location.path))]
    entries = found.entries or (found.location.path,)
    anywhere = [(slug(found), "")] if _OF_A_PLACE.search(slug(found)) else []
    return [(found.rule, found.location), *anywhere, *((slug(found), programs.named(entry)) for entry in entries)]


def _numbers(findings: Sequence[Finding]) -> list[int]:
    """The number of each finding among those of its file that say the same at the same column."""
    seen: Counter[tuple[str, str, str, int]] = Counter()
    numbers: dict[Finding, int] = {}
    for found in sorted(findings, key=lambda one: one.sort_key):
        key = (found.location.path, found.rule, found.message, found.location.column)
        numbers[found] = seen[key]
        seen[key] += 1
    return [numbers[found] for found in findings]


class _Programs:
    """Names of programs that are equal for copies: a notebook and the script made of it, files with the same code."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = sources
        self._first: dict[tuple[str, str], str] = {}

    @cache  # noqa: B019 - (lives as long as one report is made)
    def named(self, entry: str) -> str:
        """The name of a program, without ending; of copies of one name in several folders that of the first."""
        name = entry.removesuffix(".py").removesuffix(".ipynb")
        code = [line for line in map(str.strip, self._sources.get(entry, "").splitlines()) if line[:1] not in ("", "#")]
        return self._first.setdefault((name.rpartition("/")[2], "\n".join(code)), name) if code else name


class _Causes:
    """Disjoint sets of keys: findings that have one in common are of one cause."""

    def __init__(self) -> None:
        self._parents: dict[_Key, _Key] = {}

    def join(self, keys: Sequence[_Key]) -> None:
        """What has any of these keys is of one cause."""
        for other in keys[1:]:
            self._parents[self.first(other)] = self.first(keys[0])

    def first(self, key: _Key) -> _Key:
        """Equal for all keys of one cause."""
        while (parent := self._parents.get(key, key)) != key:
            key = parent
        return key
