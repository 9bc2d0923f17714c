"""Sets of the values of flags."""

from __future__ import annotations

import pytest

from d9mlint.python.domain.valuesets import ValueSet, ordered, union


@pytest.mark.parametrize("first", [0, 0.0, False])
def test_a_bound_stays_as_it_was_written_whatever_was_met_before(first: float) -> None:
    for bound in (first, 0, 0.0, 1, True, 1.0):
        met: ValueSet = ordered(">=", bound).meet(union([ordered("<", bound), ordered(">=", bound)]))
        assert [type(place) for place, _ in met.cuts] == [type(bound)]
