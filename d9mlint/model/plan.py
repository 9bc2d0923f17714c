"""What a program does about its determinism: its generators and who seeds them, its switches, the order of its data."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from d9mlint.model.finding import Location


class PlanRow(NamedTuple):
    """One line of a program's determinism plan."""

    section: str
    """``generators``, ``switches`` or ``data``."""
    subject: str
    """What it is about, as people call it: the rows of one subject stand together."""
    text: str
    location: Location | None = None
    when: tuple[str, ...] = ()
    """Conditions under which it happens, all of them at once."""
