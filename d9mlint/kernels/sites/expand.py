"""Macro uses: which there are, what they expand to, what atomics the expansions hold."""

from __future__ import annotations

import re
from collections import defaultdict
from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.sites import macros as preprocessor
from d9mlint.kernels.sites import wrappers
from d9mlint.kernels.sites.calls import call_at, name_node
from d9mlint.kernels.sites.macros import Macro
from d9mlint.kernels.sites.names import KNOWN, MEMBERS
from d9mlint.kernels.sites.presence import ASSEMBLER, NEEDLE, members_in
from d9mlint.kernels.sites.sightings import Key, Knowledge, Sighting, of_assembler, of_call, of_object
from d9mlint.kernels.sites.wrappers import defined_by
from d9mlint.kernels.source.lexical import branches_apart, word_places
from d9mlint.kernels.source.unit import Unit
from d9mlint.model import Location

_MAX_VARIANTS = 4
_MAX_ITEM = 300_000
_WORD = re.compile(rb"[A-Za-z_]\w*", re.ASCII)
_CONTAINERS = (
    "translation_unit", "declaration_list", "namespace_definition", "linkage_specification", "preproc_if",
    "preproc_ifdef", "preproc_else", "preproc_elif", "ERROR",
)  # fmt: skip
NO_CODE = (
    "comment", "string_literal", "string_content", "raw_string_literal", "raw_string_content", "char_literal",
    "preproc_arg", "preproc_directive", "preproc_call", "system_lib_string",
)  # fmt: skip
"""Nodes whose words are no code."""


class Use(NamedTuple):
    """A macro use with its expansions, each a range of a unit."""

    name: bytes
    location: Location
    pieces: tuple[tuple[Unit, int, int], ...]


def usable(known: Knowledge, file: Unit, start: int, candidates: list[Macro]) -> list[Macro]:
    """Those macros that the name at this byte may mean; none in comments, strings, directives."""
    name = candidates[0].name
    node = file.root.descendant_for_byte_range(start, start + len(name))
    line = file.data[file.data.rfind(b"\n", 0, start) + 1 : start].lstrip()
    if node is None or node.type in NO_CODE or line.startswith(b"#") or defines(known, file.path, name):
        return []
    seen = [m for m in candidates if wrappers.visible(known.repository, file.path, m.path)]
    return seen or (candidates if NEEDLE in name.lower() else [])


def defines(known: Knowledge, path: str, name: bytes) -> bool:
    """Whether the file holds a function of this name: the macro cannot be in force there.

    But it can where the function stands in another branch of a condition than the macro: ``#if ... #else ... #endif``.
    """
    if (path, name) not in known.defined:
        known.defined[path, name] = _defines(known, path, name)
    return known.defined[path, name]


def _defines(known: Knowledge, path: str, name: bytes) -> bool:
    unit = known.repository.unit(path)
    for start in word_places(unit.data, name) if unit is not None else ():
        node = name_node(unit, start, start + len(name)) if unit is not None else None
        if unit is not None and node is not None and defined_by(unit, node) is not None:
            own = (macro.start for macro in known.macros.get(name, ()) if macro.path == path)
            return not any(branches_apart(unit.data, *sorted((start, at))) for at in own)
    return False


def expanded(known: Knowledge, waiting: dict[Key, list[Macro]]) -> dict[Key, Use]:
    """Expands uses, all those of one function or class in one text."""
    items: dict[tuple[str, int, int], list[tuple[int, list[Macro]]]] = defaultdict(list)
    for (path, start), seen in sorted(waiting.items(), key=lambda w: w[0]):
        file = known.repository.unit(path)
        if file is not None:
            first, last = _item(file, start)
            items[path, first, last].append((start, seen))
    uses: dict[Key, Use] = {}
    for (path, first, last), places in items.items():
        file = known.repository.unit(path)
        if file is not None:
            uses |= _expand_item(known, file, (first, last), places)
    return uses


def _expand_item(
    known: Knowledge, file: Unit, item: tuple[int, int], places: list[tuple[int, list[Macro]]]
) -> dict[Key, Use]:
    pieces: dict[int, list[tuple[Unit, int, int]]] = defaultdict(list)
    ends: dict[int, tuple[bytes, int]] = {}
    for variant in range(min(_MAX_VARIANTS, max(len(seen) for _, seen in places))):
        uses: list[tuple[int, int, bytes]] = []
        for start, seen in places:
            use = preprocessor.use_at(file.data, start, seen[variant:] or seen)
            if use is None or (uses and start < uses[-1][1]):
                continue
            macro, end, passed = use
            uses.append((start, end, preprocessor.expansion(macro, passed, known.macros)))
            ends[start] = (macro.name, end)
        if not uses:
            continue
        whole = item if item[1] - item[0] <= _MAX_ITEM else (uses[0][0], uses[-1][1])
        made = preprocessor.spliced(file, (min(whole[0], uses[0][0]), max(whole[1], uses[-1][1])), uses)
        for (start, _, _), (begin, end) in zip(uses, made.ranges, strict=True):
            pieces[start].append((made.unit, begin, end))
    return {
        (file.path, start): Use(ends[start][0], file.span(start, ends[start][1]), tuple(found))
        for start, found in pieces.items()
    }


def read(known: Knowledge, key: Key, use: Use) -> None:
    """Notes the atomics in the expansions of a use."""
    inside: dict[tuple[int, int], Sighting] = {}
    words = {d.encode() for d in known.definitions} | KNOWN.keys() | set(ASSEMBLER)
    for index, (unit, begin, end) in enumerate(use.pieces):
        for match in _WORD.finditer(unit.data, begin, end):
            if match[0] in words:
                for offset, one in enumerate(_at(known, unit, match.start(), match[0], key[0])):
                    inside[index, match.start() + offset] = one._replace(location=use.location)
        for start, one in _on_objects(known, unit, begin, end):
            inside.setdefault((index, start), one._replace(location=use.location))
    if not inside:
        return
    first = next(iter(inside.values()))
    whole = first._replace(
        name=use.name.decode("utf-8", "replace"), form="macro-use", call=None, inside=tuple(inside.values())
    )
    for (index, _), one in inside.items():
        _, begin, end = use.pieces[index]
        if one.owner is not None and one.function is not None:
            made_here = begin <= one.function.node.start_byte < end
            known.add_wrapper(one.owner, one if made_here else whole)
    known.sightings[key] = whole


def _at(known: Knowledge, unit: Unit, start: int, word: bytes, path: str) -> list[Sighting]:
    if word in ASSEMBLER:
        return of_assembler(unit, start, word)
    call = call_at(unit, start, word)
    found = of_call(known, call, unit, path) if call is not None else None
    return [found] if found is not None else []


def _on_objects(known: Knowledge, unit: Unit, begin: int, end: int) -> list[tuple[int, Sighting]]:
    """The operations on atomic objects in an expansion."""
    text = unit.data[begin:end]
    if not any(name.encode() in text for name in MEMBERS) and not members_in(text):
        return []
    from d9mlint.kernels.sites import members

    found = members.operations(unit, known.repository)
    return [(one.start, of_object(one, unit)) for one in found if begin <= one.start < end]


def _item(file: Unit, start: int) -> tuple[int, int]:
    """The function, class or declaration around a byte that stands in no other."""
    node = file.root.descendant_for_byte_range(start, start + 1)
    found: tree_sitter.Node | None = node
    while node is not None and node.type not in _CONTAINERS:
        found, node = node, node.parent
    if found is None or found.type in _CONTAINERS:
        return start, start
    return file.start_with_qualifiers(found), found.end_byte
