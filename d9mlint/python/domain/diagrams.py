"""Decision diagrams: functions of finitely many variables in one form only, so that equal functions are one object.

Reduced and ordered (Bryant, "Graph-Based Algorithms for Boolean Function Manipulation", 1986), over two kinds of
variables: tests that come out true or false, and flags, whose values are divided into sets (Srinivasan et al.,
"Algorithms for Discrete Function Manipulation", 1990). ``True`` and ``False`` are the constant functions.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable
from typing import Any, TypeAlias, Union
from weakref import ref

from d9mlint.python.domain.valuesets import NOTHING, ValueSet

Function: TypeAlias = Union[bool, "Node"]


class Variable:
    """A variable; diagrams ask for the newest first, by which a path's condition grows: what held before is shared."""

    __slots__ = ("level", "name", "universe")

    def __init__(self, name: Any, universe: ValueSet | None = None) -> None:
        self.name = name
        self.universe = universe
        """The values that a flag can have; None for a test."""
        self.level = -next(_levels)


class Node:
    """A function that is no constant: what is left of it for each outcome of its first variable."""

    __slots__ = ("__weakref__", "_support", "at_least", "at_most", "cases", "high", "low", "variable")

    _support: frozenset[Variable] | None
    variable: Variable
    high: Any
    """Of a test: the function where it comes out true. (Of a flag nothing.)"""
    low: Any
    at_most: int
    """It has no more nodes than this: what is shared counts each time, up to ``_MANY``."""
    at_least: int  # (as many as were counted in it)
    cases: tuple[tuple[ValueSet, Any], ...]
    """Of a flag: the function for each of the sets that its values are divided into."""

    @property
    def children(self) -> tuple[Any, ...]:
        """What is left for each outcome."""
        return (self.high, self.low) if self.variable.universe is None else tuple(child for _, child in self.cases)

    @property
    def support(self) -> frozenset[Variable]:
        """The variables that it depends on."""
        if self._support is None:  # kept only where it is asked for: those of all nodes below would be most of the heap
            found: set[Variable] = set()
            seen: set[Node] = {self}
            pending = [self]
            while pending:
                node = pending.pop()
                if node._support is not None:
                    found |= node._support
                    continue
                found.add(node.variable)
                for child in node.children:
                    if isinstance(child, Node) and child not in seen:
                        seen.add(child)
                        pending.append(child)
            self._support = frozenset(found)
        return self._support

    def __reduce__(self) -> Any:
        raise TypeError("a condition belongs to one process")


_levels = itertools.count()
_nodes: dict[Any, Any] = {}
"""By the identity of its parts, which it keeps alive, a weak reference to each node that is in use."""
_LEAST = 10_000
"""Entries of the table below which looking for those no longer in use is not worth it."""
_most = _LEAST
_MANY = 1_000
"""Nodes that are not told from more without counting them."""
_MOST_KNOWN = 100_000
"""Results that a table of operations keeps: most nodes of a large program live only there."""
_both: dict[Any, Function] = {}
_either: dict[Any, Function] = {}
_not: dict[Node, Function] = {}
_meeting: dict[Any, bool] = {}
_leaving: dict[Any, bool] = {}


def forget() -> None:
    """Drops what was computed; functions that are in use stay what they are."""
    global _most  # noqa: PLW0603
    for known in (_both, _either, _not, _meeting, _leaving):
        known.clear()
    _most = _LEAST
    _sweep()


def _keep(known: dict[Any, Any], key: Any, result: Any) -> None:
    """Puts a result into its table, which is emptied when it is full."""
    if len(known) >= _MOST_KNOWN:
        known.clear()
        _sweep()
    known[key] = result


def _sweep() -> None:
    """Drops the entries of nodes that are no longer in use, where there may be many."""
    global _most  # noqa: PLW0603
    if len(_nodes) > _most:
        for key in [key for key, node in _nodes.items() if node() is None]:
            del _nodes[key]
        _most = max(_LEAST, 2 * len(_nodes))


def test(variable: Variable) -> Node:
    """The function that a test is."""
    return _choice(variable, True, False)  # type: ignore[return-value]


def member(variable: Variable, values: ValueSet) -> Function:
    """Whether a flag has one of these values."""
    universe = variable.universe or NOTHING
    inside = values.meet(universe)
    return _switch(variable, [(inside, True), (values.inverse().meet(universe), False)])


def _choice(variable: Variable, high: Function, low: Function) -> Function:
    if high is low:
        return high
    key = (variable.level, id(high), id(low))
    known = _nodes.get(key)
    if known is not None and (node := known()) is not None:
        return node  # type: ignore[no-any-return]
    below = high.at_most if isinstance(high, Node) else 0
    node = _new(variable, below + low.at_most if isinstance(low, Node) else below)
    node.high, node.low = high, low
    _nodes[key] = ref(node)
    return node


