"""Conditions in the user's words."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, NamedTuple
from weakref import WeakKeyDictionary

from d9mlint.python.domain import covers
from d9mlint.python.domain.conditions import (
    Cond,
    Literal,
    Opaque,
    as_condition,
    by_default,
    conjuncts,
    either,
    literal,
    negate,
    truth,
)
from d9mlint.python.domain.covers import Term
from d9mlint.python.domain.diagrams import Node, Variable, simplified, without
from d9mlint.python.domain.path import together
from d9mlint.python.domain.tellable import FILE_TEST, is_of_config, is_told, loosened, name_of_setting
from d9mlint.python.judging.wording.flagwords import (
    alternatives_of_values,
    of_one_name,
    some_values,
    without_decided,
    words_of_values,
)
from d9mlint.python.judging.wording.settingwords import choice, setting_compared, values_needed

MAX_WORDS = 120
"""Characters of one condition; longer alternatives explain nothing."""
MAX_MIXED = 3
"""Tests in alternatives of flags and settings beyond which they explain nothing."""
MAX_CHANGED = 4
"""Flags one of which has to be changed, beyond which naming them explains nothing."""
MAX_TESTS = 12
"""Different tests in a condition beyond which no words make it clear."""
_IS_FOLDER = re.compile(r"(?:isdir|is_dir)\('([^'()]+)'\)")
_IS_FILE = re.compile(r"(?:isfile|is_file)\('([^'()]+)'\)")
_NOT_THERE = re.compile(rf"not \({FILE_TEST.pattern}\)")
_NO_FOLDER = re.compile(rf"not \({_IS_FOLDER.pattern}\)")
_described: WeakKeyDictionary[Node, str] = WeakKeyDictionary()
"""What conditions that are in use are in words: many rules ask, and the events of a program share them."""


class _Form(NamedTuple):
    """Tests put together: any of several groups is enough, or one of each group is needed."""

    groups: tuple[Term, ...]
    alternatives: bool
    """Each group is one alternative, all of whose tests are needed; else one test of each group is."""


def any_of(conds: Iterable[Cond], settings: bool = False) -> Cond:
    """What can be told of several conditions of which one holds; parameters of one name are taken for one."""
    names: dict[str, Variable] = {}
    return either(*(_alike(loosened(cond, settings), names) for cond in conds))


def _alike(cond: Cond, names: dict[str, Variable]) -> Cond:
    """The condition with one test for all parameters of one name: for words, they are the same."""
    if isinstance(cond, bool):
        return cond
    for variable in sorted(cond.support, key=lambda one: -one.level):  # the first stands for the others
        test = variable.name
        if isinstance(test, Opaque) and test.by_default:
            known = names.setdefault(test.text, variable)
            if known is not variable:
                cond = covers.renamed(cond, variable, known)
    return cond


def words_of(cond: Cond, settings: bool = False, excluded: Iterable[Cond] = ()) -> tuple[str, ...]:
    """The parts of a condition that can be told, none implied by the others or by what holds anyhow (``excluded``).

    ``settings``: also tests of settings whose values are not known.
    """
    anyhow = _met(cond, excluded)
    told = loosened(simplified(cond, anyhow), settings)
    # All conditions are needed, so to leave one out says less but nothing wrong.
    tests = _of_one_kind({words for part in _independent(told, anyhow) for words in _parts(part) if words})
    needed = without_decided(sorted(map(_of_files, tests)))
    # (the same part of a config is one condition, however the program gets at it)
    return tuple({name_of_setting(words.lstrip("`")) or words: words for words in reversed(needed)}.values())[::-1]


def told_of(cond: Cond, settings: bool = False, excluded: Iterable[Cond] = ()) -> tuple[str, ...]:
    """The same; of a condition no part of which can be told, which flags have to be changed for it."""
    words = words_of(cond, settings, excluded)
    return words or tuple(filter(None, [off_default(cond)]))


def off_default(cond: Cond) -> str:
    """Of a condition with too many tests, the flags of which one at least has another value than its default.

    Empty where it may hold by default, and where more than a few flags have a part in it.
    """
    told = loosened(cond)
    if isinstance(told, bool) or by_default(told) is not False:
        return ""
    order = sorted(told.support, key=_rank)
    names = min((_changed(told, one) for one in (order, order[::-1])), key=len)
    if not 1 < len(names) <= MAX_CHANGED:
        return ""
    return f"one of {', '.join(names[:-1])} and {names[-1]} has another value than its default"


def _changed(cond: Node, order: Sequence[Variable]) -> list[str]:
    """Flags that are enough to tell that a condition does not hold by default, each left out that need not be told."""
    for variable in order:
        weaker = without(cond, [variable])
        if not isinstance(weaker, bool) and by_default(weaker) is False:
            cond = weaker
    return sorted({variable.name.spelled for variable in cond.support})


def _met(cond: Cond, excluded: Iterable[Cond]) -> Cond:
    """What holds anyhow, as far as it is not too large; first what asks for the same as a condition."""
    known = [one for one in excluded if not isinstance(one, bool)]
    asked = cond.support if not isinstance(cond, bool) else frozenset()
    return together(sorted(known, key=lambda one: asked.isdisjoint(one.support)))


def _of_files(words: str) -> str:
    """The words of a condition, whatever asks for a file in them said plainly: ``rows.npy`` is not there yet.

    What is no folder may be a file, which is there.
    """
    words = _IS_FOLDER.sub(r"`\1` is a folder", _NO_FOLDER.sub(r"`\1` is no folder", words))
    return FILE_TEST.sub(r"`\1` is there", _NOT_THERE.sub(r"`\1` is not there yet", words))


def _of_one_kind(tests: set[str]) -> set[str]:
    """Tests of files; of those that a path is no file, but a folder, or the other way round, what it is says enough."""
    for asks, denied, kind in (
        (_IS_FOLDER, ("isfile", "is_file"), "folder"), (_IS_FILE, ("isdir", "is_dir"), "file"),
    ):  # fmt: skip
        for one in sorted(tests):
            path = match[1] if (match := asks.fullmatch(one)) else ""
            others = {f"not ({name}('{path}'))" for name in denied} & tests if path else ()
            if others:
                tests = {*tests - {one, *others}, f"`{path}` is a {kind}"}
    return tests


def _independent(cond: Cond, anyhow: Cond) -> list[Cond]:
    """The parts of a condition but those that follow from the others and from what holds anyhow."""
    parts = list(conjuncts(cond))
    for part in reversed(parts[:]) if anyhow is not True else ():
        others = [one for one in parts if one is not part]
        if truth(part, (anyhow, *others)) is True:
            parts = others
    settled = Counter(name for part in parts if (name := _compared(part, True)))  # what is 'a' is not 'b'
    # (What has two values is several things of one name: `conf` is another part of a config in each function.)
    return [part for part in parts if _compared(part, False) not in settled and settled[_compared(part, True)] < 2]


def _compared(cond: Cond, outcome: bool) -> str:
    """The setting that a condition compares with one value, with this outcome; empty for all others."""
    one = literal(cond)
    return setting_compared(one.opaque.text) if one is not None and one.opaque and one.outcome is outcome else ""


def describe(cond: Cond) -> str:
    """The condition in words: ``--seed is not given``."""
    if isinstance(cond, bool):
        return str(cond)
    known = _described.get(cond)
    if known is None:
        known = " and ".join(sorted(words for part in conjuncts(cond) for words in _parts(part, most=10_000)))
        _described[cond] = known
    return known


def _parts(cond: Cond, most: int = MAX_WORDS) -> Iterator[str]:
    """The words of one part of a condition, which are several where all of them are needed."""
    one = literal(cond)
    if one is not None:
        yield from (words if len(words) <= most else some_values(one) for words in _of_literal(one))
        return
    if isinstance(cond, bool):
        return
    form = _shortest(cond) if len(cond.support) <= MAX_TESTS else None
    if form is None or (most == MAX_WORDS and not _is_clear(form)):
        yield from (words for words in values_needed(cond) if len(words) <= most)
        return
    if form.alternatives:
        words = " or ".join(of_one_name(sorted({one for term in form.groups for one in _alternatives(term)})))
        yield words if len(words) <= most else ""
    else:
        for group in form.groups:
            if _is_crowd(group):
                continue
            tests = [one.opaque.text for one in _literals(group) if one.opaque is not None and one.outcome is True]
            said = choice(tests) if len(tests) == len(group) else None
            yield (
                said
                if said is not None
                else shortened({words for test in group for words in _alternatives((test,))}, most)
            )


def _is_crowd(group: Term) -> bool:
    """Whether one of many tests of several flags is enough, and one may pass anyhow: that would explain nothing."""
    tests = _literals(group)
    said = {words for test in group for words in _alternatives((test,))}
    flags = {test.flag.spelled for test in tests if test.flag is not None}
    return len(flags) > 1 and len(said) > MAX_MIXED and by_default(either(*map(as_condition, tests))) is not False


def shortened(alternatives: Collection[str], most: int = MAX_WORDS, first: str = "") -> str:
    """Alternatives in words: of many the shortest, and how many there are besides; ``first`` leads wherever it fits."""
    words = " or ".join(of_one_name(sorted(alternatives, key=lambda text: (text != first, text))))
    if len(words) <= most:
        return words
    kept: list[str] = []
    for one in sorted(alternatives, key=lambda text: (text != first, len(text), text)):
        if len(" or ".join((*kept, one))) <= most:
            kept.append(one)
    kept.sort(key=lambda text: (text != first, text))
    return f"{' or '.join(kept)} or {len(alternatives) - len(kept)} more" if kept else ""


def _shortest(cond: Cond) -> _Form:
    """The form that asks for the fewest tests."""
    order = sorted(cond.support, key=_rank) if not isinstance(cond, bool) else []
    terms = covers.cover(cond, order)
    clauses = tuple(_turned(term) for term in covers.cover(negate(cond), order))
    fewer = len(clauses) > 1 and sum(map(len, terms)) <= sum(map(len, clauses))
    return _Form(terms, True) if fewer else _Form(clauses, False)


def _is_clear(form: _Form) -> bool:
    """Whether it helps to tell alternatives: those of flags alone, of one choice of settings, or few of a config."""
    tests = [variable.name for group in form.groups for variable, _ in group]
    settings = [test for test in tests if isinstance(test, Opaque)]
    if not settings:
        return True
    if len(settings) == len(tests):
        return not form.alternatives and len(form.groups) == 1
    return len(tests) <= MAX_MIXED and all(is_of_config(test.text) for test in settings)


def _turned(term: Term) -> Term:
    """The tests of a term, each with the other outcome."""
    return tuple((variable, covers.other(variable, outcome)) for variable, outcome in term)


def _rank(variable: Variable) -> tuple[str, ...]:
    """An order of tests by what they say, whatever the order in which they were met."""
    name: Any = variable.name
    return ("test", name.text) if isinstance(name, Opaque) else ("flag", name.spelled, str(name.location))


def _literals(term: Term) -> list[Literal]:
    return [Literal(variable, outcome) for variable, outcome in term]


def _of_term(term: Term) -> list[str]:
    return [words for one in _literals(term) for words in _of_literal(one)]


def _alternatives(term: Term) -> list[str]:
    """What is enough: the tests of a term together, or, of a single one, each value that a flag may have."""
    only = _literals(term)[0] if len(term) == 1 else None
    if only is not None and only.flag is not None:
        return alternatives_of_values(only)
    return [" and ".join(sorted(_of_term(term)))]


_PART = r"""(?:\[[\w'"]+\]|\.get(?:_\w+)?\([\w'"]+\))"""
_SAME = re.compile(rf"""(?P<what>[\w.]+(?:{_PART}[\w.]*)*) (is|==) (?P<value>None|-?\d+|'[^'"]*')""")
"""Tests whether something has one value, as they are written."""


def _of_literal(one: Literal) -> list[str]:
    test = one.opaque
    if test is None:
        return words_of_values(one)
    outcome = one.outcome is True
    if not is_told(test, outcome):
        return [test.text if outcome else f"not ({test.text})"]
    if test.by_default or test.text.endswith(" is None"):
        name = test.text.removesuffix(" is None")
        return [f"`{name}` is {'None' if outcome else 'given'}"]
    if (same := _SAME.fullmatch(test.text)) is not None:
        return [f"`{same['what']}` is {'' if outcome else 'not '}{same['value']}"]
    return [f"`{test.text}` is {'true' if outcome else 'false'}"]
