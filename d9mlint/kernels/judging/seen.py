"""All that is read off an atomic before it is judged."""

from __future__ import annotations

from typing import NamedTuple

import tree_sitter

from d9mlint.kernels.judging import declarations
from d9mlint.kernels.judging.constants import Constant
from d9mlint.kernels.judging.operands import brought, handed_on, lone_constant
from d9mlint.kernels.judging.operations import Operation, operation
from d9mlint.kernels.judging.owners import ownership, radix, singles, slices
from d9mlint.kernels.judging.returned import fetched, uses
from d9mlint.kernels.judging.returned.algorithms import applied
from d9mlint.kernels.judging.returned.handed import followed
from d9mlint.kernels.judging.returned.sorting import Sorting, sorted_after
from d9mlint.kernels.judging.returned.unions import joins
from d9mlint.kernels.judging.rounded import rounded
from d9mlint.kernels.judging.swapping import swaps
from d9mlint.kernels.judging.targets import Target, defines, handed_in, of_parameter, place, target
from d9mlint.kernels.sites.atomics import Atomic
from d9mlint.kernels.source.repository import Repository

DEFINITIONS = ("wrapper-def", "macro-def")
"""The forms of what is judged where it is used."""
_MAX_LEVELS = 8
_COUNTING = frozenset(("add", "sub", "inc", "dec"))


class Seen(NamedTuple):
    """All that is read off a site before it is judged."""

    atomic: Atomic
    operation: Operation
    target: Target
    use: uses.Use
    constant: Constant | None
    owner: str
    defines: bool = False
    """Whether it is an expansion outside of functions, which defines some itself."""
    assumed: str = ""
    """What must hold for one thread to own the address, where that is not proven: words from ``if`` on."""
    rounded: str = ""
    """How the operand is rounded so that sums are exact, as written."""
    handed: bool = False
    """Whether it is an expansion whose target comes from a parameter of a function that is no kernel."""
    alike: bool = False
    """Whether the old value is a piece of work, or the number of a block, that is the same whoever gets it."""
    joins: bool = False
    """Whether it joins trees by their least members, and the old value is where it goes on."""
    sorting: Sorting | None = None
    """How that is sorted which is stored at the places that the old value gives."""

    @property
    def what(self) -> str:
        """The atomic and its target, quoted, as reasons begin."""
        atomic = self.atomic
        call = f"`{atomic.name or atomic.assembler}`"
        on = f" on `{self.target.name}`" if self.target.name else ""
        shared = " in shared memory" if self.target.memory == "shared" else ""
        typed = f" ({self.target.written})" if self.target.written else ""
        return f"{call}{on}{shared}{typed}"

    @property
    def definition(self) -> bool:
        """Whether the site is the body of a wrapper or macro, judged where that is used.

        A functor whose calls are not found is judged by its instantiations.
        """
        function = self.atomic.function
        if self.atomic.form == "ptx" and self.atomic.arguments:
            return (
                function is not None
                and "__global__" not in function.qualifier
                and (self.atomic.passed_on or of_parameter(self.atomic))
            )
        if self.defines:
            return True
        if self.atomic.form == "macro-use" and (self.atomic.passed_on or self.handed):
            return True
        functor = function is not None and function.name.startswith("operator") and self.atomic.form == "wrapper-def"
        return self.atomic.form in DEFINITIONS and not (functor and self.target.types and not self.atomic.called)


def _use(atomic: Atomic, level: int) -> uses.Use:
    """The use of the old value, also of one that a wrapper puts into a variable that it is given."""
    used = uses.use(atomic.node, atomic.unit) if atomic.node is not None else uses.Use("unused")
    if used.kind != "unused" or atomic.node is None or level > _MAX_LEVELS:
        return used
    for one in atomic.inner if atomic.node.type == "call_expression" else ():
        through = _use(one, level + 1).through
        function = one.function.node if through and one.function is not None else None
        place = declarations.parameter_place(function, through, one.unit) if function is not None else -1
        if place >= 0:
            return uses.handed_back(atomic.node, place, atomic.unit)
    return used


def _gives_back(atomic: Atomic) -> bool:
    """Whether the value of a call is the old one: of a wrapper, one that its body returns."""
    return not atomic.inner or any(_use(one, 1).kind == "forwarded" for one in atomic.inner)


def _cells(address: tree_sitter.Node, atomic: Atomic, space: str) -> radix.Owned | None:
    """Whether each thread writes cells of its own there; what is proven goes before what is assumed."""
    found = radix.owner(address, atomic.unit, atomic.function)
    if found is not None and not found.assumed:
        return found
    other = slices.owner(address, atomic.unit, atomic.function, space)
    return other if found is None or (other is not None and not other.assumed) else found


def look(atomic: Atomic, repository: Repository) -> Seen:
    """Reads a site: operation, type, memory, use of the old value, operand, owner of the address."""
    found = operation(atomic, repository)
    where = target(atomic, found, repository)
    types = () if where.types and not where.open else brought(atomic, repository)
    if types and not (where.of("float") and where._replace(types=types).of("integer")):
        where = where._replace(types=types, open=False)
    used = _use(atomic, 0)
    if used.passed and _gives_back(atomic):
        used = followed(used, atomic.unit, repository)
    if found.instruction is not None and found.instruction.returns and atomic.form.startswith("ptx"):
        kernel = atomic.function is None or "__global__" in atomic.function.qualifier
        traced = uses.assembled(atomic.arguments[0], atomic.unit) if atomic.arguments else None
        used = traced or (uses.Use("value", passed=True) if kernel else uses.Use("forwarded"))
    if found.loop and found.cas is not None:
        used = swaps.loop_use(atomic, used)
    if used.kind == "forwarded" and atomic.form not in DEFINITIONS and applied(atomic.function, repository):
        used = used._replace(kind="value")
    if used.queue and not _COUNTING.issuperset(found.words):
        used = used._replace(queue=False)  # no number that goes up
    alone, assumed = singles.sequential(atomic), ""
    matters = bool(where.of("float")) or used.kind not in ("unused", "forwarded")
    if matters and atomic.arguments and not atomic.assembler and handed_on(atomic, 0):
        address = atomic.arguments[0]
        alone = alone or ownership.owner(address, atomic.unit, atomic.function, where.memory)
        cells = None if alone else _cells(address, atomic, where.memory)
        if cells is not None:
            alone, assumed = ("", f"{cells.why} {cells.assumed}") if cells.assumed else (cells.why, "")
    # What defines a kernel, or a function that changes cells of its own, is used nowhere else as an atomic.
    defining = defines(atomic, repository) and any(one.passed_on for one in atomic.inner)
    used = uses.Use("unused") if defining else used
    handed = handed_in(where.name, place(atomic, repository))
    grid = rounded(atomic, repository) if set(found.words) <= {"add", "sub"} and not where.of("integer") else ""
    numbers = used.queue or (used.kind == "index" and singles.numbers_blocks(atomic))
    alike = numbers and fetched.alike(atomic, used, repository)
    joined = joins(atomic, found, used)
    places = used.kind == "index" and not alike and _COUNTING.issuperset(found.words)
    sorted_ = sorted_after(atomic, used, repository) if places else None
    return Seen(
        atomic,
        found,
        where,
        used,
        lone_constant(atomic),
        alone,
        defining,
        assumed,
        grid,
        handed,
        alike,
        joined,
        sorted_,
    )