def _switch(variable: Variable, cases: Iterable[tuple[ValueSet, Function]]) -> Function:
    joined: dict[Function, ValueSet] = {}
    for values, child in cases:
        if values != NOTHING:
            known = joined.get(child)
            joined[child] = values if known is None else known.join(values)
    if len(joined) == 1:
        return next(iter(joined))
    key = (variable.level, frozenset((id(child), values) for child, values in joined.items()))
    found = _nodes.get(key)
    node: Node | None = found() if found is not None else None
    if node is None:
        node = _new(variable, sum(map(_size, joined)))
        node.cases = tuple((values, child) for child, values in joined.items())
        node.high = node.low = None
        _nodes[key] = ref(node)
    return node


def _size(f: Function) -> int:
    return f.at_most if isinstance(f, Node) else 0


def _new(variable: Variable, below: int) -> Node:
    """A node with at most so many others below it, which are still to be given."""
    node = Node()
    node.at_most = min(_MANY, 1 + below)
    node.at_least = 1
    node.variable = variable
    node.cases = ()
    node._support = None
    return node


def _operation(known: dict[Any, Function], absorbing: bool) -> Callable[[Function, Function], Function]:
    """Conjunction (False absorbs) or disjunction (True does)."""

    def apply(f: Function, g: Function) -> Function:
        if f is g or g is (not absorbing):
            return f
        if f is (not absorbing):
            return g
        if f is absorbing or g is absorbing:
            return absorbing
        key = (f, g) if id(f) < id(g) else (g, f)
        found = known.get(key)
        if found is not None:
            return found
        one, other = f.variable, g.variable  # type: ignore[union-attr]
        if one.level > other.level:
            f, g, one, other = g, f, other, one
        if one.universe is None:
            left, right = (g.high, g.low) if one is other else (g, g)  # type: ignore[union-attr]
            high, low = apply(f.high, left), apply(f.low, right)  # type: ignore[union-attr]
            found = high if high is low else _choice(one, high, low)
        elif one is other:
            met = ((a.meet(b), x, y) for a, x in f.cases for b, y in g.cases)  # type: ignore[union-attr]
            found = _switch(one, [(values, apply(x, y)) for values, x, y in met if values != NOTHING])
        else:
            found = _switch(one, [(values, apply(child, g)) for values, child in f.cases])  # type: ignore[union-attr]
        _keep(known, key, found)
        return found

    return apply


conjunction = _operation(_both, False)
disjunction = _operation(_either, True)


def complement(f: Function) -> Function:
    """Not ``f``."""
    if isinstance(f, bool):
        return not f
    found = _not.get(f)
    if found is None:
        if f.variable.universe is None:
            found = _choice(f.variable, complement(f.high), complement(f.low))
        else:
            found = mapped(f, complement)
        _keep(_not, f, found)
        if isinstance(found, Node):
            _not[found] = f
    return found


def meets(f: Function, g: Function) -> bool:
    """Whether ``f`` and ``g`` can hold together."""
    if isinstance(f, bool) or isinstance(g, bool):
        return f is not False and g is not False  # (what is no constant can hold, and can fail)
    if f is g:
        return True
    key = (f, g) if id(f) < id(g) else (g, f)
    found = _meeting.get(key)
    if found is None:
        one, other = f.variable, g.variable
        if one.universe is None and one.level < other.level:
            found = meets(f.high, g) or meets(f.low, g)
        elif other.universe is None and other.level < one.level:
            found = meets(f, g.high) or meets(f, g.low)
        else:
            found = False
            for x, y in _outcomes(f, g):
                if meets(x, y):
                    found = True
                    break
        _keep(_meeting, key, found)
    return found


def implies(f: Function, g: Function) -> bool:
    """Whether ``g`` holds wherever ``f`` does."""
    return not _leaves(f, g)


def _leaves(f: Function, g: Function) -> bool:
    """Whether ``f`` can hold where ``g`` fails."""
    if isinstance(f, bool) or isinstance(g, bool):
        return f is not False and g is not True
    if f is g:
        return False
    key = (f, g)
    found = _leaving.get(key)
    if found is None:
        found = False
        for x, y in _outcomes(f, g):
            if _leaves(x, y):
                found = True
                break
        _keep(_leaving, key, found)
    return found


