"""Conditions in the user's words, and what they come to when no flag is given."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from d9mlint.python.domain.guards import (
    INVERSE,
    ORDERINGS,
    STATED,
    UNKNOWN_DEFAULT,
    All,
    AnyOf,
    Cond,
    FlagTest,
    Not,
    OpaqueTest,
    Several,
    both,
    either,
    negate,
    truth,
)
from d9mlint.python.domain.tellable import GIVEN, is_setting, is_symbolic, loosened

MAX_WORDS = 120
"""Characters of one condition; longer alternatives explain nothing."""


def _alike(cond: Cond, names: dict[str, Cond]) -> Cond:
    """The condition with one test for all parameters of one name: for words, they are the same."""
    if isinstance(cond, Several):
        together = both if isinstance(cond, All) else either
        return together(*(_alike(part, names) for part in cond.of))
    if isinstance(cond, Not) and isinstance(cond.of, OpaqueTest) and cond.of.by_default:
        return names.setdefault(cond.of.text, cond)
    return cond


def any_of(conds: Iterable[Cond], settings: bool = False) -> Cond:
    """That one of several conditions holds; where that is too much to say, what of each can be told."""
    names: dict[str, Cond] = {}
    conds = [_alike(cond, names) for cond in conds]
    found = either(*conds)
    if not isinstance(found, OpaqueTest) or found in conds:
        return found
    told = [both(*_simpler(list(one.of), ())) if isinstance(one, All) else one for one in conds]
    found = either(*(loosened(one, settings) for one in told))
    return True if isinstance(found, OpaqueTest) else found


def describe(cond: Cond) -> str:
    """The condition in words: ``--seed is not given``."""
    if is_setting(cond):
        atom: Any = cond.of if isinstance(cond, Not) else cond
        if atom is not cond and (atom.by_default or GIVEN.fullmatch(atom.text)):
            return f"`{atom.text.removesuffix(' is None')}` is given"
        return f"`{atom.text}` is {'true' if atom is cond else 'false'}"
    if isinstance(cond, Not):
        return _describe_flag(cond.of, False) if isinstance(cond.of, FlagTest) else f"not ({describe(cond.of)})"
    if isinstance(cond, FlagTest):
        return _describe_flag(cond, True)
    if isinstance(cond, All):
        return " and ".join(sorted(describe(c) for c in cond.of))
    if isinstance(cond, AnyOf):
        return " or ".join(sorted(describe(c) for c in cond.of))
    return cond.text if isinstance(cond, OpaqueTest) else str(cond)


def _describe_flag(test: FlagTest, positive: bool) -> str:
    flag = test.flag
    if flag.kind == STATED:
        return flag.spelled if positive else f"not ({flag.spelled})"
    if flag.kind == "launcher":
        return f"{'' if positive else 'not '}started by {test.value}"
    if test.op == "==":
        value = repr(test.value) if test.value == "" else test.value
        return f"{flag.spelled} is {'' if positive else 'not '}{value}"
    if test.op in ORDERINGS:
        return f"{flag.spelled} {test.op if positive else INVERSE[test.op]} {test.value}"
    if test.op == "none":
        positive = not positive
    if flag.kind == "bool" or (test.op == "truthy" and flag.kind == "value" and isinstance(flag.default, bool)):
        note = " (the default)" if bool(flag.default) == positive else ""
        return f"{flag.spelled} is {'true' if positive else 'false'}{note}"
    if flag.kind == "off":
        positive = not positive
    if flag.kind == "value" and flag.default not in (None, UNKNOWN_DEFAULT) and test.op == "truthy":
        note = " (the default)" if bool(flag.default) == positive else ""
        return f"{flag.spelled} is {'not ' if not positive else ''}set{note}"
    return f"{flag.spelled} is {'given' if positive else 'not given'}"


def words_of(cond: Cond, settings: bool = False, excluded: Iterable[Cond] = ()) -> tuple[str, ...]:
    """The parts of a condition that can be told, none implied by the others or by what holds anyhow (``excluded``).

    ``settings``: also tests of settings whose values are not known.
    """
    anyhow = tuple(excluded)
    parts = [part for one in (cond.of if isinstance(cond, All) else (cond,)) for part in _factored(one)]
    parts = _simpler([part for part in parts if not isinstance(part, bool)], anyhow)
    told = [p for p in parts if is_symbolic(p) or (settings and is_setting(p))]
    partly = [loosened(_fewer(p), settings) for p in parts if isinstance(p, AnyOf) and p not in told]
    plain: list[Cond] = [p for p in partly if isinstance(p, AnyOf) and all(map(is_setting, p.of))]
    told += [p for p in _simpler(plain, (*anyhow, *told)) if p not in told]
    # All conditions are needed, so to leave one out says less but nothing wrong.
    return tuple(sorted({words for p in told if (words := _short(p))}))


def _short(cond: Cond) -> str:
    """A condition in words: of many tests the first, and how many there are besides; empty for other long ones."""
    words = describe(cond)
    if len(words) <= MAX_WORDS or not isinstance(cond, AnyOf):
        return words
    if any(isinstance(one, All) for one in cond.of):
        return ""
    kept: list[str] = []
    for one in sorted(map(describe, cond.of), key=lambda text: (len(text), text)):
        if len(" or ".join((*kept, one))) <= MAX_WORDS:
            kept.append(one)
    return f"{' or '.join(sorted(kept))} or {len(cond.of) - len(kept)} more" if kept else ""


def _fewer(cond: AnyOf) -> Cond:
    """Alternatives, those left out that others hold in anyway; each without what the others' failing says."""
    alone = [one for one in cond.of if not isinstance(one, (All, AnyOf))]
    rest = [_given(one, tuple(map(negate, alone))) for one in cond.of if one not in alone]
    needs = [frozenset(one.of if isinstance(one, All) else (one,)) for one in rest]
    kept = [one for one, need in zip(rest, needs, strict=True) if not any(other < need for other in needs)]
    return either(*alone, *kept)


def _simpler(parts: list[Cond], anyhow: tuple[Cond, ...]) -> list[Cond]:
    """Conditions that hold together, each without what the others and ``anyhow`` say already."""
    kept: list[Cond] = []
    for i, part in enumerate(parts):
        rest = _given(part, (*anyhow, *kept, *parts[i + 1 :]))
        kept += rest.of if isinstance(rest, All) else () if isinstance(rest, bool) else (rest,)
    return kept


def _given(cond: Cond, known: tuple[Cond, ...]) -> Cond:
    """What is left to say of a condition where others are known."""
    if truth(cond, known) is True or any(_covers(one, cond) for one in known):
        return True
    if isinstance(cond, All):
        return both(*(_given(part, known) for part in cond.of))
    if isinstance(cond, AnyOf):
        return either(*(_given(part, known) for part in cond.of if truth(part, known) is not False))
    return cond


def _covers(known: Cond, cond: Cond) -> bool:
    """Whether alternatives one of which is known to hold are all among those of ``cond``."""
    return isinstance(known, AnyOf) and isinstance(cond, AnyOf) and set(known.of) <= set(cond.of)


def _factored(cond: Cond) -> list[Cond]:
    """Alternatives as what all of them need, then what makes the difference."""
    if not isinstance(cond, AnyOf):
        return [cond]
    needs = [dict.fromkeys(one.of if isinstance(one, All) else (one,)) for one in cond.of]
    common = [part for part in needs[0] if all(part in other for other in needs)]
    return [*common, either(*(both(*(p for p in one if p not in common)) for one in needs))] if common else [cond]
