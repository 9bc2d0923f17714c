"""Who has written what a tensor holds: by its memory, as views share it."""

from __future__ import annotations

from typing import Any


class Storages:
    """The number of the event that wrote to a memory last; below zero: it handed it out, nothing has written to it."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[int, int]] = {}

    def writer(self, tensor: Any) -> int:
        """0: nothing that was recorded."""
        try:
            storage = tensor.untyped_storage()
            address, number = self._known.get(storage._cdata, (0, 0))
            # The number of a storage that is gone may be another's by now; seldom are both at the same address, too.
            return number if address == storage.data_ptr() else 0
        except (RuntimeError, NotImplementedError, AttributeError):
            return 0

    def write(self, tensor: Any, number: int) -> None:
        """``number``: of the event."""
        try:
            storage = tensor.untyped_storage()
            self._known[storage._cdata] = (storage.data_ptr(), number)
        except (RuntimeError, NotImplementedError, AttributeError):
            return
