"""What fixes would change, as a unified diff without times; of a notebook, the text of its cells."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

from d9mlint.fix import notebooks

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def unified(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    """The diffs of all files in ``after``, by path; empty where nothing changes."""
    return "".join(_file(path, before[path], after[path]) for path in sorted(after))


def _file(path: str, before: bytes, after: bytes) -> str:
    if not path.endswith(notebooks.SUFFIX):
        return _one(path, before.decode("utf-8", "replace"), after.decode("utf-8", "replace"))
    old, new = notebooks.sources(before), notebooks.sources(after)
    return "".join(_one(f"{path}:cell {number}", f"{old[number]}\n", f"{new[number]}\n") for number in new)


def _one(name: str, before: str, after: str) -> str:
    lines = difflib.unified_diff(_LINE.findall(before), _LINE.findall(after), name, name)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
