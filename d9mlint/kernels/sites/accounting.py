"""Whether every call of an atomic that a file names was read: what was not has to be told, never dropped in silence."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import tree_sitter

from d9mlint.kernels.sites import functors
from d9mlint.kernels.sites.calls import Call, call_at, declared, full_name, name_node
from d9mlint.kernels.sites.expand import defines
from d9mlint.kernels.sites.macros import defined_around
from d9mlint.kernels.sites.names import FOREIGN, KNOWN, MEMBERS, PORTABLE, QUALIFIED
from d9mlint.kernels.sites.presence import ASSEMBLER, ATOMICS, NEEDLE, members_in
from d9mlint.kernels.sites.sightings import Knowledge
from d9mlint.kernels.sites.wrappers import defined_by
from d9mlint.kernels.source.lexical import in_line_comment, word_places, words_holding
from d9mlint.kernels.source.mask import dead
from d9mlint.kernels.source.repository import KERNEL_SUFFIXES
from d9mlint.kernels.source.textual import code
from d9mlint.kernels.source.unit import Unit

_CALLED = re.compile(rb"\s*(?:<[^<>;{}()]{0,200}>\s*)?\((?!\s*\))")
_SCOPES = re.compile(rb"(?:\w+\s*::\s*){0,6}\Z")
_TYPE_BEFORE = re.compile(rb"[\w>](?:[ \t]+|[ \t]*[*&]+|[*&]+[ \t]+)\Z")
_NO_TYPE = re.compile(rb"\b(?:return|else|do|case|throw|co_return|and|or|not|sizeof|typeof|decltype)[ \t]+\Z")
_MAX_BEFORE = 200
_NAMED = re.compile(rb"(?!__atomic_)\w*[aA]tomic_?(?:[fF]etch_?)?(?:Add|Sub|Min|Max|Exch|CAS|add|sub|min|max)\w*")
_STATEMENT = re.compile(rb'\w+\s*(?:volatile\b|__volatile__\b)?\s*\((?:[^;"]|"(?:[^"\\\n]|\\.)*"){0,4000};')
_JOINED = re.compile(rb'"\s*"')
_MACROS = ("preproc_def", "preproc_function_def")
_DIRECTIVES = ("preproc_directive", "preproc_call")
_UNEVALUATED = ("decltype", "sizeof_expression", "noexcept", "alignof_expression", "using_declaration")


def unread(known: Knowledge) -> dict[str, str]:
    """By file, what is to be told of calls of atomics in it that are no sites; files where all were read are absent.

    A call counts as read where a site stands there; where it defines or declares the function; where it never runs
    (``#if 0``, ``decltype``); where the function is of another library (``std::``), or of the host.
    """
    found: dict[str, str] = {}
    wanted = _Wanted(frozenset(KNOWN.keys() | {name.encode() for name in known.definitions}))
    for path, kinds in known.repository.looked(ATOMICS).items():
        named: set[int] = set()
        if "named" in kinds:
            named.update(_lines(known, path, wanted), _members(known, path), _references(known, path))
        lines = sorted(named | {*_statements(known, path)} if "assembler" in kinds else named)
        if lines:
            count = f"{len(lines)} calls of atomics" if len(lines) > 1 else "a call of an atomic"
            found[path] = f"{count} could not be read, the first in line {lines[0]}"
    return found


def _statements(known: Knowledge, path: str) -> Iterator[int]:
    """Inline assembler with an atomic instruction that was not read: the grammar met something unknown around it."""
    from d9mlint.kernels.sites.ptx import INSTRUCTION

    data = known.repository.data(path)
    for word in ASSEMBLER:
        for start in word_places(data, word):
            statement = _STATEMENT.match(data, start)
            if statement is None or INSTRUCTION.search(_JOINED.sub(b"", statement[0])) is None:
                continue
            seen = any((path, start + n) in known.sightings for n in range(len(word)))
            said = in_line_comment(data, start) or code(known.repository, path)[start : start + len(word)] != word
            if not seen and not said and not any(first <= start < last for first, last in dead(data)):
                yield data.count(b"\n", 0, start) + 1


def _members(known: Knowledge, path: str) -> Iterator[int]:
    """The calls ``x.fetch_add(...)`` on the device whose object was not read, where a source may hold some."""
    data = known.repository.data(path)
    unit = known.repository.unit(path) if members_in(data) else None
    for name in MEMBERS if unit is not None else ():
        word = name.encode()
        for start in word_places(data, word):
            assert unit is not None
            if (path, start) in known.sightings or in_line_comment(data, start):
                continue
            call = call_at(unit, start, word)
            if (call is not None and _is_member(call)) or (
                path.endswith(KERNEL_SUFFIXES) and _member_in_macro(path, data, start)
            ):
                yield data.count(b"\n", 0, start) + 1


def _references(known: Knowledge, path: str) -> Iterator[int]:
    """The calls of objects that are handed an ``atomic_ref`` and of which nothing is known."""
    data = known.repository.data(path)
    unit = known.repository.unit(path) if b"atomic_ref" in data else None
    for call in functors.handed(unit, named=True) if unit is not None else ():
        if (path, call.start) not in known.sightings:
            yield data.count(b"\n", 0, call.start) + 1


def _is_member(call: Call) -> bool:
    """Whether a call on the device may be one of a member of an atomic of CUDA."""
    from d9mlint.kernels.sites.members import of_host  # few repositories use such members

    called = call.receiver is not None and bool(call.arguments) and _on_device(call.unit, call.start)
    return called and not of_host(call)


def _member_in_macro(path: str, data: bytes, start: int) -> bool:
    """Whether a member is called in the body of a macro: its object is declared where the macro is used."""
    return data[max(0, start - 2) : start].endswith((b".", b"->")) and defined_around(path, data, start) is not None


@dataclass(frozen=True, slots=True)
class _Wanted:
    """The names of atomics and of what wraps them, and whatever is called like one."""

    names: frozenset[bytes]

    def __contains__(self, word: object) -> bool:
        return word in self.names or (isinstance(word, bytes) and _NAMED.fullmatch(word) is not None)


def _lines(known: Knowledge, path: str, wanted: _Wanted) -> Iterator[int]:
    data = known.repository.data(path)
    for start, word in words_holding(data, NEEDLE, wanted):
        end = start + len(word)
        if (path, start) in known.sightings or in_line_comment(data, start) or _CALLED.match(data, end) is None:
            continue
        before = data[max(0, start - _MAX_BEFORE) : start]
        if before.endswith((b".", b"->")) or code(known.repository, path)[start:end] != word:
            continue
        scopes = _SCOPES.search(before)
        named = {part.strip().decode("ascii", "replace") for part in scopes[0].split(b"::")} if scopes else set()
        own = word in QUALIFIED and PORTABLE.intersection(named)
        if (named & FOREIGN and not own) or any(first <= start < last for first, last in dead(data)):
            continue
        if word not in wanted.names and not _elsewhere(known, path, word):
            continue
        unit = known.repository.unit(path)
        pieces = path.endswith(KERNEL_SUFFIXES) and b"{%" in data  # a template for a text
        if unit is not None and word not in wanted.names and not _on_device(unit, start, pieces):
            continue
        if unit is not None and not _accounted(known, unit, start, word, len(scopes[0]) if scopes else 0):
            yield data.count(b"\n", 0, start) + 1


def _elsewhere(known: Knowledge, path: str, word: bytes) -> bool:
    """Whether a device source calls what no source here defines: a function of a library that is not at hand."""
    if not path.endswith(KERNEL_SUFFIXES):
        return False
    defined = re.compile(rb"(?:[\w>*&]\s+|#[ \t]*define[ \t]+|[*&])" + re.escape(word) + rb"\b\s*[(<]?")
    for source in known.repository.mentioning(word):
        data = known.repository.data(source)
        found = (
            m for m in defined.finditer(data) if _NO_TYPE.search(data[max(0, m.start() - 12) : m.end() - 1]) is None
        )
        if any(_declares(data, data.find(word, m.start())) or b"define" in m[0] for m in found):
            return False
    return True


def _on_device(unit: Unit, start: int, pieces: bool = False) -> bool:
    """Whether a byte is in a function of the device; ``pieces``: what is in none is a part of one."""
    node = unit.root.descendant_for_byte_range(start, start + 1)
    function = unit.function(node) if node is not None else None
    if node is None or function is None:
        return pieces
    return unit.on_device(node)


def _accounted(known: Knowledge, unit: Unit, start: int, word: bytes, scopes: int) -> bool:
    """Whether what is written here is no call that runs on the device; ``scopes``: bytes of what qualifies the name."""
    if any("__device__" not in qualifier for _, qualifier in known.plain.get(word.decode("ascii", "replace"), ())):
        return True  # a function of the host bears the name
    node = name_node(unit, start, start + len(word))
    if node is not None and (declared(unit, full_name(node)) or defined_by(unit, node) is not None):
        return True
    at: tree_sitter.Node | None = node or unit.root.descendant_for_byte_range(start, start + len(word))
    while at is not None:
        if at.type in _UNEVALUATED or at.type in _DIRECTIVES:
            return True
        if at.type in _MACROS:
            return _declares(unit.data, start - scopes) or defines(known, unit.path, word)
        at = at.parent
    return False


def _declares(data: bytes, at: int) -> bool:
    """Whether a type stands before a name: ``void f(``, ``T *f(``, not ``return f(`` and not ``a * f(``."""
    before = data[max(0, at - 200) : at]
    return _TYPE_BEFORE.search(before) is not None and _NO_TYPE.search(before) is None
