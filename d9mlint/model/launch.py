"""How a program is started: the command in a script, an image or a workflow, its environment and its arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from d9mlint.model.finding import Location
    from d9mlint.model.target import EnvironmentVariable


class Launch(NamedTuple):
    """A command that starts an entry."""

    location: Location
    environment: tuple[EnvironmentVariable, ...] = ()
    """Variables that matter for determinism and are set for the process, by name."""
    arguments: tuple[str, ...] = ()
    """The script's arguments; what is not known stands as it is written (``$1``)."""
    unknown: tuple[str, ...] = ()
    """Those of the arguments whose values are not known."""

    @property
    def place(self) -> str:
        """``path:line``."""
        return f"{self.location.path}:{self.location.line}"
