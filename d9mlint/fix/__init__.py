"""Safe fixes: from findings and sources to new sources, to diffs, and to disk."""

from d9mlint.fix.diff import unified
from d9mlint.fix.edits import Applied, apply, apply_edits, edited, encoding, is_python, overlaps
from d9mlint.fix.write import CannotWrite, write

__all__ = [
    "Applied",
    "CannotWrite",
    "apply",
    "apply_edits",
    "edited",
    "encoding",
    "is_python",
    "overlaps",
    "unified",
    "write",
]
