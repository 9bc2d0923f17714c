"""The conditions on the way to a place in a program."""

from __future__ import annotations

from collections.abc import Iterable

from d9mlint.python.guards import Cond, Known
from d9mlint.python.wording import is_symbolic


class Path:
    """The conditions on the way to a place; silent ones only exclude a crash and need no mention."""

    __slots__ = ("_conds", "_known", "told")

    def __init__(self, conds: Iterable[Cond] = ()) -> None:
        self._conds: list[Cond] = list(conds)
        self.told: list[Cond] = []
        """Those that are worth a mention."""
        self._known: list[tuple[Known, int]] = [(Known(self._conds), 0)]

    def __len__(self) -> int:
        return len(self._known) - 1

    def push(self, cond: Cond, silent: bool = False) -> None:
        """One more condition."""
        if silent and not is_symbolic(cond):
            self._known.append(self._known[-1])  # nobody will ask for it again
            return
        known = self._known[-1][0].copy()
        known.add(cond)
        self._conds.append(cond)
        if not silent:
            self.told.append(cond)
        self._known.append((known, len(self._conds)))

    def cut(self, depth: int) -> None:
        """Back to ``depth`` conditions."""
        del self._known[depth + 1 :]
        conds = self._known[-1][1]
        gone = set(self._conds[conds:])
        del self._conds[conds:]
        while self.told and self.told[-1] in gone:
            self.told.pop()

    def conds(self) -> tuple[Cond, ...]:
        """All of them."""
        return tuple(self._conds)

    def silent(self) -> tuple[Cond, ...]:
        """Those that need no mention."""
        return tuple(c for c in self._conds if c not in self.told)

    def truth(self, cond: Cond) -> bool | None:
        """Whether ``cond`` holds here."""
        return self._known[-1][0].truth(cond)
