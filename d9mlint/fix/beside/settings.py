"""Settings in config files and launchers: another value where a key or a variable stands, and nothing else.

A remedy says the name and the value, as ``NAME=VALUE`` or ``name: value``. What is replaced is one word on the line of
the name, in the quotes that it has; what is put together of several words is left alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from d9mlint.fix.edits import NEWLINE
from d9mlint.model import Edit, Location

_TOLD = re.compile(r"`(\w+)(?:=|: )([^`\s]+)`")
_NAMED = re.compile(r"(?P<quote>[\"']?)(?P<name>\w+)[\"']?(?P<sign>\s*[=:]\s*|[ \t]+)")
_QUOTED = re.compile(r"\"([^\"\\$`]*)\"|'([^'\\]*)'")
_WORD = re.compile(r"[^\s\"',;&|(){}\[\]<>#$`\\!*]*")
_ENDS_VALUE = re.compile(r"[ \t]*(?:$|[,}\]]|(?<=\s)#)")
_ENDS_WORD = re.compile(r"$|[\s;&|)]")


def edits(remedy: str, at: Location, source: bytes) -> list[Edit]:
    """The edit that gives what stands at ``at`` the value that ``remedy`` says; none where it says none, or not how."""
    lines = NEWLINE.split(source.decode("utf-8", "replace").removeprefix("\ufeff"))
    line = lines[at.line - 1] if at.line <= len(lines) else ""
    named = _NAMED.match(line, at.column - 1)
    told = _told(remedy)
    wanted = told.get(named["name"], told.get(named["name"].lower())) if named else None
    if named is None or wanted is None:
        return []
    start, end = _place(line, named) or (0, 0)
    if not end:
        return []
    bare = start == end and line[start - 1] == ":"  # `key:` without a value
    return [Edit(Location(at.path, at.line, start + 1, at.line, end + 1), f" {wanted}" if bare else wanted)]


def _told(remedy: str) -> Mapping[str, str]:
    return dict(_TOLD.findall(remedy))


def _place(line: str, named: re.Match[str]) -> tuple[int, int] | None:
    """Where on its line the value begins and ends, without quotes; None where it is more than one plain word."""
    if named["sign"].startswith("=") and named["sign"] != "=":  # (`A= b` runs b)
        return None
    quoted = _QUOTED.match(line, named.end())
    if quoted is not None:
        return quoted.start() + 1, quoted.end() - 1
    word = _WORD.match(line, named.end())
    if word is None:
        return None
    if ":" in named["sign"]:
        alone = word[0] or not line[word.end() :].strip()
        return word.span() if alone and _ENDS_VALUE.match(line, word.end()) else None
    closed = bool(named["quote"]) and line.startswith(named["quote"], word.end())
    said = word[0] or named["sign"] == "="  # (`NAME=` sets it to nothing)
    return word.span() if said and (closed or _ENDS_WORD.match(line, word.end())) else None
