"""Sources with the names of plain C++ that hold device code: kernels, SYCL, what is behind a project's own qualifiers.

``ParallelFor(n, [=] GPU_DEVICE (int i) {...})`` in a ``.cpp`` that the build hands to the compiler of CUDA or HIP.
"""

from __future__ import annotations

import re

from d9mlint.kernels.source.looks import Look
from d9mlint.kernels.source.repository import KERNEL_SUFFIXES, PLAIN_SUFFIXES, Repository

_WORD = re.compile(
    rb"__(?:device|global)__"
    rb"|(?<![A-Z0-9_])[A-Z][A-Z0-9]*_(?:[A-Z0-9]+_)*(?:DEVICE|FUNCTION|KERNEL)(?:_[A-Z0-9]+)*(?![A-Z0-9_])"
)
_DEFINE = re.compile(rb"#[ \t]*define[ \t]+(\w+)(?:\([\w, \t]*\))?[ \t](?:[^\n\\]|\\\r?\n)*?__(?:device|global)__")
_QUALIFIERS = (b"__device__", b"__global__")
_SYCL = re.compile(rb"\bsycl(?:::|/sycl\.hpp|\.hpp)")


def _words(path: str, data: bytes) -> frozenset[bytes]:
    """The words of a plain source that may be qualifiers of the device; of others, what they define as such."""
    if path.endswith(PLAIN_SUFFIXES) and not path.endswith(KERNEL_SUFFIXES):
        found = any(word in data for word in (*_QUALIFIERS, b"DEVICE", b"FUNCTION", b"KERNEL"))
        words = frozenset(_WORD.findall(data)) if found else frozenset()
        return words | {_QUALIFIERS[0]} if b"sycl" in data and _SYCL.search(data) is not None else words
    found = b"define" in data and any(word in data for word in _QUALIFIERS)
    return frozenset(_DEFINE.findall(data)) if found else frozenset()


DEVICE = Look((*PLAIN_SUFFIXES, ".h", ".hpp", ".H", ".hh", ".hxx", ".cuh"), _words)
"""Words for the device: those that plain sources use, those that headers define."""


def with_device_code(repository: Repository, _: str) -> frozenset[str]:
    """The plain sources that hold a qualifier of the device, or a macro that stands for one."""
    found = repository.looked(DEVICE)
    plain = {p: words for p, words in found.items() if p.endswith(PLAIN_SUFFIXES) and not p.endswith(KERNEL_SUFFIXES)}
    defined = set(_QUALIFIERS).union(*(words for path, words in found.items() if path not in plain))
    return frozenset(path for path, words in plain.items() if not defined.isdisjoint(words))


def seeing(repository: Repository, definer: str) -> frozenset[str]:
    """Those of them that include what defines something, directly or not."""
    return repository.derived(_seeing, definer)


def _seeing(repository: Repository, definer: str) -> frozenset[str]:
    found = repository.derived(with_device_code, "")
    return frozenset(path for path in found if definer in repository.reachable(path))
