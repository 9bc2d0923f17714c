"""Parts of a repository that are missing from its checkout: their kernels are not looked at."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from d9mlint.model import Unchecked

_PATH = re.compile(r"^\s*path\s*=\s*(\S.*?)\s*$", re.MULTILINE)


def missing(root: Path) -> Iterator[Unchecked]:
    """The submodules (https://git-scm.com/docs/gitmodules) of a folder that are absent or empty."""
    try:
        written = (root / ".gitmodules").read_text("utf-8", "replace")
    except OSError:  # there are none
        return
    for path in sorted(set(_PATH.findall(written))):
        folder = root / path
        try:
            empty = not any(folder.iterdir())
        except OSError:
            empty = True
        if empty:
            yield Unchecked(f"{path}/", "a submodule that is not checked out")
