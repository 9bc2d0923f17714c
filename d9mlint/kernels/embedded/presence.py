"""What the rest of the scanner has to know of kernels in Python files, without importing what reads them."""

from __future__ import annotations

from typing import NamedTuple

from d9mlint.discover import may_hold_kernels
from d9mlint.kernels.source.looks import Look
from d9mlint.model.kernel import KernelOp, Site


class Embedded(NamedTuple):
    """Sites and ops of kernels in Python files, each by place and by name."""

    sites: tuple[Site, ...] = ()
    ops: tuple[KernelOp, ...] = ()
    files: int = 0
    """How many Python files were read for kernels."""


IN_PYTHON = Look((".py",), lambda _, data: may_hold_kernels(data), again=True)
"""Python files that name a kernel language and an atomic."""
