"""Patches out of findings: what to change where, for each finding in the ways that are worth trying.

Statements at the start of a program (seeds, switches) cure what they cover in all of it; a listing, a loader or a
setting is cured where it stands. Whether a patch does what it should is for the caller to find out: by checking the
program again.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from d9mlint.fix import arguments, beginnings, objects, places, remedies, statements
from d9mlint.fix.beside import keys, launchers, settings
from d9mlint.fix.edits import is_python
from d9mlint.fix.own import flags, libraries, seeds, where
from d9mlint.fix.place import Need, Place
from d9mlint.model import OWN_GRAPH, RESET_GRAPH, TAKES_SEED, Edit, Finding, Location, Rule, Target

_OTHER = "it is no file that can be patched"
_UNKNOWN = "it is written in a way that is not known"
_VERSION = "it needs another version of a package"
_INSTALLED = "its remedy needs a package that has to be installed first"
_RESET = "the seed belongs after the call that makes a new graph"
_OF_CALLERS = "that is None here"
"""In a remedy, of a seed that callers may give: only where one leaves it out may there be a constant."""
_MEANING = "what to write depends on what the program means"
_UPGRADE = re.compile(r"\bupgrade\b")
_PASSED = re.compile(r"([\w.]+)\(args\.\w+\)")
_FLAG_RULE, _FLAG = "seed-flag-unused", re.compile(r"`--([\w-]+)` is parsed")


_Way = Callable[[Place], Iterator[Edit | Need]]


class Files(NamedTuple):
    """The files of findings and of their programs."""

    texts: Mapping[str, bytes]
    """What is in them; of a notebook its code cells as Python."""
    refused: Mapping[str, str] = MappingProxyType({})
    """Those that cannot be patched, with the reason."""
    cells: Mapping[str, beginnings.Cells] = MappingProxyType({})
    """First and last line of each cell, of those that have any."""
    targets: Mapping[str, Target] = MappingProxyType({})
    """The versions that entries run with."""
    launchers: Mapping[str, Sequence[launchers.Launcher]] = MappingProxyType({})
    """By entry, the places that it is started from."""
    own: frozenset[str] = frozenset()
    """The top names of the modules of the project."""

    def why_not(self, paths: Iterable[str]) -> str:
        """Why these cannot all be patched; empty where they can."""
        return next((self.refused.get(path, _OTHER) for path in paths if path not in self.texts), "")


class Part(NamedTuple):
    """What cures one finding in one file: statements for its start, or edits with what they need."""

    finding: Finding
    path: str
    safe: bool
    statements: tuple[str, ...] = ()
    own: where.Own | None = None
    """The program's own seed, which its seeds are set to where it is known."""
    edits: tuple[Edit, ...] = ()
    needs: tuple[Need, ...] = ()


class Plan(NamedTuple):
    """The ways to cure each finding, the best one first, and the findings for which there is none, with the reason."""

    ways: Mapping[Finding, Sequence[Sequence[Part]]]
    without: tuple[tuple[Finding, str], ...]


def plan(findings: Iterable[Finding], rules: Mapping[str, Rule], files: Files) -> Plan:
    """What can be done about ``findings`` of ``rules`` in ``files``."""
    ways: dict[Finding, list[list[Part]]] = {}
    without: list[tuple[Finding, str]] = []
    for found in findings:
        reasons: list[str] = []
        for parts, reason in _ways(found, rules, files):
            if parts:
                ways.setdefault(found, []).append(parts)
            if reason:
                reasons.append(reason)
        if reasons and found not in ways:
            without.append((found, reasons[0]))
    return Plan(ways, tuple(without))


