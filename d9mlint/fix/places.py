"""Cures where a finding stands: a call with other arguments or another name, an assignment with another value.

What is to be done is said by the rule (``cure:`` in its file): ``sorted``, ``assign: VALUE``, ``argument: VALUE`` (the
first, where there is none, or all of them), ``without: [KEYWORDS]``, ``rename: {NAME: NAME}``, ``unwrap: NAME`` (a call
becomes its first argument), ``remedy`` (the keyword that the remedy names), ``move`` (a seed goes to the start). In
config files and launchers it is ``setting`` (`d9mlint.fix.settings`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from typing import Any

import libcst as cst
from libcst.metadata import CodeRange, PositionProvider

from d9mlint.fix import statements
from d9mlint.model import Edit, Location

_NOT_SORTABLE = re.compile(r"(^|\.)(walk|fwalk|scandir)\(")
_COLLECTING, _NUMBERING = ("list", "tuple"), ("enumerate", "iter")
"""Calls that only collect, which ``sorted`` does as well, and those whose argument is to be sorted."""
_KEYWORD = re.compile(r"`(?:[\w.]+\((?:[^`]*?, )?)?(\w+)=((?:[^`()]|\([^`()]*\))+)\)?`")
"""In a remedy: the keyword of a call and its value."""
_REST = re.compile(r"\s*=\s*(\w+|\"[^\"]*\"|'[^']*')\s*(?:#.*)?$")
_ASSIGNED = re.compile(r"(=\s*)[^=].*$", re.DOTALL)
_SEED = re.compile(r"([\w.]+\.(?:seed|manual_seed|set_seed|set_random_seed))\((\d+)?.*\)", re.DOTALL)


def edits(cure: Mapping[str, Any], remedy: str, at: Location, source: bytes) -> list[Edit]:
    """The edits of the first way of ``cure`` that fits what stands at ``at``; none where no way does."""
    for way, made in _WAYS.items():
        if way in cure and (found := list(made(cure[way], remedy, at, source))):
            return found
    return []


def moved(cure: Mapping[str, Any], at: Location, source: bytes) -> str:
    """The seed or switch at ``at``, to be said at the start of the program as well; empty where there is none."""
    text = _text(at, source) if cure.get("move") else ""
    match = _SEED.fullmatch(text)
    told = f"{match[1]}({match[2] or 1})" if match else text
    return told if statements.stands_alone(told) else ""


def _sorted(_: object, remedy: str, at: Location, source: bytes) -> Iterator[Edit]:
    text = _text(at, source)
    if not text or _NOT_SORTABLE.search(text):
        return
    call, where = _call(at, source)
    called = call.func if call is not None else None
    if call is not None and isinstance(called, cst.Name) and len(call.args) == 1 and called.value in _COLLECTING:
        yield Edit(_range(at.path, where[called]), "sorted")
    elif call is not None and isinstance(called, cst.Name) and call.args and called.value in _NUMBERING:
        inner = _range(at.path, where[call.args[0].value])
        yield from (Edit(_start(inner), "sorted("), Edit(_end(inner), ")"))
    else:
        yield from (Edit(_start(at), "sorted("), Edit(_end(at), ")"))


def _assign(value: str, remedy: str, at: Location, source: bytes) -> Iterator[Edit]:
    """Another value for what is assigned: ``at`` is the assignment, or the name on its left."""
    text = _text(at, source)
    rest = _text(at._replace(column=at.end_column, end_column=10_000), source)
    if at.line != at.end_line or text.endswith(")"):
        return
    if len(_ASSIGNED.findall(text)) == 1:
        yield Edit(at, _ASSIGNED.sub(lambda match: match[1] + value, text))
    elif match := _REST.match(rest):
        start = at.end_column + match.start(1)
        yield Edit(Location(at.path, at.line, start, at.line, start + len(match[1])), value)


def _argument(value: str, remedy: str, at: Location, source: bytes) -> Iterator[Edit]:
    call, where = _call(at, source)
    if call is None:
        return
    if not call.args:
        yield Edit(_before_end(at), value)
    elif len(call.args) == 1 and call.args[0].keyword is None:
        yield Edit(_range(at.path, where[call.args[0].value]), value)


def _without(names: list[str], remedy: str, at: Location, source: bytes) -> Iterator[Edit]:
    call, where = _call(at, source)
    for number, arg in enumerate(call.args if call is not None else ()):
        if call is None or arg.keyword is None or arg.keyword.value not in names:
            continue
        start, end = where[arg].start, where[arg].end
        if number + 1 < len(call.args):  # up to the next one
            end = where[call.args[number + 1]].start
        elif number:
            start = where[call.args[number - 1].value].end
        yield Edit(_range(at.path, CodeRange(start, end)), "")


def _keyword(_: object, remedy: str, at: Location, source: bytes) -> Iterator[Edit]:
    """Sets the keyword that the remedy names."""
    match = _KEYWORD.search(remedy)
    call, where = _call(at, source)
    if match is None or call is None:
        return
    name, value = match[1], match[2].strip()
    root = value.partition(".")[0]
    if "." in value and root.isidentifier() and not re.search(rb"\b" + root.encode() + rb"\b", source):
        return  # (its package has another name there)
    given = next((arg for arg in call.args if arg.keyword is not None and arg.keyword.value == name), None)
    if given is not None:
        yield Edit(_range(at.path, where[given.value]), value)
    elif not any(arg.star for arg in call.args):
        last = call.args[-1] if call.args else None
        comma = last is not None and not isinstance(last.comma, cst.Comma)
        yield Edit(_before_end(at), f"{', ' if comma else ' ' if last is not None else ''}{name}={value}")


def _rename(names: Mapping[str, str], remedy: str, at: Location, source: bytes) -> Iterator[Edit]:
    call, where = _call(at, source)
    called = call.func if call is not None else None
    name = called.attr if isinstance(called, cst.Attribute) else called
    if isinstance(name, cst.Name) and name.value in names:
        yield Edit(_range(at.path, where[name]), names[name.value])


def _unwrap(name: str, remedy: str, at: Location, source: bytes) -> Iterator[Edit]:
    call, where = _call(at, source)
    called = call.func if call is not None else None
    last = called.attr if isinstance(called, cst.Attribute) else called
    if call is not None and isinstance(last, cst.Name) and last.value == name and len(call.args) == 1:
        inner = where[call.args[0].value]
        yield Edit(_range(at.path, CodeRange(where[call].start, inner.start)), "")
        yield Edit(_range(at.path, CodeRange(inner.end, where[call].end)), "")


_Way = Callable[[Any, str, Location, bytes], Iterator[Edit]]
_WAYS: dict[str, _Way] = {
    "sorted": _sorted, "without": _without, "rename": _rename, "unwrap": _unwrap, "argument": _argument,
    "remedy": _keyword, "assign": _assign,
}  # fmt: skip
DECIDED = frozenset(_WAYS) - {"remedy"}


# -- what stands at a place ----------------------------------------------------------------------------------------


@lru_cache(maxsize=64)
def _calls(source: bytes) -> tuple[dict[tuple[int, int], cst.Call], Mapping[cst.CSTNode, CodeRange]]:
    """The call that ends at each place, and where all nodes stand."""
    wrapper = statements.parsed(source)
    if wrapper is None:
        return {}, {}
    positions = wrapper.resolve(PositionProvider)
    found: dict[tuple[int, int], cst.Call] = {}
    for node, where in positions.items():
        if isinstance(node, cst.Call):
            found[(where.end.line, where.end.column)] = node
    return found, positions


def _call(at: Location, source: bytes) -> tuple[cst.Call | None, Mapping[cst.CSTNode, CodeRange]]:
    """The call that a finding stands at: the one that ends where it does."""
    calls, positions = _calls(source)
    return calls.get((at.end_line, at.end_column - 1)), positions


def _text(at: Location, source: bytes) -> str:
    lines = source.decode("utf-8", "replace").split("\n")
    if not 1 <= at.line <= at.end_line <= len(lines):
        return ""
    return lines[at.line - 1][at.column - 1 : at.end_column - 1 if at.line == at.end_line else None]


def _range(path: str, where: CodeRange) -> Location:
    return Location(path, where.start.line, where.start.column + 1, where.end.line, where.end.column + 1)


def _start(at: Location) -> Location:
    return Location(at.path, at.line, at.column, at.line, at.column)


def _end(at: Location) -> Location:
    return Location(at.path, at.end_line, at.end_column, at.end_line, at.end_column)


def _before_end(at: Location) -> Location:
    """Before the parenthesis that closes a call."""
    return Location(at.path, at.end_line, at.end_column - 1, at.end_line, at.end_column - 1)
