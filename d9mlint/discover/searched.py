"""The folders that shell scripts and Dockerfiles put on ``PYTHONPATH``, as far as their text tells them.

Sources: docs.python.org/3/using/cmdline.html (PYTHONPATH); POSIX.1-2017, Shell Command Language 2.6.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from d9mlint.discover.roots import first_there, named_folders, starts_of

_WORD = rb"((?:\"[^\"\n]*\"|'[^'\n]*'|[^\s;&|\"'])+)"
_SET = re.compile(rb"^[^#\n]*?\bPYTHONPATH[= \t]+" + _WORD, re.MULTILINE)
_ASSIGNED = re.compile(rb"^[ \t]*(?:export[ \t]+)?([A-Za-z_]\w*)=" + _WORD, re.MULTILINE)
_VARIABLE = re.compile(r"\$\{?(\w+)[^/}]*\}?")
_HERE = re.compile(r"\$\([^()]*(?:\([^()]*\)[^()]*)*\)|`[^`]*`|\$\{?(?:PWD|PYTHONPATH)\b[^/}:]*\}?")
"""What stands for a folder that is known only when the script runs: mostly the one that it is started in."""
_DEEP = 4
"""Variables in each other."""


def searched_roots(files: Iterable[tuple[Path, bytes]]) -> tuple[Path, ...]:
    """The folders, where they are there, that these files put on the path in which Python looks for modules."""
    return named_folders(files, b"PYTHONPATH", _searched)


def _searched(path: Path, data: bytes) -> Iterator[Path]:
    known = {name.decode(): value.decode("utf-8", "replace") for name, value in _ASSIGNED.findall(data)}
    for value in _SET.findall(data):
        for part in _HERE.sub(".", value.decode("utf-8", "replace")).split(":"):
            relative = os.path.normpath(_written_out(part, known).strip("\"'") or ".")
            if relative.startswith("/") or "$" in relative or not relative.strip("./"):
                continue  # a place on another machine, or the folder that a program is started in
            yield from first_there(starts_of(path), relative)


def _written_out(text: str, known: dict[str, str]) -> str:
    """A part of the path with the variables that the script sets; what it does not set is a folder to start from."""
    for _ in range(_DEEP):
        replaced = _HERE.sub(".", _VARIABLE.sub(lambda one: known.get(one[1], ".").strip("\"'"), text))
        if replaced == text:
            break
        text = replaced
    return text