def _ways(found: Finding, rules: Mapping[str, Rule], files: Files) -> Iterator[tuple[list[Part], str]]:
    """The parts of each way to cure one finding; none with the reason where it is no way."""
    ready = next((fix for fix in found.fixes if fix.edits), None)
    if ready is not None and not files.why_not(edit.location.path for edit in ready.edits):
        yield [Part(found, ready.edits[0].location.path, ready.safe, edits=ready.edits)], ""
        return
    if any(one.startswith("pip install ") for one in remedies.code(found.remedy)):
        yield [], _INSTALLED
        return
    if any(one.note == RESET_GRAPH for one in found.related):
        yield [], _RESET
        return
    taken = [one.location for one in found.related if one.note == TAKES_SEED]
    if taken:
        yield from _where_taken(found, taken, files)
    graphs = [one.location for one in found.related if one.note == OWN_GRAPH]
    if graphs:
        yield from _where_taken(found, graphs, files, objects.seeded_graph)
    decided = places.DECIDED.union({"setting"}).intersection(_cure(found.rule, rules))
    if decided:  # its remedy names other code, too
        yield from _in_place(found, rules, files)
    block = _of_remedy(found, files.texts) or _of_flag(found) or _moved(found, rules, files.texts)
    if block is not None:
        yield from _where_started(found, block, files)
        yield from _where_trained(found, block, files)
        yield from _at_start(found, block, files)
    if not decided and (block is None or _cure(found.rule, rules)):
        yield from _in_place(found, rules, files)


def _where_taken(
    found: Finding, taken: Sequence[Location], files: Files, seeded: _Way | None = None
) -> Iterator[tuple[list[Part], str]]:  # fmt: skip
    """The seed where a graph takes it, and at the start those of generators that it does not reach."""
    reason = files.why_not(at.path for at in taken)
    made = [] if reason else [
        _taken(found, at, files.texts) if seeded is None else ([*seeded(Place(found, at, files.texts))], True)
        for at in taken
    ]  # fmt: skip
    if not made or not all(edited for edited, _ in made):
        yield [], reason or _UNKNOWN
        return
    parts = []
    for at, (edited, safe) in zip(taken, made, strict=True):
        changed = tuple(one for one in edited if isinstance(one, Edit))
        parts.append(Part(found, at.path, safe, edits=changed, needs=tuple(o for o in edited if isinstance(o, Need))))
    others = [name for name in found.concerns if name not in statements.GRAPH]
    block = statements.block(found.remedy, others) if others else None
    if not others:
        yield parts, ""
    elif block is not None:
        yield from (([*parts, *more], why) for more, why in _at_start(found, block, files))


def _taken(found: Finding, at: Location, texts: Mapping[str, bytes]) -> tuple[list[Edit | Need], bool]:
    """The argument that the remedy names for a call, with the program's own seed where that is known there."""
    own = seeds.within(at, texts[at.path])
    value = own.value if own is not None else flags.VALUE
    place = Place(found._replace(remedy=found.remedy.replace("_seed=1)", f"_seed={value})")), at, texts)
    edited = list(arguments.keywords(None, place))
    return [*edited, *(own.edits if own is not None and edited else ())], own is None or own.safe


def _where_started(found: Finding, block: statements.Block, files: Files) -> Iterator[tuple[list[Part], str]]:
    """Variables that belong to who starts the processes, in the file that does; what several share is the program."""
    variables = [launchers.variable(one) for one in block.statements]
    told = [one for one in variables if one is not None]
    starts = [files.launchers.get(entry, ()) for entry in found.entries]
    if not told or len(told) < len(variables) or not starts or not all(starts):
        return
    places = dict.fromkeys(one for each in starts for one in each)
    if len({one.location.path for one in places}) > 1 or any(one.location.path not in files.texts for one in places):
        return
    made = [launchers.edits(one, told, files.texts[one.location.path]) for one in places]
    if all(made):
        edited = tuple(dict.fromkeys(edit for each in made for edit in each))
        yield [Part(found, edited[0].location.path, block.safe, edits=edited)], ""


def _where_trained(found: Finding, block: statements.Block, files: Files) -> Iterator[tuple[list[Part], str]]:
    """The switch as an argument of the library that each entry trains with."""
    entries = [entry for entry in found.entries if entry in files.texts]
    made = [
        libraries.switched(entry, block.statements, files.texts[entry], files.targets.get(entry)) for entry in entries
    ]
    if made and all(made) and len(entries) == len(found.entries):
        yield [Part(found, path, block.safe, edits=tuple(one)) for path, one in zip(entries, made, strict=True)], ""


