"""Functions as sums of products: few terms that together hold wherever the function does.

Minato and Morreale's irredundant covers (Minato, "Fast Generation of Irredundant Sum-of-Products Forms from Binary
Decision Diagrams", 1992), for tests and for flags with sets of values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeAlias

from d9mlint.python.domain import diagrams
from d9mlint.python.domain.diagrams import Function, Node, Variable, complement, conjunction, disjunction
from d9mlint.python.domain.valuesets import NOTHING, ValueSet

Outcome: TypeAlias = bool | ValueSet
Term: TypeAlias = tuple[tuple[Variable, Outcome], ...]
"""Tests with their outcomes, flags with their values, all of which are needed."""


def cover(f: Function, order: Sequence[Variable]) -> tuple[Term, ...]:
    """Terms of which none can be left out; their choice depends on ``order``, not on that of the diagrams."""
    return _cover(f, f, order)[0]


def _cover(least: Function, most: Function, order: Sequence[Variable]) -> tuple[tuple[Term, ...], Function]:
    """Terms for a function between two others, and that function."""
    if least is False:
        return (), False
    if most is True:
        return ((),), True
    variable = next(one for one in order if _depends(least, one) or _depends(most, one))
    classes = _classes(variable, least, most)
    everywhere: Function = True
    for _, _, upper in classes:
        everywhere = conjunction(everywhere, upper)
    terms: dict[Term, Outcome | None] = {}
    rest: Function = False
    reached: Function = False
    for outcome, lower, upper in classes:
        inner, covered = _cover(conjunction(lower, complement(everywhere)), upper, order)
        for term in inner:
            terms[term] = _joined(terms.get(term), outcome)
        rest = disjunction(rest, conjunction(lower, complement(covered)))
        reached = disjunction(reached, conjunction(_literal(variable, outcome), covered))
    common, covered = _cover(rest, everywhere, order)
    own = tuple(((variable, outcome), *term) for term, outcome in terms.items() if outcome is not None)
    return (*own, *common), disjunction(reached, covered)


def _depends(f: Function, variable: Variable) -> bool:
    return isinstance(f, Node) and variable in f.support


def _classes(variable: Variable, least: Function, most: Function) -> list[tuple[Outcome, Function, Function]]:
    """The outcomes of a variable, as far as they make a difference, with what is left of two functions."""
    if variable.universe is None:
        return [(one, cofactor(least, variable, one), cofactor(most, variable, one)) for one in (False, True)]
    pieces = {variable.universe}
    for values in {*_values(least, variable), *_values(most, variable)}:
        pieces = {part for piece in pieces for part in (piece.meet(values), piece.meet(values.inverse()))} - {NOTHING}
    found: dict[tuple[Function, Function], ValueSet] = {}
    for piece in sorted(pieces, key=repr):
        both = cofactor(least, variable, piece), cofactor(most, variable, piece)
        found[both] = found.get(both, NOTHING).join(piece)
    return [(values, lower, upper) for (lower, upper), values in found.items()]


def _values(f: Function, variable: Variable) -> Iterable[ValueSet]:
    """The sets of values that a function tells apart."""
    if isinstance(f, Node) and variable in f.support:
        if f.variable is variable:
            yield from (values for values, _ in f.cases)
        for child in f.children:
            yield from _values(child, variable)


def cofactor(f: Function, variable: Variable, outcome: Outcome) -> Function:
    """What is left of a function for one outcome (of a flag: for one set of values that it does not tell apart)."""
    if not isinstance(f, Node) or variable not in f.support:
        return f
    if f.variable is not variable:
        return diagrams.mapped(f, lambda child: cofactor(child, variable, outcome))
    if not isinstance(outcome, ValueSet):
        return f.high if outcome else f.low  # type: ignore[no-any-return]
    return next(child for values, child in f.cases if values.meet(outcome) != NOTHING)  # type: ignore[no-any-return]


def renamed(f: Function, variable: Variable, other: Variable) -> Function:
    """The function that asks for another test instead."""
    high, low = cofactor(f, variable, True), cofactor(f, variable, False)
    test = diagrams.test(other)
    return disjunction(conjunction(test, high), conjunction(complement(test), low))


def other(variable: Variable, outcome: Outcome) -> Outcome:
    """All other outcomes."""
    if isinstance(outcome, ValueSet):
        return outcome.inverse().meet(variable.universe or NOTHING)
    return not outcome


def _literal(variable: Variable, outcome: Outcome) -> Function:
    if isinstance(outcome, ValueSet):
        return diagrams.member(variable, outcome)
    return diagrams.test(variable) if outcome else complement(diagrams.test(variable))


def _joined(known: Outcome | None, outcome: Outcome) -> Outcome | None:
    if known is None:
        return outcome
    # (A term that both outcomes of a test need is none of either: it is among the common ones.)
    return known.join(outcome) if isinstance(known, ValueSet) and isinstance(outcome, ValueSet) else None


def at_values(f: Function, values: Callable[[Variable], Any], unknown: object) -> Function:
    """What is left of ``f`` where flags have these values (``unknown`` for those that have none)."""
    return _at_values(f, values, unknown, {})


def _at_values(
    f: Function, values: Callable[[Variable], Any], unknown: object, known: dict[Node, Function]
) -> Function:  # fmt: skip
    if isinstance(f, bool):
        return f
    if f not in known:
        value = values(f.variable) if f.variable.universe is not None else unknown
        if value is unknown:
            known[f] = diagrams.mapped(f, lambda child: _at_values(child, values, unknown, known))
        else:
            left = next((child for inside, child in f.cases if inside.holds(value)), False)
            known[f] = _at_values(left, values, unknown, known)
    return known[f]
