"""What the rest of the scanner has to know of kernels in Python files, without importing what reads them."""

from __future__ import annotations

from dataclasses import dataclass

from d9mlint.discover import may_hold_kernels
from d9mlint.kernels.source.repository import Repository
from d9mlint.model.kernel import KernelOp, Site


@dataclass(frozen=True, slots=True)
class Embedded:
    """Sites and ops of kernels in Python files, each by place and by name."""

    sites: tuple[Site, ...] = ()
    ops: tuple[KernelOp, ...] = ()
    files: int = 0
    """How many Python files were read for kernels."""


def python_with_kernels(repository: Repository, _: str = "") -> tuple[str, ...]:
    """The Python files that name a kernel language and an atomic, by their bytes."""
    return tuple(path for path in repository.paths if path.endswith(".py") and may_hold_kernels(repository.data(path)))