def _at_start(found: Finding, block: statements.Block, files: Files) -> Iterator[tuple[list[Part], str]]:
    """Statements for each entry: seeds with the one that it has; where it has none or it is too late, with a number."""
    if not found.entries:
        yield [], "no program is known that it belongs to"
        return
    reason = files.why_not(found.entries)
    entries = [entry for entry in found.entries if entry in files.texts]
    parts = [Part(found, entry, block.safe, block.statements) for entry in entries]
    seeded = [one for one in block.statements if statements.is_seed(one)]
    own = {entry: _own_seeds(found, entry, files) if seeded else () for entry in entries}
    for kind in dict.fromkeys((tuple(_of_library(part, files) for part in parts), tuple(parts))):
        for number in range(max(map(len, own.values()), default=0)):
            told = [(part, own[part.path][number]) for part in kind if number < len(own[part.path])]
            yield [part._replace(own=one, safe=part.safe and one.safe) for part, one in told], reason
        yield list(kind), reason


def _own_seeds(found: Finding, entry: str, files: Files) -> Sequence[where.Own]:
    return where.known(entry, files.texts[entry], _unused_flag(found), files.texts)


def _of_library(part: Part, files: Files) -> Part:
    """The part with the seed of the library that its file trains with, where that has one."""
    told = libraries.told(part.statements, files.texts[part.path], files.targets.get(part.path))
    if told is None:
        return part
    return part._replace(statements=told.statements, needs=tuple(Need(part.path, one) for one in told.imports))


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


def _of_flag(found: Finding) -> statements.Block | None:
    """The seeds that a flag is to be passed on to, where nothing reads it."""
    told = [f"{match[1]}(1)" for one in remedies.code(found.remedy) if (match := _PASSED.fullmatch(one))]
    seeded = [one for one in told if one in statements.OF.values()]
    return statements.Block(tuple(seeded), safe=True) if seeded and found.rule == _FLAG_RULE else None


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


def _in_place(found: Finding, rules: Mapping[str, Rule], files: Files) -> Iterator[tuple[list[Part], str]]:
    """A part that cures each place of a finding where it stands, or at places that it tells.

    A seed that is written is the program's own where that is known there; else, or where that does not help, a number.
    """
    told = [(found.rule, found.location), *((r.rule, r.location) for r in found.related if r.rule)]
    cures = [_cure(rule, rules) for rule, _ in told]
    reason = "" if any(cures) else _VERSION if _UPGRADE.search(found.remedy) else _MEANING
    if reason := reason or files.why_not(at.path for _, at in told):
        yield [], reason
        return
    made = [_made(cure, found, at, files.texts) for cure, (_, at) in zip(cures, told, strict=True)]
    if not all(made):
        yield [], next((str(cure["reason"]) for cure in cures if "reason" in cure), _UNKNOWN)
        return
    needs = tuple(one for part in made for one in part if isinstance(one, Need))
    safe = all(bool(cure.get("safe")) for cure in cures)
    edited = [(one, cure) for part, cure in zip(made, cures, strict=True) for one in part if isinstance(one, Edit)]
    plain = Part(found, edited[0][0].location.path, safe, edits=tuple(one for one, _ in edited), needs=needs)
    own = _with_own_seed(plain, edited, files.texts)
    if any(seeds.is_lost(edit, files.texts[edit.location.path]) for edit, _ in edited):
        plain = plain._replace(safe=False)
    ways = [own] if _OF_CALLERS in found.remedy else [own, plain]
    yield from (([part], "") for part in ways if part is not None)
    if ways == [None]:
        yield [], _MEANING


def _with_own_seed(
    plain: Part, edited: Sequence[tuple[Edit, Mapping[str, Any]]], texts: Mapping[str, bytes]
) -> Part | None:
    """The part with the seeds that the program has in the place of numbers; None where it has none."""
    out: list[Edit] = []
    safe, changed = plain.safe, False
    for edit, cure in edited:
        is_seed = str(cure.get("argument", "")) == flags.VALUE
        told, keeps = seeds.told(edit, texts[edit.location.path], bare=is_seed)
        out += told or [edit]
        safe, changed = safe and keeps, changed or bool(told)
    return plain._replace(edits=tuple(dict.fromkeys(out)), safe=safe) if changed else None


def _made(cure: Mapping[str, Any], found: Finding, at: Location, texts: Mapping[str, bytes]) -> list[Edit | Need]:
    """What a cure changes at one place, in Python or in what stands beside it, and what that needs."""
    if is_python(at.path):
        return places.edits(cure, Place(found, at, texts))
    if "key" in cure:
        return list(keys.edits(cure["key"], at, texts[at.path]))
    return list(settings.edits(found.remedy, at, texts[at.path])) if cure.get("setting") else []
