"""Every atomic operation of a repository, before judgement."""

from __future__ import annotations

from dataclasses import dataclass

import tree_sitter

from d9mlint.kernels.repository import Repository
from d9mlint.kernels.unit import Function, Unit
from d9mlint.model import Location


@dataclass(frozen=True, slots=True)
class Atomic:
    """An atomic operation as it stands in a source.

    ``unit`` and ``node`` are where it can be read: the file and the call; for a macro the parsed body or expansion; for
    PTX the piece of assembler, where ``node`` is None. ``location`` is always in the file the user sees.
    """

    location: Location
    name: str
    """As written, last part only: ``CudaAtomicAdd``."""
    intrinsic: str
    """What it comes down to (``atomicAdd``); empty where that is not known."""
    scope: str
    form: str
    unit: Unit
    node: tree_sitter.Node | None
    function: Function | None
    arguments: tuple[tree_sitter.Node, ...] = ()
    """The arguments, the target first (in ``unit``)."""
    inner: tuple[Atomic, ...] = ()
    """For a wrapper, the atomics in the bodies that bear its name; for a macro use, those of its expansion."""
    assembler: str = ""
    """The PTX instruction."""


def find(repository: Repository) -> list[Atomic]:
    """All atomics, by place."""
    raise NotImplementedError
