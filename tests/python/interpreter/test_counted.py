"""Numbers of a loop of which the least is known, compared."""

from __future__ import annotations

import operator

from hypothesis import given
from hypothesis import strategies as st

from d9mlint.python.domain.numbers import Counted
from d9mlint.python.interpreter.comparisons import compare_least
from d9mlint.python.interpreter.library.containers.counting import any_of
from tests.python.interpreter.test_story import calls, story

SMALL = st.integers(-4, 4)
OPS = {">": operator.gt, ">=": operator.ge, "<": operator.lt, "<=": operator.le, "==": operator.eq}


@given(st.lists(SMALL, min_size=1, max_size=3).filter(lambda given: len(given) < 3 or given[2] != 0), SMALL)
def test_what_is_told_of_a_number_holds_for_all_of_its_range(given: list[int], right: int) -> None:
    for known in ([*given], [None, *given[1:]], [*given[:1], None, *given[2:]][: len(given)]):
        item = any_of(known)
        if not isinstance(item, Counted):
            continue
        for op, compare in OPS.items():
            told = compare_least(op, item.least, right)
            assert told is None or all(compare(number, right) is told for number in range(*given))


def test_a_number_counted_down_to_one_is_over_zero() -> None:
    text = """import os
import random
import sys

found = 0
for epoch in range(int(sys.argv[1]), 0, -1):
    if os.path.exists(f"{epoch}.pt"):
        found = epoch
        break
if found > 0:
    random.random()
elif found < 0:
    random.shuffle([1, 2])
"""
    assert [name for name in calls(story(text), certain=False) if name.startswith("random.")] == ["random.random"]
    (drawn,) = [e for e in story(text).events if e.name == "random.random"]
    assert len(drawn.guards) == 1
