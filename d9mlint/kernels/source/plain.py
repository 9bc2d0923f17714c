"""Sources with the names of plain C++ that hold device code: lambdas and functions behind a project's own qualifiers.

``ParallelFor(n, [=] GPU_DEVICE (int i) {...})`` in a ``.cpp`` that the build hands to the compiler of CUDA or HIP.
"""

from __future__ import annotations

import re

from d9mlint.kernels.source.qualifying import QUALIFIERS
from d9mlint.kernels.source.repository import KERNEL_SUFFIXES, PLAIN_SUFFIXES, Repository

_DEVICE = b"__device__"
_DEFINE = re.compile(rb"#[ \t]*define[ \t]+(\w+)[ \t][^\n]*__device__")
_SHORTEST = 5
"""Letters that the name of a qualifier needs to say anything."""


def with_device_code(repository: Repository, _: str) -> frozenset[str]:
    """The plain sources that hold a qualifier of the device, or a macro that stands for one."""
    named = {name for path in repository.looked(QUALIFIERS) for name in _DEFINE.findall(repository.data(path))}
    words = (_DEVICE, *sorted(name for name in named if len(name) >= _SHORTEST))
    plain = (p for p in repository.sources if p.endswith(PLAIN_SUFFIXES) and not p.endswith(KERNEL_SUFFIXES))
    return frozenset(path for path in plain if any(word in repository.data(path) for word in words))


def seeing(repository: Repository, definer: str) -> frozenset[str]:
    """Those of them that include what defines something, directly or not."""
    return repository.derived(_seeing, definer)


def _seeing(repository: Repository, definer: str) -> frozenset[str]:
    found = repository.derived(with_device_code, "")
    return frozenset(path for path in found if definer in repository.reachable(path))
