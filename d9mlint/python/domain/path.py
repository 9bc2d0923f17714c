"""The path condition: what holds on the way to a place in a program."""

from __future__ import annotations

import itertools
from collections.abc import Iterable
from typing import TypeAlias

from d9mlint.python.domain.conditions import MAX_NODES, Cond, both, conjuncts, negate
from d9mlint.python.domain.diagrams import Node, Variable, conjunction, implies, is_larger, meets

MAX_TOGETHER = 12
"""Different tests in conditions that are looked at as one: what follows only from more of them is not seen."""

_Cluster: TypeAlias = tuple[frozenset[Variable], Node]
"""Conditions that share tests, put together, and all tests in them."""
_number = itertools.count(1).__next__


class Path:
    """A path condition; those that go on from it are its children, so that what is known of it is worked out once."""

    __slots__ = ("_all", "_children", "_clusters", "_since", "_truths", "branches", "number", "quiet", "told")

    def __init__(
        self, told: tuple[Cond, ...] = (), quiet: tuple[Cond, ...] = (), branches: tuple[Cond, ...] = (),
        clusters: tuple[_Cluster, ...] = (),
    ) -> None:  # fmt: skip
        self.number = _number()
        self.told = told
        """The conditions that are worth a mention, outermost first."""
        self.branches = branches
        """Those of them that branches brought: without that functions have not returned before."""
        self.quiet = quiet
        """Those that are not: they only exclude that the program has stopped."""
        self._clusters = clusters
        """The same, put together where they share a test: what is asked of one is not asked of all."""
        self._all: frozenset[Cond] | None = None
        self._children: dict[tuple[Cond, str], Path | None] = {}
        """None where a path goes on as it is: one that holds itself would only be freed by the collector."""
        self._truths: dict[Cond, bool | None] = {}
        self._since: dict[tuple[tuple[Cond, ...], tuple[Cond, ...]], Cond] = {}

    def under(self, cond: Cond) -> Path:
        """The path of a branch."""
        found = self._children.get((cond, "branch"))
        if found is None:
            found = Path((*self.told, cond), self.quiet, (*self.branches, cond), self._with(cond))
            self._children[(cond, "branch")] = found
        return found

    def unless(self, returned: Cond) -> Path:
        """The path on which a function has not returned."""
        found = self._children.get((returned, "return"))
        if found is None:
            cond = negate(returned)
            found = Path((*self.told, cond), self.quiet, self.branches, self._with(cond))
            self._children[(returned, "return")] = found
        return found

    def excluding(self, stopped: Cond) -> Path:
        """The path on which the program has not stopped under a condition; what says nothing of flags is left out."""
        key = (stopped, "stop")
        if key not in self._children:
            parts = tuple(part for part in conjuncts(negate(stopped)) if _of_flags(part))
            clusters = self._with(both(*parts))
            found = Path(self.told, (*self.quiet, *parts), self.branches, clusters) if parts else None
            self._children[key] = found
        return self._children[key] or self

    def alone(self) -> Path:
        """What is known on the path although nobody would mention it."""
        found = Path()
        for cond in self.quiet:
            found = Path((), (*found.quiet, cond), (), found._with(cond))
        return found

    @property
    def all(self) -> frozenset[Cond]:
        """All of its conditions."""
        if self._all is None:
            self._all = frozenset((*self.told, *self.quiet))
        return self._all

    def since(self, born: tuple[Cond, ...]) -> Cond:
        """What has to hold on top of the conditions ``born``."""
        return self._on_top(self.told, born)

    def branched_since(self, born: tuple[Cond, ...]) -> Cond:
        """The same for what nobody asks for where the function has returned; ``born`` are branches."""
        return self._on_top(self.branches, born)

    def _on_top(self, conds: tuple[Cond, ...], born: tuple[Cond, ...]) -> Cond:
        if not conds or conds == born:
            return True
        key = (conds, born)
        found = self._since.get(key)
        if found is None:
            before = frozenset(born)
            found = self._since[key] = both(*(cond for cond in conds if cond not in before))
        return found

    def truth(self, cond: Cond) -> bool | None:
        """Whether ``cond`` holds here: True, False, or None for not known."""
        if isinstance(cond, bool):
            return cond
        try:
            return self._truths[cond]
        except KeyError:
            found = self._truths[cond] = self._truth(cond)
            return found

    def _truth(self, cond: Node) -> bool | None:
        near = self._near(cond)
        if not near:
            return None
        known = together(cluster for _, cluster in near)
        if not meets(known, cond):
            return False
        return True if implies(known, cond) else None

    def _near(self, cond: Node) -> list[_Cluster]:
        """Those of its conditions that share a test with one."""
        asked = cond.support
        return [one for one in self._clusters if not asked.isdisjoint(one[0])]

    def _with(self, cond: Cond) -> tuple[_Cluster, ...]:
        if isinstance(cond, bool):  # (what cannot be is never asked for)
            return self._clusters
        near = self._near(cond)
        alone = (*self._clusters, (cond.support, cond))
        if not near:
            return alone
        joined = conjunction(together(cluster for _, cluster in near), cond)
        if isinstance(joined, bool) or len(joined.support) > MAX_TOGETHER:
            return alone
        return (*(one for one in self._clusters if one not in near), (joined.support, joined))


def together(clusters: Iterable[Node]) -> Cond:
    """What the clusters say together, as far as it is not too large: it holds wherever all of them do."""
    found: Cond = True
    for cluster in clusters:
        joined = conjunction(found, cluster)
        if not is_larger(joined, MAX_NODES):
            found = joined
    return found


def _of_flags(cond: Cond) -> bool:
    """Whether a condition speaks of flags, be it beside tests that cannot be read."""
    return isinstance(cond, bool) or any(variable.universe is not None for variable in cond.support)
