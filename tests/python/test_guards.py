"""The three-valued logic of conditions, held against plain truth tables."""

from __future__ import annotations

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from d9mlint.model import Location
from d9mlint.python.domain.guards import (
    MAX_SIZE,
    All,
    AnyOf,
    Cond,
    Flag,
    FlagTest,
    Not,
    OpaqueTest,
    both,
    either,
    negate,
    truth,
)
from d9mlint.python.domain.guards import test_value as holds
from d9mlint.python.domain.tellable import by_default
from d9mlint.python.judging.wording import describe, words_of

NOWHERE = Location("train.py", 1, 1, 1, 1)
ATOMS = [OpaqueTest((name,), name) for name in "abcd"]
CONDS = st.recursive(
    st.sampled_from([*ATOMS, True, False]),
    lambda inner: st.one_of(
        inner.map(negate), st.lists(inner, min_size=1, max_size=3).map(lambda c: both(*c)),
        st.lists(inner, min_size=1, max_size=3).map(lambda c: either(*c)),
    ),
    max_leaves=6,
)  # fmt: skip


def flag(name: str = "seed", default: object = None, kind: str = "value") -> Flag:
    return Flag(name, f"--{name}", default, kind, NOWHERE)


def value(cond: Cond, world: dict[Cond, bool]) -> bool:
    if isinstance(cond, bool):
        return cond
    if isinstance(cond, Not):
        return not value(cond.of, world)
    if isinstance(cond, All):
        return all(value(c, world) for c in cond.of)
    if isinstance(cond, AnyOf):
        return any(value(c, world) for c in cond.of)
    return world[cond]


WORLDS = [dict(zip(ATOMS, bits, strict=True)) for bits in product((False, True), repeat=len(ATOMS))]


@settings(max_examples=200)
@given(st.lists(CONDS, min_size=1, max_size=3))
def test_operators_mean_what_they_say(conds: list[Cond]) -> None:
    together, any_of = both(*conds), either(*conds)
    for world in WORLDS:
        values = [value(c, world) for c in conds]
        assert value(together, world) == all(values)
        assert value(any_of, world) == any(values)
        assert value(negate(together), world) != all(values)


@settings(max_examples=200)
@given(CONDS, st.lists(CONDS, max_size=2))
def test_truth_is_never_wrong(cond: Cond, assumed: list[Cond]) -> None:
    answer = truth(cond, assumed)
    for world in WORLDS:
        if answer is not None and all(value(a, world) for a in assumed):
            assert value(cond, world) == answer


def test_of_a_condition_that_is_too_long_the_short_parts_are_kept() -> None:
    a = ATOMS[0]
    long = either(*(both(*(OpaqueTest((i, j), f"{i}{j}") for j in range(3))) for i in range(MAX_SIZE // 3)))
    assert truth(a, [both(a, long)]) is True
    assert truth(long, [both(a, long)]) is None


def test_equal_conditions_are_one_object_and_complements_cancel() -> None:
    a, b = ATOMS[:2]
    assert both(a, b) is both(b, a)
    assert either(both(a, b), both(negate(a), b)) is b
    assert either(b, both(a, b)) is b
    assert both(either(a, b), negate(b)) is both(a, negate(b))
    assert both(a, negate(a)) is False
    assert either(a, negate(a)) is True


def test_tests_of_one_flag_know_of_each_other() -> None:
    seed = flag()
    given_, none = FlagTest(seed, "truthy"), FlagTest(seed, "none")
    assert both(given_, none) is False
    assert truth(FlagTest(seed, "==", 3), [FlagTest(seed, "==", 4)]) is False
    assert truth(none, [FlagTest(seed, "==", 4)]) is False
    assert truth(given_, [none]) is False


def test_defaults() -> None:
    assert by_default(FlagTest(flag(default=1), "truthy")) is True
    assert by_default(FlagTest(flag(), "none")) is True
    assert by_default(negate(FlagTest(flag("fast", False, "on"), "truthy"))) is True
    assert by_default(ATOMS[0]) is None


def test_words() -> None:
    fast = FlagTest(flag("fast", False, "on"), "truthy")
    assert describe(fast) == "--fast is given"
    assert describe(negate(fast)) == "--fast is not given"
    assert describe(FlagTest(flag(), "none")) == "--seed is not given"
    assert describe(FlagTest(flag("data", "cifar"), "==", "mnist")) == "--data is mnist"
    assert describe(FlagTest(flag("sync", True, "off"), "truthy")) == "--sync is not given"


def test_alternatives_that_name_every_choice_of_a_flag_always_hold() -> None:
    flag = Flag("optimizer", "--optimizer", "adam", "value", Location("x.py", 1, 1, 1, 1), choices=("adam", "sgd"))
    adam, sgd = FlagTest(flag, "==", "adam"), FlagTest(flag, "==", "sgd")
    assert either(adam, sgd) is True
    assert either(adam, both(negate(adam), sgd)) is True
    assert both(negate(adam), negate(sgd)) is False
    open_ = flag._replace(choices=())
    assert either(FlagTest(open_, "==", "adam"), FlagTest(open_, "==", "sgd")) is not True


NUMBERS = st.sampled_from([-1, 0, 1, 2])
TESTS = st.one_of(
    st.builds(FlagTest, st.just(flag("n", 1)), st.sampled_from(["<", "<=", ">", ">=", "=="]), NUMBERS),
    st.just(FlagTest(flag("n", 1), "truthy")),
)


@given(st.lists(st.tuples(TESTS, st.booleans()), max_size=2), TESTS, st.sampled_from([-2, -1, -0.5, 0, 0.5, 1, 2, 3]))
def test_what_tests_of_a_number_say_of_another_one_holds_for_each_number(
    known: list[tuple[FlagTest, bool]], asked: FlagTest, number: float
) -> None:
    if all(holds(test, number) is positive for test, positive in known):
        answer = truth(asked, [test if positive else negate(test) for test, positive in known])
        assert answer in (None, holds(asked, number))


def test_words_say_nothing_twice() -> None:
    a, b, c = (FlagTest(flag(name, False, "on"), "truthy") for name in "abc")
    assert words_of(both(a, either(negate(a), b))) == ("--a is given", "--b is given")
    assert words_of(either(a, both(negate(a), b))) == ("--a is given or --b is given",)
    assert words_of(either(a, b, c), excluded=[either(b, c)]) == ()
    assert words_of(both(a, b), excluded=[b]) == ("--a is given",)
    assert words_of(either(a, OpaqueTest(("x",), "x"))) == ()
