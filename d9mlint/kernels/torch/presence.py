"""Whether sources have to do with PyTorch: cheap to ask, and to import."""

from __future__ import annotations

import re

from d9mlint.kernels.source.repository import Repository

_TOP = 4000
"""Bytes of a source in which its first ``#include`` lines stand."""
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*(?:include|import)\b[^\n]*torch/", re.MULTILINE)


def is_torch(repository: Repository) -> bool:
    """Whether a source includes a header of PyTorch, among its first lines, or this is PyTorch itself."""
    for path in repository.sources:
        data = repository.data(path)
        if data.find(b"torch/", 0, _TOP) >= 0 and _INCLUDE.search(data, 0, _TOP) is not None:
            return True
    return any(path.endswith("/native_functions.yaml") for path in repository.paths)
