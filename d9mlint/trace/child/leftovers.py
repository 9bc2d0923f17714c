"""What memory holds that nobody has written: glibc fills it, with another byte in each run, at times only.

To fill all that is handed out takes four tenths of the time of a convolutional network's step (measured): it is done
until the second step, then in one of sixteen.
"""

from __future__ import annotations

import ctypes
from typing import Any

_M_PERTURB = -6
"""mallopt(3)."""
_FIRST, _EVERY = 2, 16


class Leftovers:
    """Turns the filling off and on; ``byte``: what `MALLOC_PERTURB_` is, 0 where it is not d9mlint's to change."""

    def __init__(self, byte: int, set_option: Any = None) -> None:
        self._byte = byte
        self._on = True
        self._set = set_option or getattr(ctypes.CDLL(None), "mallopt", None)

    def stepped(self, done: int) -> None:
        """After so many steps: is the next one to find memory filled?"""
        on = done < _FIRST or (done + 1) % _EVERY == 0
        if on != self._on and self._byte and self._set is not None:
            self._on = on
            self._set(_M_PERTURB, self._byte if on else 0)
