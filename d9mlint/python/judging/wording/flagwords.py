"""What a flag has to be, in the user's words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Any

from d9mlint.python.domain import valuesets
from d9mlint.python.domain.conditions import CONTAINS, STATED, UNKNOWN_DEFAULT, Flag, Literal
from d9mlint.python.domain.valuesets import NONE, NOTHING, TRUE, ValueSet

_FEW = 3
"""Values that a flag must not have which are told one by one."""
_FIRST = 2
"""Of more than fit those that are told."""
_LACKS = " does not contain "
DEFAULT = " (the default)"
"""Ends the words of a test that a flag passes where it is not given."""
_INVERSE = {"<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def words_of_values(one: Literal) -> list[str]:
    """What a flag has to be; several words where all of them are needed."""
    needed, enough = _told(one)
    return needed or [" or ".join(of_one_name(enough))]


def alternatives_of_values(one: Literal) -> list[str]:
    """The same where it is one of several alternatives: each value that a flag may have is one of them, too."""
    needed, enough = _told(one)
    return [" and ".join(sorted(needed))] if needed else enough


def _told(one: Literal) -> tuple[list[str], list[str]]:
    """Tests of a flag all of which are needed; or, where that is none, those of which any is enough."""
    flag, universe, wanted = one.flag, one.variable.universe, one.outcome
    assert flag is not None
    assert universe is not None
    assert isinstance(wanted, ValueSet)
    tests = list(_tests(flag, universe, wanted))
    for values, words, negated in tests:
        if wanted in (values, values.inverse().meet(universe)):
            return [words if values == wanted else negated], []
    needed = _none_of(_needed(universe, wanted, tests))
    return needed, [] if needed else list(_enough(wanted, tests)) or [f"{flag.spelled} is something else"]


def some_values(one: Literal) -> str:
    """Of many values that a flag may have the first, and how many there are besides; empty where that is no list."""
    flag, universe, wanted = one.flag, one.variable.universe, one.outcome
    if flag is None or universe is None or not isinstance(wanted, ValueSet):
        return ""
    several, name = list(_enough(wanted, list(_tests(flag, universe, wanted)))), f"{flag.spelled} is "
    values = [words.removeprefix(name) for words in several]
    plain = len(values) > _FIRST and not any(" " in value for value in values)
    return f"{name}{', '.join(values[:_FIRST])} or {len(values) - _FIRST} more" if plain else ""


_HELD = re.compile(rf"(?P<name>\S+)(?P<has>{CONTAINS}|{_LACKS})(?P<part>.+)")
_VALUE = re.compile(r"(?P<name>\S+) is (?P<not>not )?(?P<value>\S+)")
_NO_VALUES = ("given", "set", "true", "false", "none")
"""What may stand in the place of a value."""


def without_decided(needed: list[str]) -> list[str]:
    """Tests all of which are needed, without those that others decide: what is `b` has no `a` in it."""
    values = [hit for words in needed if (hit := _VALUE.match(words)) and hit["value"] not in _NO_VALUES]
    exact = {hit["name"] for hit in values if not hit["not"]}
    held = {words: hit for words in needed if (hit := _HELD.fullmatch(words))}
    decided = {words for words, hit in held.items() if hit["name"] in exact}
    parts = [
        (hit["name"], hit["part"].removesuffix(DEFAULT))
        for words, hit in held.items() if hit["has"] == CONTAINS and words not in decided
    ]  # fmt: skip
    for other in values:
        if other["not"] and any(name == other["name"] and part not in other["value"] for name, part in parts):
            decided.add(other[0])
    return [words for words in needed if words not in decided]


_LIST = re.compile(", | or ")
"""Between the values of one name."""


def of_one_name(alternatives: Iterable[str]) -> list[str]:
    """Alternatives, those of one name put together: ``--arch is A``, ``--arch is B`` as ``--arch is A or B``.

    What is the default comes last, so that all the words end as those of any other test do that it passes.
    """
    names: dict[str, list[str]] = {}
    for words in alternatives:
        name, found, value = words.partition(" is ")
        values = _LIST.split(value)
        plain = (
            found and " " not in name.partition(" in ")[0] and not any(" " in v.removesuffix(DEFAULT) for v in values)
        )
        known = names.setdefault(f"{name} is" if plain else words, [])
        known += [v for v in values if v not in known] if plain else []
    ordered = {name: sorted(values, key=lambda value: value.endswith(DEFAULT)) for name, values in names.items()}
    return [f"{name} {_listed(values, 'or')}" if values else name for name, values in ordered.items()]


def _none_of(needed: list[str]) -> list[str]:
    """Tests all of which are needed, those of one name put together: ``--arch is none of A, B and C``."""
    names: dict[str, list[str]] = {}
    for words in needed:
        name, _, value = words.partition(" is not ")
        names.setdefault(name if value else words, []).extend([value] if value else [])
    few = {name: values for name, values in names.items() if len(values) < _FEW}
    many = [f"{name} is none of {_listed(values, 'and')}" for name, values in names.items() if name not in few]
    return [*(words for words in needed if words.partition(" is not ")[0] in few), *many]


def _listed(values: list[str], word: str) -> str:
    """``a``, ``a or b``, ``a, b or c``."""
    return f" {word} ".join([", ".join(values[:-1]), values[-1]] if len(values) > 1 else values)


def _needed(universe: ValueSet, wanted: ValueSet, tests: list[tuple[ValueSet, str, str]]) -> list[str]:
    """Tests all of which are needed, and that together are enough; empty where there are none."""
    kept: list[tuple[ValueSet, str]] = []
    for values, words, negated in tests:
        for each, said in ((values, words), (values.inverse().meet(universe), negated)):
            if each.meet(wanted) == wanted and _all(universe, kept).meet(each) != _all(universe, kept):
                kept.append((each, said))
    if _all(universe, kept) != wanted:
        return []
    for one in list(kept):
        others = [other for other in kept if other is not one]
        if _all(universe, others) == wanted:
            kept = others
    return [said for _, said in kept]


def _all(universe: ValueSet, tests: Iterable[tuple[ValueSet, str]]) -> ValueSet:
    """The values that pass several tests."""
    left = universe
    for values, _ in tests:
        left = left.meet(values)
    return left


def _enough(wanted: ValueSet, tests: list[tuple[ValueSet, str, str]]) -> Iterator[str]:
    """Tests any of which is enough."""
    left = wanted
    for values, words, _ in tests:
        if values.meet(wanted) == values and left.meet(values) != NOTHING:
            left = left.meet(values.inverse())
            yield words


def _tests(flag: Flag, universe: ValueSet, wanted: ValueSet) -> Iterator[tuple[ValueSet, str, str]]:
    """Tests that people would ask: the values that pass, the words for it and for the opposite."""
    if flag.kind == STATED:
        notes = [DEFAULT if flag.default is outcome else "" for outcome in (True, False)]
        lacks = flag.spelled.replace(CONTAINS, _LACKS, 1)
        negated = lacks if CONTAINS in flag.spelled else f"not ({flag.spelled})"
        yield TRUE.meet(universe), flag.spelled + notes[0], negated + notes[1]
        return
    if flag.kind != "launcher":
        for values, op in ((NONE, "none"), (TRUE, "truthy")):
            yield values.meet(universe), _plain(flag, op, True), _plain(flag, op, False)
    others = wanted.inverse().meet(universe)
    for value in (*sorted(wanted.texts), *sorted(others.texts - wanted.texts), *_points(wanted)):
        point = valuesets.only(value)
        if point is not None:
            yield point.meet(universe), _equals(flag, value, True), _equals(flag, value, False)
    for bound, after in wanted.cuts:
        for op in ("<=", ">") if after else ("<", ">="):
            words = [f"{flag.spelled} {each} {bound}" for each in (op, _INVERSE[op])]
            yield valuesets.ordered(op, bound).meet(universe), words[0], words[1]


def _points(wanted: ValueSet) -> list[Any]:
    """The numbers that a set holds, or lacks, alone."""
    cuts = wanted.cuts
    return [one[0] for one, other in pairwise(cuts) if one[0] == other[0]]


def _equals(flag: Flag, value: Any, positive: bool) -> str:
    if flag.kind == "launcher":
        return f"{'' if positive else 'not '}started by {value}"
    note = DEFAULT if positive and flag.default == value and type(flag.default) is type(value) else ""
    return f"{flag.spelled} is {'' if positive else 'not '}{repr(value) if value == '' else value}{note}"


def _plain(flag: Flag, op: str, positive: bool) -> str:
    if op == "none":
        positive = not positive
    if flag.kind == "bool" or (op == "truthy" and flag.kind == "value" and isinstance(flag.default, bool)):
        note = DEFAULT if flag.default != UNKNOWN_DEFAULT and bool(flag.default) == positive else ""
        return f"{flag.spelled} is {'true' if positive else 'false'}{note}"
    if flag.kind == "off":
        positive = not positive
    if flag.kind == "value" and flag.default not in (None, UNKNOWN_DEFAULT) and op == "truthy":
        note = DEFAULT if bool(flag.default) == positive else ""
        return f"{flag.spelled} is {'not ' if not positive else ''}set{note}"
    return f"{flag.spelled} is {'given' if positive else 'not given'}"
