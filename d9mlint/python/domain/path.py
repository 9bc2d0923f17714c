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


class _Conditions:
    """The conditions of a path as one asks for them: one more than those ``before``, worked out when it is asked for.

    Most paths are never asked what holds on them.
    """

    __slots__ = ("_clusters", "_newest", "_tests", "truths")

    def __init__(self, newest: tuple[_Conditions, Node] | None = None) -> None:
        self._newest = newest
        """Those before and the one more; None where there are none at all."""
        self._clusters: tuple[_Cluster, ...] = ()
        """All of them, put together where they share a test: what is asked of one is not asked of all."""
        self._tests: frozenset[Variable] | None = frozenset() if newest is None else None
        """Those of the newest, and of all that it was put together with; None where that is still to be done."""
        self.truths: dict[Cond, bool | None] = {}

    def under(self, cond: Cond) -> _Conditions:
        """These and one more; what cannot be is never asked for."""
        return self if isinstance(cond, bool) else _Conditions((self, cond))

    def truth(self, cond: Node) -> bool | None:
        """Whether ``cond`` holds where all of them do, asked for once for all that say the same about its tests."""
        if cond not in self.truths:
            asked, level = cond.support, self
            while level._newest is not None and level._put_together().isdisjoint(asked):
                level = level._newest[0]
            self.truths[cond] = self._truth(cond) if level is self else level.truth(cond)
        return self.truths[cond]

    def _truth(self, cond: Node) -> bool | None:
        near = _near(self._clusters, cond)
        if not near:
            return None
        known = together(cluster for _, cluster in near)
        if not meets(known, cond):
            return False
        return True if implies(known, cond) else None

    def _put_together(self) -> frozenset[Variable]:
        """Puts them together; gives the tests of the newest and of those that it was put together with."""
        pending: list[tuple[_Conditions, Node]] = []
        level = self
        while level._tests is None and level._newest is not None:
            pending.append((level, level._newest[1]))
            level = level._newest[0]
        for one, cond in reversed(pending):
            one._clusters, one._tests = _with(level._clusters, cond)
            level = one
        return self._tests or frozenset()


def _with(clusters: tuple[_Cluster, ...], cond: Node) -> tuple[tuple[_Cluster, ...], frozenset[Variable]]:
    """Clusters and one more condition; with the tests that those have which it was looked at together with."""
    near = _near(clusters, cond)
    tests = cond.support.union(*(its for its, _ in near)) if near else cond.support
    if near:
        joined = conjunction(together(cluster for _, cluster in near), cond)
        if not isinstance(joined, bool) and len(joined.support) <= MAX_TOGETHER:
            return (*(one for one in clusters if one not in near), (joined.support, joined)), tests
    return (*clusters, (cond.support, cond)), tests


def _near(clusters: Iterable[_Cluster], cond: Node) -> list[_Cluster]:
    """Those that share a test with a condition."""
    asked = cond.support
    return [one for one in clusters if not asked.isdisjoint(one[0])]


class Path:
    """A path condition; those that go on from it are its children, so that what is known of it is worked out once."""

    __slots__ = ("_all", "_children", "_conditions", "_since", "_truths", "branches", "number", "quiet", "told")

    def __init__(
        self, told: tuple[Cond, ...] = (), quiet: tuple[Cond, ...] = (), branches: tuple[Cond, ...] = (),
        conditions: _Conditions | None = None,
    ) -> None:  # fmt: skip
        self.number = _number()
        self.told = told
        """The conditions that are worth a mention, outermost first."""
        self.branches = branches
        """Those of them that branches brought: without that functions have not returned before."""
        self.quiet = quiet
        """Those that are not: they only exclude that the program has stopped."""
        self._conditions = _Conditions() if conditions is None else conditions
        self._all: frozenset[Cond] | None = None
        self._children: dict[tuple[Cond, str], Path | None] = {}
        """None where a path goes on as it is: one that holds itself would only be freed by the collector."""
        self._truths = self._conditions.truths
        self._since: dict[tuple[tuple[Cond, ...], tuple[Cond, ...]], Cond] = {}

    def under(self, cond: Cond) -> Path:
        """The path of a branch."""
        found = self._children.get((cond, "branch"))
        if found is None:
            found = Path((*self.told, cond), self.quiet, (*self.branches, cond), self._conditions.under(cond))
            self._children[(cond, "branch")] = found
        return found

    def unless(self, returned: Cond) -> Path:
        """The path on which a function has not returned."""
        found = self._children.get((returned, "return"))
        if found is None:
            cond = negate(returned)
            found = Path((*self.told, cond), self.quiet, self.branches, self._conditions.under(cond))
            self._children[(returned, "return")] = found
        return found

    def excluding(self, stopped: Cond) -> Path:
        """The path on which the program has not stopped under a condition; what says nothing of flags is left out."""
        key = (stopped, "stop")
        if key not in self._children:
            parts = tuple(part for part in conjuncts(negate(stopped)) if _of_flags(part))
            under = self._conditions.under(both(*parts))
            self._children[key] = Path(self.told, (*self.quiet, *parts), self.branches, under) if parts else None
        return self._children[key] or self

    def alone(self) -> Path:
        """What is known on the path although nobody would mention it."""
        found = Path()
        for cond in self.quiet:
            found = Path((), (*found.quiet, cond), (), found._conditions.under(cond))
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
            return self._conditions.truth(cond)


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
