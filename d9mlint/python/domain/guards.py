"""Conditions under which a fact happens, and a three-valued logic over them.

A condition is a bool or a node of ``conds``. Those on command-line flags keep their meaning, so that a finding
can say "when ``--seed`` is not given"; all others are opaque and only equal to themselves.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from d9mlint.python.domain.conds import (
    EXCEPTION,
    LAUNCHER,
    STATED,
    TYPE_TEST,
    UNKNOWN_DEFAULT,
    All,
    AnyOf,
    Cond,
    Flag,
    FlagTest,
    Node,
    Not,
    OpaqueTest,
    Several,
    forget_nodes,
    stated,
)

MAX_SIZE = 24
"""Tests in one condition beyond which it is given up as opaque (they come from very long if chains)."""
_MEMO: dict[tuple[Any, ...], Any] = {}
_SIZE = operator.attrgetter("size")


def forget() -> None:
    """Drops all conditions made so far: call it before a story, so that none depends on the stories before."""
    forget_nodes()
    _MEMO.clear()


def negate(cond: Cond) -> Cond:
    """Not ``cond``; negations are pushed inwards so that equal conditions look equal."""
    if isinstance(cond, bool):
        return not cond
    if cond.negation is None:
        if isinstance(cond, All):
            cond.negation = either(*(negate(c) for c in cond.of))
        elif isinstance(cond, AnyOf):
            cond.negation = both(*(negate(c) for c in cond.of))
        else:
            cond.negation = Not(cond)
    found: Cond = cond.negation
    return found


def both(*conds: Cond) -> Cond:
    """All of ``conds``."""
    return _together(_both, conds, True)


def _together(make: Callable[[Sequence[Cond]], Cond], conds: tuple[Cond, ...], nothing: bool) -> Cond:
    """What ``make`` makes of conditions, made once; ``nothing`` says nothing among them, its negation decides."""
    if nothing in conds:
        conds = tuple(cond for cond in conds if cond is not nothing)
    if len(conds) < 2:
        return conds[0] if conds else nothing
    if (not nothing) in conds:
        return not nothing
    key = (make, *conds)
    if key not in _MEMO:
        _MEMO[key] = make(conds)
    found: Cond = _MEMO[key]
    return found


def _both(conds: Sequence[Cond]) -> Cond:
    flat: list[Any] = []
    for cond in conds:
        flat.extend(cond.of if isinstance(cond, All) else (cond,))
    shared = _shared(flat)
    if not shared:
        return _several(All, flat, True)
    known = Known()
    parts: list[Any] = []
    for part in flat:
        if part.atoms & shared:
            answer = known.truth(part)
            if answer is False:
                return False
            if answer is True:
                continue
            known.add(part)
        parts.append(part)
    if _exhaustive(part.of for part in parts if isinstance(part, Not)):
        return False
    for part in _overlapping(parts):  # one that came first may follow from what came later
        others = [other for other in parts if other is not part]
        known = Known(other for other in others if other.atoms & part.atoms)
        if others and known.truth(part) is True:
            parts.remove(part)
        elif isinstance(part, AnyOf) and any(known.truth(one) is False for one in part.of):
            return both(*others, either(*(one for one in part.of if known.truth(one) is not False)))
    return _several(All, parts, True)


def _overlapping(parts: Sequence[Any]) -> list[Any]:
    """Those of several conditions that may follow from the others: alternatives, and tests of one flag."""
    shared = _shared(parts)
    if not shared:
        return []
    parts = [part for part in parts if part.atoms & shared]
    atoms = [_atom(part) for part in parts]
    flags = [atom.flag for atom in atoms if isinstance(atom, FlagTest)]
    return [
        part for part, atom in zip(parts, atoms, strict=True)
        if isinstance(part, AnyOf) or (isinstance(atom, FlagTest) and flags.count(atom.flag) > 1)
    ]  # fmt: skip


def _shared(parts: Iterable[Any]) -> int:
    """The atoms that more than one of several conditions has: the others say nothing about each other."""
    seen = shared = 0
    for part in parts:
        shared |= seen & part.atoms
        seen |= part.atoms
    return shared


def _atom(part: Any) -> Any:
    """A test, without the negation in front of it."""
    return part.of if isinstance(part, Not) else part


def either(*conds: Cond) -> Cond:
    """Any of ``conds``."""
    return _together(_either, conds, False)


def _either(conds: Sequence[Cond]) -> Cond:
    flat: list[Any] = []
    for cond in conds:
        flat.extend(cond.of if isinstance(cond, AnyOf) else (cond,))
    if not _shared(flat):
        return _several(AnyOf, flat, False)
    parts: dict[Any, None] = {}
    for part in flat:
        if _opposite(part) in parts:
            return True
        parts[part] = None
    if _exhaustive(parts):
        return True
    simple = _simplified(list(parts))
    return True if True in simple else _several(AnyOf, simple, False)


def _exhaustive(parts: Iterable[Any]) -> bool:
    """Whether alternatives name every value that some flag can have."""
    named: dict[Flag, set[Any]] = {}
    for part in parts:
        if isinstance(part, FlagTest) and part.op == "==" and part.flag.choices:
            named.setdefault(part.flag, set()).add(part.value)
    return bool(named) and any(values.issuperset(flag.choices) for flag, values in named.items())


def _several(kind: type[Several], parts: list[Any], empty: bool) -> Cond:
    if not parts:
        return empty
    if len(parts) == 1:
        found: Cond = parts[0]
        return found
    if sum(map(_SIZE, parts)) > MAX_SIZE:
        largest = max(parts, key=lambda part: part.size)
        if kind is All and largest.size > 1:  # the others still say what they say
            given_up = OpaqueTest(("long", largest), "...", [largest])
            return _several(kind, [given_up if part is largest else part for part in parts], empty)
        return OpaqueTest(("long", kind, frozenset(parts)), "...", parts)
    made: Cond = kind.make(parts)
    return made


def _simplified(parts: list[Any]) -> list[Any]:
    """Alternatives without those that another one covers: ``a and b or not a and b`` is ``b``."""
    shared = _shared(parts)
    if not any(isinstance(part, All) and part.atoms & shared for part in parts):
        return parts  # different tests, none the opposite of another
    sets = [frozenset(p.of) if isinstance(p, All) else frozenset((p,)) for p in parts]
    order: dict[Any, int] = {}
    for part in parts:
        for literal in part.of if isinstance(part, All) else (part,):
            order.setdefault(literal, len(order))
    merged = True
    while merged:
        merged = False
        for i, j in itertools.permutations(range(len(sets)), 2):
            more = sets[i] - sets[j]
            if not more:
                joined = sets[i]
            elif len(more) > 1 or len(sets[i]) > len(sets[j]) or (opposite := _opposite(*more)) not in sets[j]:
                continue
            elif len(sets[i]) < len(sets[j]):  # `a or not a and b` is `a or b`
                sets[j] -= {opposite}
                merged = True
                break
            else:
                joined = sets[i] & sets[j]
            sets = [s for k, s in enumerate(sets) if k not in (i, j)]
            sets.insert(min(i, j), joined)
            merged = True
            break
    found = [both(*sorted(s, key=order.__getitem__)) if s else True for s in sets]
    return [cond for cond in found if cond is not False]


def _opposite(cond: Node) -> Cond | None:
    """The negation of a condition; None for that of a test that nobody has asked for, so that no condition holds it."""
    found = cond.negation
    return found if found is not None or isinstance(cond, (FlagTest, OpaqueTest)) else negate(cond)  # type: ignore[arg-type]


class Known:
    """Conditions that hold together, for quick questions."""

    __slots__ = ("_atoms", "_flags", "_literals", "_unions")

    def __init__(self, conds: Iterable[Cond] = ()) -> None:
        self._atoms = 0
        self._literals: set[Any] = set()
        self._unions = False
        self._flags: dict[Flag, list[tuple[FlagTest, bool]]] = {}
        for cond in conds:
            self.add(cond)

    def add(self, cond: Cond) -> None:
        """One more condition that holds."""
        for part in cond.of if isinstance(cond, All) else (cond,):
            if isinstance(part, bool):
                continue
            self._atoms |= part.atoms
            self._literals.add(part)
            atom = _atom(part)
            if isinstance(atom, FlagTest):
                self._flags.setdefault(atom.flag, []).append((atom, atom is part))
            elif isinstance(atom, AnyOf):
                self._unions = True

    def copy(self) -> Known:
        """The same, to be extended."""
        new = Known()
        new._atoms = self._atoms
        new._literals = set(self._literals)
        new._unions = self._unions
        new._flags = {flag: list(tests) for flag, tests in self._flags.items()}
        return new

    def truth(self, cond: Cond) -> bool | None:
        """Whether ``cond`` holds then: True, False, or None for not known."""
        if isinstance(cond, bool):
            return cond
        if not cond.atoms & self._atoms:
            return None
        if isinstance(cond, Several):
            return self._truth_of_several(cond)
        if cond in self._literals:
            return True
        if cond.negation in self._literals:
            return False
        return self._test_truth(cond)

    def _test_truth(self, cond: Any) -> bool | None:
        """Of a test, or its negation, where neither is known to hold."""
        if isinstance(cond, Not):
            inner = self._test_truth(cond.of)
            return None if inner is None else not inner
        return self._flag_truth(cond) if isinstance(cond, FlagTest) else None

    def _truth_of_several(self, cond: Several) -> bool | None:
        wanted = isinstance(cond, AnyOf)
        atoms, literals = self._atoms, self._literals
        if self._unions:
            if cond in literals:
                return True
            if (cond.negation or negate(cond)) in literals:  # type: ignore[arg-type]
                return False
        answer: bool | None = not wanted
        for part in cond.of:
            if not part.atoms & atoms:
                known: bool | None = None
            elif part in literals:
                known = True
            elif part.negation in literals:
                known = False
            else:
                known = self._truth_of_several(part) if isinstance(part, Several) else self._test_truth(part)
            if known is wanted:
                return wanted
            if known is None:
                answer = None
        return answer

    def _flag_truth(self, cond: FlagTest) -> bool | None:
        for atom, positive in self._flags.get(cond.flag, ()):
            if positive and atom.op in ("==", "none"):
                return test_value(cond, None if atom.op == "none" else atom.value)
            if atom.op == "truthy":
                if cond.op == "none" and positive:
                    return False
                if cond.op == "==" and bool(cond.value) != positive:
                    return False
            if atom.op == "none" and not positive and cond.op == "==" and cond.value is None:
                return False
            if atom.op in ORDERINGS:
                answer = _ordered(atom.op if positive else INVERSE[atom.op], atom.value, cond)
                if answer is not None:
                    return answer
        return None


def _ordered(op: str, bound: float, cond: FlagTest) -> bool | None:
    """What ``flag op bound`` says of another test of the same flag."""
    if cond.op == "==" and isinstance(cond.value, (int, float)):
        return None if ORDERINGS[op](cond.value, bound) else False
    if cond.op == "truthy":
        return None if ORDERINGS[op](0, bound) else True
    if cond.op not in ORDERINGS:
        return None
    if op[0] != cond.op[0]:
        inverse = FlagTest(cond.flag, INVERSE[cond.op], cond.value)
        return False if _ordered(op, bound, inverse) is True else None
    inside = ORDERINGS[op[0]](bound, cond.value)
    return True if inside or (bound == cond.value and (op == cond.op or len(cond.op) == 2)) else None


def truth(cond: Cond, assumed: Iterable[Cond]) -> bool | None:
    """Whether ``cond`` holds when all of ``assumed`` do: True, False, or None for not known."""
    if isinstance(cond, bool):
        return cond
    assumed = tuple(assumed)
    key = ("known", *assumed)
    if key not in _MEMO:
        _MEMO[key] = Known(assumed)
    known: Known = _MEMO[key]
    return known.truth(cond)


ORDERINGS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge}
INVERSE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def test_value(cond: FlagTest, value: Any) -> bool:
    """The flag's condition when the flag has ``value``."""
    if cond.op == "none":
        return value is None
    if cond.op == "truthy":
        return bool(value)
    if cond.op in ORDERINGS:
        return isinstance(value, (int, float)) and bool(ORDERINGS[cond.op](value, cond.value))
    return bool(value == cond.value)


__all__ = [
    "EXCEPTION", "INVERSE", "LAUNCHER", "MAX_SIZE", "ORDERINGS", "STATED", "TYPE_TEST", "UNKNOWN_DEFAULT", "All",
    "AnyOf", "Cond", "Flag", "FlagTest", "Known", "Node", "Not", "OpaqueTest", "Several", "both", "either", "forget",
    "negate", "stated", "test_value", "truth",
]  # fmt: skip