def _outcomes(f: Node, g: Node) -> Iterable[tuple[Function, Function]]:
    """What is left of both for each outcome of the first variable of either."""
    one, other = f.variable, g.variable
    if one is other:
        if one.universe is None:
            return (f.high, g.high), (f.low, g.low)
        return ((x, y) for a, x in f.cases for b, y in g.cases if a.meet(b) != NOTHING)
    if one.level < other.level:
        return ((f.high, g), (f.low, g)) if one.universe is None else [(child, g) for _, child in f.cases]
    return ((f, g.high), (f, g.low)) if other.universe is None else [(f, child) for _, child in g.cases]


def is_larger(f: Function, most: int) -> bool:
    """Whether a diagram has more than ``most`` nodes."""
    if isinstance(f, bool) or f.at_most <= most < _MANY:
        return False
    if f.at_least <= most:  # the same is asked of most functions many times
        seen = {f}
        pending = [f]
        while pending and len(seen) <= most:
            for child in pending.pop().children:
                if isinstance(child, Node) and child not in seen:
                    seen.add(child)
                    pending.append(child)
        f.at_least = len(seen)
        f.at_most = f.at_most if f.at_least > most else min(f.at_most, f.at_least)
    return f.at_least > most


def mapped(f: Node, change: Callable[[Any], Function]) -> Function:
    """The function with a change made to what is left for each outcome."""
    if f.variable.universe is None:
        return _choice(f.variable, change(f.high), change(f.low))
    return _switch(f.variable, [(values, change(child)) for values, child in f.cases])


def without(f: Function, gone: Collection[Variable]) -> Function:
    """What ``f`` says of the other variables: it holds wherever ``f`` can (existential quantification)."""
    return _without(f, gone, {})


def _without(f: Function, gone: Collection[Variable], known: dict[Node, Function]) -> Function:
    if isinstance(f, bool) or f.support.isdisjoint(gone):
        return f
    if f not in known:
        if f.variable in gone:
            found: Function = False
            for child in f.children:
                found = disjunction(found, _without(child, gone, known))
        else:
            found = mapped(f, lambda child: _without(child, gone, known))
        known[f] = found
    return known[f]


def only_failing(f: Function, variable: Variable) -> Function:
    """The least function above ``f`` for which it is never better that a test comes out true."""
    if isinstance(f, bool) or variable not in f.support:
        return f
    if f.variable is variable:
        return _choice(variable, f.high, disjunction(f.high, f.low))
    return mapped(f, lambda child: only_failing(child, variable))


def simplified(f: Function, care: Function) -> Function:
    """A function that is as ``f`` where ``care`` holds, and simpler (Coudert and Madre's restriction)."""
    return _simplified(f, care, {})


def _simplified(f: Function, care: Function, known: dict[tuple[Node, Node], Function]) -> Function:
    if isinstance(f, bool) or isinstance(care, bool):
        return f
    key = (f, care)
    if key not in known:
        known[key] = _simplified_node(f, care, known)
    return known[key]


def _simplified_node(f: Node, care: Node, known: dict[tuple[Node, Node], Function]) -> Function:
    if care.variable.level < f.variable.level:
        rest: Function = False
        for child in care.children:
            rest = disjunction(rest, child)
        return _simplified(f, rest, known)
    if f.variable is not care.variable:
        return mapped(f, lambda child: _simplified(child, care, known))
    if f.variable.universe is None:
        if care.low is False:
            return _simplified(f.high, care.high, known)
        if care.high is False:
            return _simplified(f.low, care.low, known)
        return _choice(f.variable, _simplified(f.high, care.high, known), _simplified(f.low, care.low, known))
    cases = [
        (a.meet(b), _simplified(x, y, known)) for a, x in f.cases for b, y in care.cases if y is not False
    ]  # fmt: skip
    return _widened(f, care, cases)


def _widened(g: Node, c: Node, cases: list[tuple[ValueSet, Function]]) -> Function:
    """The cases of a flag that matter, where what does not matter goes with the one that keeps the test simplest."""
    joined: dict[Function, ValueSet] = {}
    for values, child in cases:
        if values != NOTHING:
            joined[child] = joined.get(child, NOTHING).join(values)
    if len(joined) == 1:
        return next(iter(joined))
    dead = NOTHING
    for values, child in c.cases:
        if child is False:
            dead = dead.join(values)
    for values, child in g.cases:  # as far as the cases are those that were there before, they stay as wide
        if child in joined and dead.meet(values) != NOTHING:
            joined[child] = joined[child].join(dead.meet(values))
            dead = dead.meet(values.inverse())
    if dead != NOTHING:
        first = next(iter(joined))
        joined[first] = joined[first].join(dead)
    return _switch(g.variable, [(values, child) for child, values in joined.items()])
