"""What a framework knows of the uses of its ops, beyond what the catalogue says of them."""

from __future__ import annotations

from d9mlint.model import Op, OpStatus
from d9mlint.python.domain.conditions import Cond
from d9mlint.python.domain.events import Event
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers


class OpUses:
    """One framework's answers to what judges its ops; each overrides those where it knows something.

    ``makers`` are the calls of the program by the ``id`` of what they gave.
    """

    shows_nothing: bool = False
    """A call that does not show that the op matters is mostly harmless."""

    def on_gpu(self, program: Program) -> Cond:
        """When the program computes on a GPU."""
        return True

    def harmless(self, program: Program, event: Event, op: Op, makers: Makers) -> bool:
        """Whether nothing can vary at this use."""
        return False

    def elsewhere(self, program: Program, event: Event, op: Op, makers: Makers) -> Cond:
        """When this use is on the CPU, though the program computes on a GPU."""
        return False

    def likely(self, event: Event, op: Op, makers: Makers) -> bool:
        """Where the call does not show whether the op matters: whether most uses of this kind do."""
        return True

    def sure(self, event: Event, op: Op, makers: Makers) -> bool:
        """Whether the call itself shows that the op matters."""
        return True

    def status(self, event: Event, op: Op, status: OpStatus, makers: Makers) -> OpStatus:
        """The status at this use, which may be another than the version's."""
        return status

    def chosen(self, program: Program, op: Op) -> Cond:
        """When the framework takes this kernel, where it chooses between several."""
        return True
