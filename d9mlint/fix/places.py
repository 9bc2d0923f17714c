"""Cures where a finding stands, by what the rule says (``cure:`` in its file).

- Text: ``sorted``, ``assign: VALUE``, ``replace: {TEXT: TEXT}``, ``spelling`` (the names that the message tells).
- Calls (`d9mlint.fix.arguments`): ``argument: VALUE`` (the first, where there is none, or all of them), ``without:
  [KEYWORDS]``, ``rename: {NAME: NAME}``, ``unwrap: NAME`` (a call becomes its first argument), ``remedy`` (the keywords
  that the remedy names), ``rewrite`` (its expression), ``instead`` (its call).
- Statements (`d9mlint.fix.blocks`): ``delete``, ``device`` (it runs on the device that the remedy names).
- At places that the finding tells by a note (`d9mlint.fix.objects`): ``behind: NOTE``, ``chain: {METHOD: NOTE}``,
  ``within: NOTE``, ``function: NOTE``, ``states: NOTE``; ``at: [NOTE]`` has any of the others done there.

Elsewhere: ``move`` (a seed goes to the start, `d9mlint.fix.patches`), ``setting`` (in config files and launchers,
`d9mlint.fix.beside.settings`), ``key: {KEY: "KEY.KEY: VALUE"}`` (what a config file with the first key lacks,
`d9mlint.fix.beside.keys`). ``reason`` is told where nothing of this can be done.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import libcst as cst

from d9mlint.fix import arguments, blocks, objects, statements
from d9mlint.fix.place import Need, Place, Way
from d9mlint.fix.tree import end, span, start, text_at
from d9mlint.model import Edit, Location

_COLLECTING, _NUMBERING = ("list", "tuple"), ("enumerate", "iter")
"""Calls that only collect, which ``sorted`` does as well, and those whose argument is to be sorted."""
_BY_NAME = re.compile(r"(^|\.)scandir\(")
_WALKS = re.compile(r"(^|\.)f?walk\(")
_NEXT = re.compile(r"\bnext\(\s*$")
"""What is before a listing of which the first is taken: a list is no iterator."""
_REST = re.compile(r"\s*=\s*(\w+|\"[^\"]*\"|'[^']*')\s*(?:#.*)?$")
_ASSIGNED = re.compile(r"(=\s*)[^=].*$", re.DOTALL)
_SEED = re.compile(r"([\w.]+\.(?:seed|manual_seed|set_seed|set_random_seed))\((\d+)?.*\)", re.DOTALL)
_TOLD = re.compile(r"`([\w.]+)`")


def edits(cure: Mapping[str, Any], place: Place) -> list[Edit | Need]:
    """What the first way of ``cure`` that fits what stands there changes and needs; none where no way does."""
    place = next((other for note in cure.get("at", ()) if (other := place.other(note))), place)
    for way, made in _WAYS.items():
        if way in cure:
            found = list(made(cure[way], place))
            if any(isinstance(one, Edit) for one in found):
                return found
    return []


def moved(cure: Mapping[str, Any], at: Location, source: bytes) -> str:
    """The seed or switch at ``at``, to be said at the start of the program as well; empty where there is none."""
    text = text_at(at, source) if cure.get("move") else ""
    match = _SEED.fullmatch(text)
    told = f"{match[1]}({match[2] or 1})" if match else text
    return told if statements.stands_alone(told) else ""


def _sorted(_: object, place: Place) -> Iterator[Edit | Need]:
    text = place.text
    if not text:
        return
    if _WALKS.search(text):
        yield from blocks.walked(place)
        return
    of = place.tree
    call = of.call(place.at) if of is not None else None
    called = call.func if call is not None else None
    if of is None or call is None or not isinstance(called, cst.Name) or not call.args:
        within = place.at
    elif len(call.args) == 1 and called.value in _COLLECTING:
        yield Edit(span(place.path, of.positions[called]), "sorted")
        return
    else:
        within = span(place.path, of.positions[call.args[0].value]) if called.value in _NUMBERING else place.at
    before = text_at(within._replace(column=1, end_line=within.line, end_column=within.column), place.source)
    around, ends = ("iter(sorted(", "))") if _NEXT.search(before) else ("sorted(", ")")
    key = ", key=lambda entry: entry.name" if _BY_NAME.search(text) else ""
    if key and blocks.is_entered(place):
        return  # (what is sorted cannot be closed)
    yield from (Edit(start(within), around), Edit(end(within), f"{key}{ends}"))


def _assign(value: str, place: Place) -> Iterator[Edit | Need]:
    """Another value for what is assigned: the place is the assignment, or the name on its left."""
    at, text = place.at, place.text
    rest = text_at(at._replace(column=at.end_column, end_column=10_000), place.source)
    if at.line != at.end_line or text.endswith(")"):
        return
    if len(_ASSIGNED.findall(text)) == 1:
        yield Edit(at, _ASSIGNED.sub(lambda match: match[1] + value, text))
    elif match := _REST.match(rest):
        begin = at.end_column + match.start(1)
        yield Edit(Location(at.path, at.line, begin, at.line, begin + len(match[1])), value)


def _replace(texts: Mapping[str, str], place: Place) -> Iterator[Edit | Need]:
    """Other text in the place of the first of these that stands there, as whole words."""
    if place.at.line != place.at.end_line:
        return
    for old, new in texts.items():
        match = re.search(rf"(?<!\w){re.escape(old)}(?!\w)", place.text)
        if match:
            begin = place.at.column + match.start()
            yield Edit(Location(place.path, place.at.line, begin, place.at.line, begin + len(old)), new)
            return


def _spelling(_: object, place: Place) -> Iterator[Edit | Need]:
    """The name that is meant in the place of the one that is written, as the message tells them in this order."""
    names = [name.split(".") for name in _TOLD.findall(place.found.message)]
    if len(names) == 2 and len(names[0]) == len(names[1]):
        other = [(one, two) for one, two in zip(*names, strict=True) if one != two]
        yield from _replace(dict(other), place) if len(other) == 1 else ()


_WAYS: dict[str, Way] = {
    "sorted": _sorted, "without": arguments.without, "rename": arguments.rename, "unwrap": arguments.unwrap,
    "argument": arguments.argument, "rewrite": arguments.rewrite,
    "instead": arguments.instead, "spelling": _spelling, "replace": _replace,
    "delete": blocks.deleted, "remedy": arguments.keywords, "assign": _assign, "behind": objects.behind_maker,
    "chain": objects.chained, "within": objects.within_graph, "function": objects.in_function, "states": objects.states,
    "device": blocks.on_device,
}  # fmt: skip
DECIDED = frozenset({"sorted", "without", "rename", "unwrap", "argument", "assign"})
"""Ways that a rule asks for whatever code its remedy names."""
