"""Sums that files in Python leave to PyTorch: named beside the kernels, so that nobody takes their files for clean."""

from __future__ import annotations

import re

from d9mlint.kernels.source.looks import Look

_SUMS = re.compile(
    rb"\.((?:index|scatter)_add_|scatter_reduce_)\s*\(|\b(scatter_(?:sum|mean))\s*\("
    rb"|\btorch\.((?:index|scatter)_add|scatter_reduce)\s*\("
    rb"|\.((?:index|scatter)_add|scatter_reduce)\s*\(\s*(?:dim\s*=\s*)?-?\d"
    rb"|\.(index_put_?)\s*\([^\n]*\baccumulate\s*=\s*True"
)
"""Calls that add what several threads bring to one cell: https://docs.pytorch.org/docs/stable/generated/torch.use_deterministic_algorithms.html"""
_IMPORT = re.compile(rb"^[ \t]*(?:import|from)[ \t]+torch", re.MULTILINE)
_WORDS = (b"index_add", b"index_put", b"scatter_")
_TESTS = frozenset(("test", "tests"))


def _sums(path: str, data: bytes) -> tuple[str, ...]:
    if not any(word in data for word in _WORDS) or not _TESTS.isdisjoint(path.split("/")[:-1]):
        return ()
    if _IMPORT.search(data) is None:
        return ()
    names = (name for match in _SUMS.finditer(data) for name in match.groups() if name is not None)
    return tuple(sorted({name.decode() for name in names}))


SUMS = Look((".py",), _sums)
"""The functions of PyTorch that a file in Python adds by, which `check` tells of."""
