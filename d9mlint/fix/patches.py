"""Patches out of findings: what to change where, for each program in the ways that are worth trying.

Statements at the start of a program (seeds, switches) cure what they cover in all of it; a listing or a setting is
cured where it stands. Whether a patch does what it should is for the caller to find out: by checking the program again.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from d9mlint.fix import places, settings, statements
from d9mlint.fix.edits import is_python
from d9mlint.model import Edit, Finding, Location, Rule

_OTHER = "it is no file that can be patched"
_DECIDED = places.DECIDED | {"setting"}
"""Ways that a rule asks for whatever code its remedy names."""
_FLAG_RULE, _FLAG = "seed-flag-unused", re.compile(r"`--([\w-]+)` is parsed")


class Files(NamedTuple):
    """The files of findings and of their programs."""

    texts: Mapping[str, bytes]
    """What is in them; of a notebook its code cells as Python."""
    refused: Mapping[str, str] = MappingProxyType({})
    """Those that cannot be patched, with the reason."""
    cells: Mapping[str, statements.Cells] = MappingProxyType({})
    """First and last line of each cell, of those that have any."""

    def why_not(self, paths: Iterable[str]) -> str:
        """Why these cannot all be patched; empty where they can."""
        return next((self.refused.get(path, _OTHER) for path in paths if path not in self.texts), "")


class Part(NamedTuple):
    """What cures one finding in one file: statements for its start, or an edit where it stands."""

    finding: Finding
    path: str
    safe: bool
    statements: tuple[str, ...] = ()
    flag: str = ""
    """The program's own flag for a seed, which nothing reads so far."""
    edits: tuple[Edit, ...] = ()


class Plan(NamedTuple):
    """All parts, and the findings for which there is none with the reason."""

    parts: tuple[Part, ...]
    without: tuple[tuple[Finding, str], ...]


def plan(findings: Iterable[Finding], rules: Mapping[str, Rule], files: Files) -> Plan:
    """What can be done about ``findings`` of ``rules`` in ``files``."""
    parts: list[Part] = []
    without: list[tuple[Finding, str]] = []
    for found in findings:
        own, reason = _parts(found, rules, files)
        parts += own
        if reason:
            without.append((found, reason))
    return Plan(tuple(parts), tuple(without))


def _parts(found: Finding, rules: Mapping[str, Rule], files: Files) -> tuple[list[Part], str]:
    """The parts of the cure of one finding; else, or where they are not all, the reason."""
    ready = next((fix for fix in found.fixes if fix.edits), None)
    if ready is not None and not files.why_not(edit.location.path for edit in ready.edits):
        return [Part(found, ready.edits[0].location.path, ready.safe, edits=ready.edits)], ""
    if _DECIDED.intersection(_cure(found.rule, rules)):  # its remedy names other code, too
        return _in_place(found, rules, files)
    block = _of_remedy(found, files.texts) or _moved(found, rules, files.texts)
    if block is None:
        return _in_place(found, rules, files)
    if not found.entries:
        return [], "no program is known that it belongs to"
    flag = _unused_flag(found)
    entries = [entry for entry in found.entries if entry in files.texts]
    return [Part(found, entry, block.safe, block.statements, flag) for entry in entries], files.why_not(found.entries)


def _of_remedy(found: Finding, sources: Mapping[str, bytes]) -> statements.Block | None:
    """The statements of the remedy, none of them of a framework that the program does not use."""
    block = statements.block(found.remedy, found.concerns)
    paths = {found.location.path, *found.entries, *(related.location.path for related in found.related)}
    named = [sources[path] for path in paths if path in sources]
    if block is None or not named:  # (nothing is known of files that cannot be patched)
        return block
    return block if all(statements.fits(one, named) for one in block.statements) else None


def _cure(name: str, rules: Mapping[str, Rule]) -> Mapping[str, Any]:
    return rules[name].cure if name in rules else {}


def _moved(found: Finding, rules: Mapping[str, Rule], sources: Mapping[str, bytes]) -> statements.Block | None:
    """The seeds that come too late, to be said earlier as well."""
    cure = _cure(found.rule, rules)
    told_at = [found.location, *(related.location for related in found.related)]
    seeds = [places.moved(cure, at, sources.get(at.path, b"")) for at in told_at] if cure.get("move") else []
    named = [statements.OF[name] for name in found.concerns if name in statements.OF] if cure.get("move") else []
    told = tuple(dict.fromkeys(filter(None, seeds))) or tuple(named)
    return statements.Block(told, bool(cure.get("safe"))) if told else None


def _unused_flag(found: Finding) -> str:
    """The name of the seed's flag that is parsed and read by nobody, where that is a part of the finding."""
    told = [found.message] if found.rule == _FLAG_RULE else [r.note for r in found.related if r.rule == _FLAG_RULE]
    match = _FLAG.search(told[0]) if told else None
    return match[1].replace("-", "_") if match else ""


def _in_place(found: Finding, rules: Mapping[str, Rule], files: Files) -> tuple[list[Part], str]:
    """A part that cures each place of a finding where it stands."""
    told = [(found.rule, found.location), *((r.rule, r.location) for r in found.related if r.rule)]
    if not any(_cure(rule, rules) for rule, _ in told):
        return [], "what to write depends on what the program means"
    if reason := files.why_not(at.path for _, at in told):
        return [], reason
    made = [_made(_cure(rule, rules), found.remedy, at, files.texts[at.path]) for rule, at in told]
    if not all(made):
        return [], "it is written in a way that is not known"
    safe = all(bool(_cure(rule, rules).get("safe")) for rule, _ in told)
    return [Part(found, found.location.path, safe, edits=tuple(edit for one in made for edit in one))], ""


def _made(cure: Mapping[str, Any], remedy: str, at: Location, text: bytes) -> list[Edit]:
    """The edits of a cure at one place, in Python or in what stands beside it."""
    if is_python(at.path):
        return places.edits(cure, remedy, at, text)
    return settings.edits(remedy, at, text) if cure.get("setting") else []


def edits(parts: Sequence[Part], files: Files, early: Collection[str] = ()) -> list[Edit]:
    """The edits of all parts, one for the statements of each file, as far as they can be made.

    ``early``: files whose statements go before the first import that may draw.
    """
    out = [edit for part in parts for edit in part.edits]
    for path in dict.fromkeys(part.path for part in parts if part.statements):
        there = [part for part in parts if part.path == path]
        flag = next((part.flag for part in there if part.flag), "")
        wanted = list(_ordered(there))
        flagged = [one for one in wanted if flag and "seed(" in one]
        rest = [one for one in wanted if one not in flagged]
        text, cells = files.texts[path], files.cells.get(path, ())
        made = [statements.after_parsing(path, text, flagged, flag)] if flagged else []
        made += [statements.insertion(path, text, rest, early=path in early, cells=cells)] if rest else []
        out += [edit for edit in made if isinstance(edit, Edit)]
    return list(dict.fromkeys(out))


def _ordered(parts: Iterable[Part]) -> Iterator[str]:
    """The statements of several parts, each once: variables, seeds, switches."""
    found = list(dict.fromkeys(one for part in parts for one in part.statements))
    whole = any(".utils.set_random_seed(" in one for one in found)
    yield from (one for one in found if one.startswith("os."))
    yield from (one for one in found if ".seed(" in one and not whole)
    yield from (one for one in found if "seed(" in one and ".seed(" not in one)
    yield from (one for one in found if "seed(" not in one and not one.startswith("os."))
