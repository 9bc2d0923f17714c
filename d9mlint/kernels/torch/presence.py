"""Whether sources register what they hold with Python: cheap to ask, and to import."""

from __future__ import annotations

import re

from d9mlint.kernels.source.looks import Look
from d9mlint.kernels.source.repository import SUFFIXES, Repository

_TOP = 4000
"""Bytes of a source in which its first ``#include`` lines stand."""
_INCLUDE = re.compile(rb"^[ \t]*#[ \t]*(?:include|import)\b[^\n]*torch/", re.MULTILINE)
_OTHERS = (b"<nnvm/", b"<dgl/", b"xla/ffi/", b"pybind11/", b"nanobind/", b"<mxnet/")


def _includes(_: str, data: bytes) -> str:
    """``torch``, ``other`` (a registry or binding of another framework) or nothing."""
    if data.find(b"torch/", 0, _TOP) >= 0 and _INCLUDE.search(data, 0, _TOP) is not None:
        return "torch"
    return "other" if any(data.find(word, 0, _TOP) >= 0 for word in _OTHERS) else ""


INCLUDING = Look(SUFFIXES, _includes)
"""Sources that include a header of PyTorch, or of what else binds C++ to Python, among their first lines."""


def is_bound(repository: Repository) -> bool:
    """Whether a source includes a header of PyTorch or of another binding, or this is PyTorch itself.

    TensorFlow binds its ops by itself: there only PyTorch counts.
    """
    found = set(repository.looked(INCLUDING).values())
    if "torch" in found or any(path.endswith("/native_functions.yaml") for path in repository.paths):
        return True
    from d9mlint.kernels.tensorflow.presence import is_tensorflow

    return bool(found) and not is_tensorflow(repository)
