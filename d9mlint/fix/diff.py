"""What fixes would change, as a unified diff without times."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping

_LINE = re.compile(r"[^\n]*\n|[^\n]+")


def unified(before: Mapping[str, bytes], after: Mapping[str, bytes]) -> str:
    """The diffs of all files in ``after``, by path; empty where nothing changes."""
    return "".join(_one(path, before[path], after[path]) for path in sorted(after))


def _one(path: str, before: bytes, after: bytes) -> str:
    old, new = (_LINE.findall(data.decode("utf-8", "replace")) for data in (before, after))
    lines = difflib.unified_diff(old, new, path, path)
    return "".join(line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines)
