"""Conditions under which something happens: tests of command-line flags, tests that cannot be read, and what is made
of them.

A condition is a bool or a decision diagram (`diagrams`), so equal conditions are one object and every question has an
exact answer. Tests of flags keep their meaning, so that a finding can say "when ``--seed`` is not given"; all others
are opaque and only equal to themselves.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple, TypeAlias

from d9mlint.model import Location
from d9mlint.python.domain import diagrams, valuesets
from d9mlint.python.domain.covers import at_values
from d9mlint.python.domain.diagrams import Node, Variable, complement, conjunction, disjunction, is_larger
from d9mlint.python.domain.valuesets import EVERYTHING, NONE, NOTHING, ValueSet

Cond: TypeAlias = bool | Node
MAX_NODES = 500
"""Nodes of a condition's diagram beyond which it is a test of its own (a cut point): only its negation is known.

So a path may be taken for possible although it is not: findings can be more, and say more of when they matter, never
fewer."""
UNKNOWN_DEFAULT = "<unknown default>"
STATED = "stated"
"""The kind of a flag that is none: its name says what has to hold."""
CONTAINS = " contains "
"""In what is stated of a flag: between the flag and what has to be in it."""
EXCEPTION = "an exception is raised"
"""The text of the condition under which a handler runs."""
TYPE_TEST = "isinstance(...)"
"""The text of a test of the type of something unknown."""
ORDERINGS = ("<", "<=", ">", ">=")


class Flag(NamedTuple):
    """A command-line flag: how it is spelled, its default (``UNKNOWN_DEFAULT`` if not constant), its kind.

    ``kind`` is ``on`` (store_true), ``off`` (store_false), ``bool`` (takes true/false) or ``value``.
    """

    name: str
    spelled: str
    default: Any
    kind: str
    location: Location
    required: bool = False
    choices: tuple[Any, ...] = ()
    """All values that it can have; empty where that is not known."""
    stated: tuple[Any, ...] = ()
    """The values that the config files beside the program give it, where they differ."""


LAUNCHER = Flag("", "", UNKNOWN_DEFAULT, "launcher", Location("", 1, 1, 1, 1))
"""By which launch script (its ``path:line``) the program is started."""


class Opaque(NamedTuple):
    """What is known of a test that cannot be read."""

    key: Any
    """Two tests are one when they have the same key."""
    text: str
    by_default: bool = False
    """It holds where a parameter, which settings that are not known may give, is left to its default."""


class Literal(NamedTuple):
    """A condition that only asks for the outcome of one test, or for the value of one flag."""

    variable: Variable
    outcome: bool | ValueSet

    @property
    def opaque(self) -> Opaque | None:
        """The test that cannot be read; None for a flag."""
        return self.variable.name if isinstance(self.variable.name, Opaque) else None

    @property
    def flag(self) -> Flag | None:
        """The flag; None for a test that cannot be read."""
        return self.variable.name if isinstance(self.variable.name, Flag) else None


_flags: dict[Flag, Variable] = {}
_variables: dict[Any, Variable] = {}
_cut_points: set[Cond] = set()
"""Those that stand for conditions that became too large, since ``forget``."""


def forget() -> None:
    """Drops what is known of tests that cannot be read: call it before a program, whose tests are its own."""
    _variables.clear()
    _cut_points.clear()
    diagrams.forget()


def opaque_test(key: tuple[Any, ...], text: str, *, by_default: bool = False) -> Node:
    """A test that cannot be read; two are equal when they have the same key (mostly: a place)."""
    found = _variables.get(key)
    if found is None:
        found = _variables[key] = Variable(Opaque(key, text, by_default))
    return diagrams.test(found)


def flag_test(flag: Flag, op: str, value: Any = None) -> Cond:
    """``flag op value`` with op ``truthy``, ``none``, ``==`` or an ordering of numbers."""
    wanted = _wanted(op, value)
    if wanted is None:
        return opaque_test(("flag", flag.name, op, repr(value)), f"{flag.spelled} is {value}")
    found = _flags.get(flag)
    if found is None:
        found = _flags[flag] = Variable(flag, _universe(flag))
    return diagrams.member(found, wanted)


def _wanted(op: str, value: Any) -> ValueSet | None:
    if op in ORDERINGS:
        return valuesets.ordered(op, value)
    if op in ("truthy", "none"):
        return valuesets.TRUE if op == "truthy" else NONE
    return valuesets.only(value)


def _universe(flag: Flag) -> ValueSet:
    """The values that a flag can have."""
    if flag.kind in ("on", "off", "bool", STATED):
        found = valuesets.union(one for value in (False, True) if (one := valuesets.only(value)) is not None)
        may_be_none = flag.default is None or (flag.kind == "bool" and flag.default == UNKNOWN_DEFAULT)
        return found.join(NONE) if may_be_none else found
    if flag.choices:
        sets = [valuesets.only(value) for value in flag.choices]
        found = valuesets.union(one for one in sets if one is not None)
        return found._replace(others=None in sets) if None in flag.choices or flag.required else found
    return EVERYTHING


def stated(words: str) -> Cond:
    """A condition that nothing in the program tells, and that these words put to the user."""
    return flag_test(Flag(words, words, UNKNOWN_DEFAULT, STATED, Location("", 1, 1, 1, 1)), "truthy")


def contains(flag: Flag, part: str) -> Cond:
    """``part in flag``: a text that holds another one, or several values with one among them."""
    if flag.choices and part not in flag.choices and not isinstance(flag.default, (list, tuple)):
        return either(*(flag_test(flag, "==", one) for one in flag.choices if isinstance(one, str) and part in one))
    known = isinstance(flag.default, (str, list, tuple)) and flag.default != UNKNOWN_DEFAULT and not flag.required
    default = part in flag.default if known else UNKNOWN_DEFAULT
    words = f"{flag.spelled}{CONTAINS}{part}"
    return flag_test(Flag(words, words, default, STATED, flag.location), "truthy")


negate = complement
"""Not ``cond``."""


def both(*conds: Cond) -> Cond:
    """All of ``conds``."""
    found: Cond = True
    for cond in conds:
        if found is True:
            found = cond
        elif cond is not True:
            known, found = found, conjunction(found, cond)
            if _too_large(found, known, cond):
                found = _cut_point(known, cond)
    return found


def either(*conds: Cond) -> Cond:
    """Any of ``conds``."""
    found: Cond = False
    for cond in conds:
        if found is False:
            found = cond
        elif cond is not False:
            known, found = found, disjunction(found, cond)
            if _too_large(found, known, cond):
                found = negate(_cut_point(negate(known), negate(cond)))
    return found


def _too_large(found: Cond, one: Cond, other: Cond) -> bool:
    """Whether what was made of two conditions is; what was there before is not asked again."""
    return found is not one and found is not other and is_larger(found, MAX_NODES)


def _cut_point(one: Cond, other: Cond) -> Cond:
    """A test that stands for both conditions together."""
    found = opaque_test(("both", frozenset((one, other))), "...")
    _cut_points.add(found)
    return found


def cut_points() -> int:
    """How many conditions are told apart from nothing but their negation, as they became too large."""
    return len(_cut_points)


def truth(cond: Cond, assumed: Iterable[Cond]) -> bool | None:
    """Whether ``cond`` holds when all of ``assumed`` do: True, False, or None for not known."""
    if isinstance(cond, bool):
        return cond
    known: Cond = True
    for one in assumed:
        known = conjunction(known, one)
    if not diagrams.meets(known, cond):
        return False
    return True if diagrams.implies(known, cond) else None


def is_symbolic(cond: Cond) -> bool:
    """Whether the condition speaks only of flags, so that it can be told to the user."""
    return isinstance(cond, bool) or all(variable.universe is not None for variable in cond.support)


def symbolic_part(cond: Cond) -> Cond:
    """What a condition says of flags: it holds wherever ``cond`` does."""
    if isinstance(cond, bool):
        return cond
    return diagrams.without(cond, [variable for variable in cond.support if variable.universe is None])


def literal(cond: Cond) -> Literal | None:
    """The one test, or flag, that a condition asks for; None for other conditions."""
    if isinstance(cond, bool):
        return None
    if cond.variable.universe is None:
        if cond.high is True and cond.low is False:
            return Literal(cond.variable, True)
        return Literal(cond.variable, False) if cond.low is True and cond.high is False else None
    if len(cond.cases) != 2 or not all(isinstance(child, bool) for child in cond.children):
        return None
    return Literal(cond.variable, next(values for values, child in cond.cases if child is True))


def opaque(cond: Cond) -> Opaque | None:
    """The test that cannot be read which a condition is; None for other conditions, also for its negation."""
    one = literal(cond)
    return one.opaque if one is not None and one.outcome is True else None


def has_raised(cond: Cond) -> bool:
    """Whether a condition is that something has raised an exception."""
    test = opaque(cond)
    return test is not None and test.text == EXCEPTION


def conjuncts(cond: Cond) -> tuple[Cond, ...]:
    """Conditions that together are ``cond``: each test that it needs, then the rest."""
    if isinstance(cond, bool):
        return () if cond else (False,)
    found = _needed(cond, {})
    if not found:
        return (cond,)
    order = sorted(found.items(), key=lambda item: -item[0].level)  # as they were met
    literals = [as_condition(Literal(variable, outcome)) for variable, outcome in order]
    rest = diagrams.simplified(cond, both(*literals))
    return (*literals, rest) if rest is not True else tuple(literals)


def disjuncts(cond: Cond) -> tuple[Cond, ...]:
    """Conditions any of which is enough for ``cond``: each test that is enough by itself, then the rest."""
    return tuple(negate(part) for part in conjuncts(negate(cond)))


def literals(cond: Cond) -> Iterator[Literal]:
    """The outcomes of tests, and the values of flags, that a condition tells apart."""
    pending: list[Cond] = [cond]
    seen: set[Cond] = set()
    while pending:
        one = pending.pop()
        if isinstance(one, bool) or one in seen:
            continue
        seen.add(one)
        if one.variable.universe is None:
            yield from (Literal(one.variable, outcome) for outcome in (True, False))
        else:
            yield from (Literal(one.variable, values) for values, _ in one.cases)
        pending.extend(one.children)


def texts_of(one: Literal) -> list[str]:
    """The texts that a flag is tested for."""
    return sorted(one.outcome.texts) if isinstance(one.outcome, ValueSet) else []


def as_condition(one: Literal) -> Cond:
    """The condition that a literal is."""
    if isinstance(one.outcome, ValueSet):
        return diagrams.member(one.variable, one.outcome)
    return diagrams.test(one.variable) if one.outcome else complement(diagrams.test(one.variable))


def _needed(cond: Cond, known: dict[Node, dict[Variable, bool | ValueSet]]) -> dict[Variable, bool | ValueSet]:
    """The outcome, or the values, that ``cond`` needs of each variable that it cannot do without."""
    if isinstance(cond, bool):
        return {}
    if cond in known:
        return known[cond]
    if cond.variable.universe is None:
        live = [(outcome, child) for outcome, child in ((True, cond.high), (False, cond.low)) if child is not False]
        own: bool | ValueSet | None = live[0][0] if len(live) == 1 else None
        children = [child for _, child in live]
    else:
        cases = [(values, child) for values, child in cond.cases if child is not False]
        values = valuesets.union(values for values, _ in cases)
        own = values if values != cond.variable.universe else None
        children = [child for _, child in cases]
    found = _shared([_needed(child, known) for child in children])
    if own is not None:
        found[cond.variable] = own
    known[cond] = found
    return found


def _shared(needs: list[dict[Variable, bool | ValueSet]]) -> dict[Variable, bool | ValueSet]:
    """What several conditions all need."""
    found = dict(needs[0])
    for other in needs[1:]:
        for variable, outcome in list(found.items()):
            theirs = other.get(variable)
            if isinstance(outcome, ValueSet) and isinstance(theirs, ValueSet):
                together = outcome.join(theirs)
                if together != variable.universe:
                    found[variable] = together
                    continue
            elif theirs is outcome:
                continue
            del found[variable]
    return found


def by_default(cond: Cond) -> bool | None:
    """Whether the condition holds when no flag is given; None where that is not known."""
    left = at_defaults(cond)
    return left if isinstance(left, bool) else None


def at_defaults(cond: Cond) -> Cond:
    """What is left of a condition when no flag is given."""
    return at_values(cond, _default, _UNSET)


def by_a_file(cond: Cond) -> bool:
    """Whether one of several config files beside the program has a setting pass a test, alone, that others do not."""
    one = literal(cond)
    if one is None or one.flag is None or not isinstance(one.outcome, ValueSet):
        return False
    return any(map(one.outcome.holds, one.flag.stated))


_UNSET = object()


def _default(variable: Variable) -> Any:
    flag = variable.name
    return _UNSET if flag.default == UNKNOWN_DEFAULT or flag.required else flag.default


__all__ = [
    "CONTAINS",
    "EXCEPTION",
    "LAUNCHER",
    "NOTHING",
    "ORDERINGS",
    "STATED",
    "TYPE_TEST",
    "UNKNOWN_DEFAULT",
    "Cond",
    "Flag",
    "Literal",
    "Opaque",
    "at_defaults",
    "both",
    "by_a_file",
    "by_default",
    "conjuncts",
    "contains",
    "disjuncts",
    "either",
    "flag_test",
    "forget",
    "has_raised",
    "is_symbolic",
    "literal",
    "negate",
    "opaque",
    "opaque_test",
    "stated",
    "symbolic_part",
    "truth",
]  # fmt: skip
