"""The conditions on the way to a place in a program."""

from __future__ import annotations

from collections.abc import Iterable

from d9mlint.python.domain.guards import All, Cond, Known
from d9mlint.python.domain.tellable import is_symbolic


class Path:
    """The conditions on the way to a place; silent ones only exclude a crash and need no mention."""

    __slots__ = ("_known", "quiet", "told")

    def __init__(self, conds: Iterable[Cond] = ()) -> None:
        self.told: list[Cond] = []
        """Those that are worth a mention."""
        self.quiet: list[Cond] = list(conds)
        """Those that are not."""
        self._known: list[tuple[Known, int, int]] = [(Known(self.quiet), 0, len(self.quiet))]

    def __len__(self) -> int:
        return len(self._known) - 1

    def push(self, cond: Cond, silent: bool = False) -> None:
        """One more condition."""
        known = self._known[-1][0]
        if silent:
            parts = [c for c in (cond.of if isinstance(cond, All) else (cond,)) if is_symbolic(c)]
            if parts:  # nobody will ask for the others again
                known = known.copy()
                for part in parts:
                    known.add(part)
                self.quiet.extend(parts)
        else:
            known = known.copy()
            known.add(cond)
            self.told.append(cond)
        self._known.append((known, len(self.told), len(self.quiet)))

    def cut(self, depth: int) -> None:
        """Back to ``depth`` conditions."""
        del self._known[depth + 1 :]
        _, told, quiet = self._known[-1]
        del self.told[told:]
        del self.quiet[quiet:]

    def conds(self) -> tuple[Cond, ...]:
        """All of them."""
        return (*self.told, *self.quiet)

    def silent(self) -> tuple[Cond, ...]:
        """Those that need no mention."""
        return tuple(self.quiet)

    def truth(self, cond: Cond) -> bool | None:
        """Whether ``cond`` holds here."""
        return self._known[-1][0].truth(cond)
