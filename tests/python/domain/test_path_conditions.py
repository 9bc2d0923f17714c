"""Conditions, held against plain truth tables: what is put together, asked, taken apart and told means what it says."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from d9mlint.model import Location
from d9mlint.python.domain import diagrams, valuesets
from d9mlint.python.domain.conditions import (
    MAX_NODES,
    UNKNOWN_DEFAULT,
    Cond,
    Flag,
    Opaque,
    both,
    by_default,
    conjuncts,
    cut_points,
    disjuncts,
    either,
    flag_test,
    forget,
    is_symbolic,
    literal,
    negate,
    opaque_test,
    symbolic_part,
    truth,
)
from d9mlint.python.domain.covers import cofactor, cover
from d9mlint.python.domain.diagrams import Node, Variable, implies, is_larger, meets, simplified, without
from d9mlint.python.domain.path import Path
from d9mlint.python.domain.tellable import loosened
from d9mlint.python.domain.valuesets import EVERYTHING, NONE, NOTHING, TRUE, ValueSet
from d9mlint.python.judging.wording import any_of, describe, words_of

NOWHERE = Location("train.py", 1, 1, 1, 1)
ATOMS = [opaque_test((name,), name) for name in "abcd"]
NUMBER = Flag("n", "--n", 1, "value", NOWHERE)
KIND = Flag("kind", "--kind", "a", "value", NOWHERE, choices=("a", "b", "c"))
NUMBERS = [None, -1, 0, 0.5, 1, 1.5, 2, 3, "", "x", "y"]
TESTS = [
    *ATOMS,
    *(flag_test(NUMBER, op, bound) for op in ("<", "<=", ">", ">=", "==") for bound in (0, 1, 2)),
    *(flag_test(NUMBER, "==", text) for text in ("", "x")),
    flag_test(NUMBER, "truthy"), flag_test(NUMBER, "none"),
    *(flag_test(KIND, "==", text) for text in "abc"),
]  # fmt: skip
CONDS = st.recursive(
    st.sampled_from([*TESTS, True, False]),
    lambda inner: st.one_of(
        inner.map(negate), st.lists(inner, min_size=1, max_size=3).map(lambda c: both(*c)),
        st.lists(inner, min_size=1, max_size=3).map(lambda c: either(*c)),
    ),
    max_leaves=6,
)  # fmt: skip
World = dict[Any, Any]
WORLDS: list[World] = [
    {**dict(zip("abcd", bits, strict=True)), NUMBER: number, KIND: kind}
    for bits in product((False, True), repeat=4)
    for number, kind in zip(NUMBERS, "abcabcabcab", strict=True)
]


def flag(name: str = "seed", default: object = None, kind: str = "value") -> Flag:
    return Flag(name, f"--{name}", default, kind, NOWHERE)


def value(cond: Cond, world: World) -> bool:
    """The truth of a condition where all tests have these outcomes, read off its diagram."""
    while isinstance(cond, Node):
        name = cond.variable.name
        if isinstance(name, Opaque):
            cond = cond.high if world[name.key[0]] else cond.low
        else:
            cond = next(child for values, child in cond.cases if values.holds(world[name]))
    return cond


@settings(max_examples=200)
@given(st.lists(CONDS, min_size=1, max_size=3))
def test_operators_mean_what_they_say(conds: list[Cond]) -> None:
    together, any_ = both(*conds), either(*conds)
    for world in WORLDS:
        values = [value(c, world) for c in conds]
        assert value(together, world) == all(values)
        assert value(any_, world) == any(values)
        assert value(negate(together), world) != all(values)


@settings(max_examples=200)
@given(CONDS, CONDS)
def test_conditions_that_mean_the_same_are_one_object(one: Cond, other: Cond) -> None:
    same = both(either(negate(one), other), either(negate(other), one))
    assert (one is other) is (same is True)
    assert both(one, either(one, other)) is one
    assert negate(negate(one)) is one
    assert both(one, other) is both(other, one)


@settings(max_examples=200)
@given(CONDS, st.lists(CONDS, max_size=2))
def test_truth_is_exact(cond: Cond, assumed: list[Cond]) -> None:
    answer = truth(cond, assumed)
    known = both(*assumed)
    assert answer is (False if both(known, cond) is False and cond is not True else
                      True if both(known, negate(cond)) is False else None)  # fmt: skip
    for world in WORLDS:
        if answer is not None and all(value(a, world) for a in assumed):
            assert value(cond, world) == answer


@settings(max_examples=200)
@given(st.lists(CONDS, max_size=4), CONDS)
def test_a_path_knows_its_conditions(conds: list[Cond], asked: Cond) -> None:
    path = Path()
    for cond in conds:
        path = path.under(cond)
    answer = path.truth(asked)
    for world in WORLDS:
        if answer is not None and all(value(cond, world) for cond in conds):
            assert value(asked, world) == answer
    assert path.told == tuple(conds)
    assert all(path.truth(cond) is True for cond in conds if isinstance(cond, Node) and both(*conds) is not False)


@settings(max_examples=200)
@given(st.lists(CONDS, max_size=3), st.lists(CONDS, min_size=2, max_size=3), st.lists(CONDS, min_size=1, max_size=4))
def test_what_was_asked_on_one_path_says_nothing_wrong_on_others(
    before: list[Cond], branches: list[Cond], asked: list[Cond]
) -> None:
    def along(conds: list[Cond]) -> Path:
        path = Path()
        for cond in conds:
            path = path.under(cond)
        return path

    shared = along(before)
    for cond in branches:  # what holds before them was asked in another branch by then
        path = shared.under(cond)
        for one in asked:
            assert path.truth(one) is along([*before, cond]).truth(one)
            assert shared.truth(one) is along(before).truth(one)


@settings(max_examples=100)
@given(CONDS, CONDS)
def test_questions_without_building_an_answer(one: Cond, other: Cond) -> None:
    assert meets(one, other) is (both(one, other) is not False)
    assert implies(one, other) is (both(one, negate(other)) is False)


@settings(max_examples=100)
@given(CONDS)
def test_parts_are_the_whole(cond: Cond) -> None:
    assert both(*conjuncts(cond)) is cond
    assert either(*disjuncts(cond)) is cond


@settings(max_examples=100)
@given(CONDS, CONDS)
def test_simplified_where_it_matters(cond: Cond, care: Cond) -> None:
    found = simplified(cond, care)
    assert both(found, care) is both(cond, care)


@settings(max_examples=100)
@given(CONDS, st.sets(st.sampled_from("abcd")))
def test_what_is_left_without_some_tests(cond: Cond, gone: set[str]) -> None:
    variables = [ATOMS["abcd".index(name)].variable for name in gone]
    found = without(cond, variables)
    for world in WORLDS:
        others = [{**world, **dict(zip(gone, bits, strict=True))} for bits in product((False, True), repeat=len(gone))]
        assert value(found, world) == any(value(cond, other) for other in others)


@settings(max_examples=100)
@given(CONDS)
def test_what_is_said_of_flags(cond: Cond) -> None:
    part = symbolic_part(cond)
    assert is_symbolic(part)
    assert implies(cond, part)
    assert loosened(cond) is part


@settings(max_examples=100, deadline=None)
@given(CONDS, st.randoms())
def test_covers_hold_where_the_condition_does_and_are_irredundant(cond: Cond, random: Any) -> None:
    order = sorted(cond.support, key=lambda one: one.level) if isinstance(cond, Node) else []
    random.shuffle(order)
    terms = [both(*(_outcome(variable, outcome) for variable, outcome in term)) for term in cover(cond, order)]
    assert either(*terms) is cond
    for number in range(len(terms)):
        assert either(*terms[:number], *terms[number + 1 :]) is not cond


def _outcome(variable: Variable, outcome: bool | ValueSet) -> Cond:
    if isinstance(outcome, ValueSet):
        return diagrams.member(variable, outcome)
    return diagrams.test(variable) if outcome else negate(diagrams.test(variable))


@given(CONDS)
def test_cofactors(cond: Cond) -> None:
    for atom in ATOMS:
        variable = atom.variable
        high, low = cofactor(cond, variable, True), cofactor(cond, variable, False)
        assert either(both(atom, high), both(negate(atom), low)) is cond


SETS = st.recursive(
    st.sampled_from([NONE, TRUE, EVERYTHING, NOTHING, *(valuesets.only(v) or NOTHING for v in NUMBERS),
                     *(valuesets.ordered(op, bound) for op in ("<", "<=", ">", ">=") for bound in (0, 1))]),
    lambda inner: st.one_of(inner.map(ValueSet.inverse), st.tuples(inner, inner).map(lambda p: p[0].meet(p[1]))),
    max_leaves=5,
)  # fmt: skip


@given(SETS, SETS)
def test_sets_of_values(one: ValueSet, other: ValueSet) -> None:
    for each in (*NUMBERS, ("a", "tuple")):
        assert one.meet(other).holds(each) == (one.holds(each) and other.holds(each))
        assert one.join(other).holds(each) == (one.holds(each) or other.holds(each))
        assert one.inverse().holds(each) != one.holds(each)
    assert one.inverse().inverse() == one
    assert one.meet(one) == one.join(one) == one
    assert bool(one.meet(one.inverse())) is False


def test_complements_cancel() -> None:
    a, b = ATOMS[:2]
    assert either(both(a, b), both(negate(a), b)) is b
    assert both(either(a, b), negate(b)) is both(a, negate(b))
    assert both(a, negate(a)) is False
    assert either(a, negate(a)) is True


def test_tests_of_one_flag_know_of_each_other() -> None:
    seed = flag()
    given_, none = flag_test(seed, "truthy"), flag_test(seed, "none")
    assert both(given_, none) is False
    assert truth(flag_test(seed, "==", 3), [flag_test(seed, "==", 4)]) is False
    assert truth(none, [flag_test(seed, "==", 4)]) is False
    assert truth(given_, [none]) is False
    assert truth(flag_test(seed, ">", 2), [flag_test(seed, "==", 4)]) is True


def test_defaults() -> None:
    assert by_default(flag_test(flag(default=1), "truthy")) is True
    assert by_default(flag_test(flag(), "none")) is True
    assert by_default(negate(flag_test(flag("fast", False, "on"), "truthy"))) is True
    assert by_default(ATOMS[0]) is None
    assert by_default(either(ATOMS[0], flag_test(flag(), "none"))) is True
    assert by_default(flag_test(flag(default=UNKNOWN_DEFAULT), "truthy")) is None
    assert by_default(flag_test(flag(default=1)._replace(required=True), "truthy")) is None


def test_alternatives_that_name_every_choice_of_a_flag_always_hold() -> None:
    adam, sgd = (flag_test(KIND._replace(choices=("adam", "sgd")), "==", name) for name in ("adam", "sgd"))
    assert either(adam, sgd) is True
    assert either(adam, both(negate(adam), sgd)) is True
    assert both(negate(adam), negate(sgd)) is False
    open_ = KIND._replace(choices=())
    assert either(flag_test(open_, "==", "adam"), flag_test(open_, "==", "sgd")) is not True


def test_literals() -> None:
    one = literal(negate(ATOMS[0]))
    assert one is not None
    assert (one.opaque, one.outcome, one.flag) == (Opaque(("a",), "a"), False, None)
    assert literal(both(*ATOMS[:2])) is None
    assert literal(True) is None


def test_words() -> None:
    fast = flag_test(flag("fast", False, "on"), "truthy")
    assert describe(fast) == "--fast is given"
    assert describe(negate(fast)) == "--fast is not given"
    assert describe(flag_test(flag(), "none")) == "--seed is not given"
    assert describe(flag_test(flag("data", "cifar"), "==", "mnist")) == "--data is mnist"
    assert describe(negate(flag_test(flag("data", "cifar"), "==", "mnist"))) == "--data is not mnist"
    assert describe(flag_test(flag("sync", True, "off"), "truthy")) == "--sync is not given"
    assert describe(flag_test(flag("n", 1), ">", 2)) == "--n > 2"
    assert describe(negate(flag_test(KIND, "==", "a"))) == "--kind is not a"


def test_words_of_values_that_take_several_tests() -> None:
    seed = flag()
    some = both(flag_test(seed, "truthy"), negate(flag_test(seed, "==", "x")))
    assert words_of(some) == ("--seed is given", "--seed is not x")
    assert words_of(either(flag_test(seed, "==", "x"), flag_test(seed, "none"))) == (
        "--seed is not given or --seed is x",
    )
    assert words_of(both(flag_test(seed, ">", 1), flag_test(seed, "<=", 5))) == ("--seed <= 5", "--seed > 1")


def test_words_say_nothing_twice() -> None:
    a, b, c = (flag_test(flag(name, False, "on"), "truthy") for name in "abc")
    assert words_of(both(a, either(negate(a), b))) == ("--a is given", "--b is given")
    assert words_of(either(a, both(negate(a), b))) == ("--a is given or --b is given",)
    assert words_of(either(a, b, c), excluded=[either(b, c)]) == ()
    assert words_of(both(a, b), excluded=[b]) == ("--a is given",)
    for made in (a, b, c), (c, b, a):  # what follows from the others is not told, whichever was met first
        assert words_of(both(*made), excluded=[either(negate(a), b)]) == ("--a is given", "--c is given")
    assert words_of(either(a, opaque_test(("x",), "x()"))) == ()
    assert words_of(both(either(a, b), either(b, c))) == ("--a is given and --c is given or --b is given",)


def test_of_settings_that_cannot_be_read_those_with_a_name_are_told() -> None:
    a = flag_test(flag("a", False, "on"), "truthy")
    named, other = opaque_test(("m",), "cfg.mode"), opaque_test(("o",), "f(x) > 3")
    assert words_of(both(a, named, other), settings=True) == ("--a is given", "`cfg.mode` is true")
    assert words_of(both(a, named, other)) == ("--a is given",)
    assert words_of(either(both(a, other), both(a, negate(other))), settings=True) == ("--a is given",)
    assert words_of(either(a, named), settings=True) == ("--a is given or `cfg.mode` is true",)
    assert words_of(either(a, opaque_test(("l",), "local")), settings=True) == ()


def test_the_order_in_which_tests_were_met_changes_no_words() -> None:
    made: Callable[[str], Cond] = lambda name: flag_test(flag(name, False, "on"), "truthy")  # noqa: E731
    for names in ("pqrs", "srqp"):
        conds = {name: made(name) for name in names}
        p, q, r, s = (conds[name] for name in "pqrs")
        assert words_of(either(both(p, q), both(r, s))) == (
            "--p is given and --q is given or --r is given and --s is given",
        )
        diagrams.forget()


def test_parameters_of_one_name_are_told_once() -> None:
    one, other = (opaque_test((number,), "seed is None", by_default=True) for number in range(2))
    assert words_of(any_of([negate(one), negate(other)], True), settings=True) == ("`seed` is given",)


@pytest.mark.parametrize("kind", ["on", "off", "bool"])
def test_a_switch_is_true_or_false(kind: str) -> None:
    switch = flag("x", False, kind)
    assert flag_test(switch, "none") is False
    assert either(flag_test(switch, "truthy"), flag_test(switch, "==", False)) is True
    unset = flag("y", None, kind)
    assert flag_test(unset, "none") is not False


def test_a_condition_that_is_too_large_is_given_up() -> None:
    forget()
    # All first tests are asked for before the second ones: the diagram knows each way in which they came out.
    lefts, rights = ([opaque_test((side, n), f"{side}{n}") for n in range(14)] for side in "ab")
    found: Cond = True
    for number, left in enumerate(lefts):
        found = both(found, either(left, rights[number]))
    assert cut_points() > 0
    assert truth(found, [negate(lefts[0]), negate(rights[0])]) is None  # nothing is known of it any more
    forget()
    assert cut_points() == 0


@settings(max_examples=10, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 40), st.booleans(), st.booleans()), min_size=30, max_size=90))
def test_no_condition_is_too_large_and_a_negation_stays_one(steps: list[tuple[int, bool, bool]]) -> None:
    forget()
    tests = [opaque_test((n,), f"t{n}") for n in range(41)]
    found: Cond = tests[0]
    other: Cond = negate(tests[0])
    for number, (which, outcome, and_) in enumerate(steps):
        step = either(tests[which] if outcome else negate(tests[which]), tests[number % 41])
        found = both(found, step) if and_ else either(found, negate(step))
        other = either(other, negate(step)) if and_ else both(other, step)
        assert other == negate(found)
        assert isinstance(found, bool) or not is_larger(found, MAX_NODES)


@settings(deadline=None)
@given(st.integers(1, 60))
def test_how_large_a_diagram_is(tests: int) -> None:
    forget()
    chain = both(*(opaque_test((n,), f"t{n}") for n in range(tests)))
    assert is_larger(chain, tests - 1)
    assert not is_larger(chain, tests)
