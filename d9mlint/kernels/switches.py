"""Switches of an author's own that choose another path: a ``deterministic`` argument, an environment variable."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Mapping

import tree_sitter

from d9mlint.kernels.apart import spreading
from d9mlint.kernels.guards import TENSORFLOW, TORCH, Words, guard_before, predicate
from d9mlint.kernels.source.unit import Unit
from d9mlint.model.kernel import Guard

_MARKS = (b"eterminis", b"DETERMINIS")
_NAME = re.compile(rb"\b[A-Za-z_]\w*eterminis(?:tic|m)\w*\b(?!\s*\()")
_VARIABLE = re.compile(rb'"([A-Z][A-Z0-9_]*DETERMINIS[A-Z0-9_]*)"')
_STORED = re.compile(rb"\b([A-Za-z_]\w*)\s*(?:=|\{|\()[^;{}=]{0,120}\Z")
_READS = re.compile(rb"env", re.IGNORECASE)
_OPPOSITE = re.compile(r"non_?det|not_?det|in_?deterministic", re.IGNORECASE)
_FRAMEWORKS = frozenset((*TORCH.all, *TENSORFLOW.all, *TENSORFLOW.settings))
_MAX_BEFORE = 200


def opposite(name: str) -> bool:
    """Whether a name says that results may vary (``allow_nondeterministic``)."""
    return _OPPOSITE.search(name) is not None


def setting(name: str) -> str:
    """The name of a switch with the value that makes results repeat."""
    if name.isupper():
        return f"{name}={'0' if opposite(name) else '1'}"
    return f"{name}={'False' if opposite(name) else 'True'}"


def switch_before(unit: Unit, function: tree_sitter.Node, place: int) -> Guard:
    """The switch within ``function`` that keeps its byte ``place`` from running; a guard of level ``none``.

    Also one that has each block add to cells of its own there.
    """
    if not speaks(unit.data):
        return Guard()
    names = dict.fromkeys(
        match[0] for match in _NAME.finditer(unit.data, function.start_byte, function.end_byte)
    )  # fmt: skip
    variables = _variables(unit)
    tests = {name: name.decode("ascii", "replace") for name in names if name not in _FRAMEWORKS} | variables
    if not tests:
        return Guard()
    opposites = tuple(name for name, shown in tests.items() if opposite(shown))
    found = guard_before(unit, function, place, Words(tuple(tests), assertions=TORCH.assertions, opposites=opposites))
    if found.level == "none" or found.where is None:
        apart = spreading(unit, function, place, tests, opposites)
        named = tests[apart[0]] if apart is not None else ""
        return Guard("none", apart[1], setting(named)) if apart is not None else Guard()
    word = _word(unit, found)
    return Guard("none", found.where, setting(tests.get(word) or word.decode("ascii", "replace")))


@functools.lru_cache(maxsize=256)
def speaks(data: bytes) -> bool:
    """Whether a source speaks of determinism at all; it is asked for each place in it."""
    return any(mark in data for mark in _MARKS)


def _word(unit: Unit, found: Guard) -> bytes:
    """The name that stands where a guard is."""
    if found.where is None:
        return b""
    rows = unit.data.split(b"\n", found.where.line)
    text = rows[found.where.line - 1].decode("utf-8", "replace")
    return text[found.where.column - 1 : found.where.end_column - 1].encode()


@functools.lru_cache(maxsize=256)
def _variables(unit: Unit) -> dict[bytes, str]:
    """What holds or tells the value of an environment variable in a source, with the variable's name."""
    return dict(_read(unit)) if b"DETERMINIS" in unit.data else {}


def _read(unit: Unit) -> Iterator[tuple[bytes, str]]:
    for match in _VARIABLE.finditer(unit.data):
        name = match[1]
        before = unit.data[max(0, match.start() - _MAX_BEFORE) : match.start()]
        if name in _FRAMEWORKS or _READS.search(before[-60:]) is None:
            continue
        stored = _STORED.search(before)
        if stored is not None:
            yield stored[1], name.decode()
        told = predicate(unit, match.start())
        if told:
            yield told, name.decode()


def with_default(guard: Guard, defaults: Mapping[str, str]) -> Guard:
    """The guard with the default of its switch, where an argument of that name has one; it may choose that path."""
    name, _, value = guard.switch.partition("=")
    given = next((key for key in (name, *sorted(defaults)) if key in defaults and _same(key, name)), "")
    if not given or guard.level != "none":
        return guard
    value = setting(given).partition("=")[2]
    default = defaults[given]
    level = "other-path" if default == value else "none"
    return guard._replace(level=level, switch=f"{given}={value}", default=default)


def _same(one: str, other: str) -> bool:
    """Whether two names mean one switch: ``deterministic``, ``Is_deterministic``, ``kDeterministic``."""
    return _bare(one) == _bare(other)


def _bare(name: str) -> str:
    bare = re.sub(r"\A(?:[Ii]s_?|[Uu]se_?|k(?=[A-Z])|m_|[Ff]orce_?)|_+\Z", "", name).lower().replace("_", "")
    return "deterministic" if bare in ("determinism", "deterministicmode") else bare
