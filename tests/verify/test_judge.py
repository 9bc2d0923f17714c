"""Verdicts: what processes of the standard library do for real, and what observations add up to."""

from __future__ import annotations

import math
import random
import statistics

import pytest
from support import case, executed

from d9mlint.model import Case, Observation, Overhead
from d9mlint.verify.judge import judged, overhead, share_bound, student
from d9mlint.verify.run import Observed
from d9mlint.verify.timing import NEVER, Times

CASE = Case(op="op", framework="tensorflow", direction="forward", run="1", about=("gpu",))


def seen(mode: str, threads: int, *results: int, first: str = "a", **more: object) -> Observation:
    digests = tuple(f"{first}{n}" for n in range(max(results) + 1))
    return Observation(mode, threads, results, digests, **more)  # type: ignore[arg-type]


SAME = (0,) * 20
VARIES = (*range(10), *range(10))


def verdict(*observations: Observation) -> tuple[tuple[str, ...], str]:
    found = judged(Observed(CASE, "cpu", observations))
    assert found.verdict == found.verdicts[0]
    return found.verdicts, found.deterministic_mode


def test_all_equal_is_not_reproduced_with_a_conditional_bound() -> None:
    found = judged(Observed(CASE, "cpu", (seen("default", 0, *SAME), seen("deterministic", 0, *SAME))))
    assert found.verdicts == ("untested-needs-device", "not-reproduced")
    assert found.deterministic_mode == "not-reproduced"
    assert found.bound == pytest.approx(1 - 0.05 ** (1 / 19))
    assert "the entry is about the GPU, of which this CPU says nothing" in found.note


@pytest.mark.parametrize(("comparisons", "bound"), [(1, 0.95), (99, 0.0298), (299, 0.00997)])
def test_the_rule_of_three(comparisons: int, bound: float) -> None:
    assert share_bound(comparisons) == pytest.approx(bound, rel=0.01)
    assert share_bound(0) is None


def test_fixed_by_deterministic_mode() -> None:
    observations = (seen("default", 16, *VARIES, max_ulp=3, max_relative=1e-6), seen("deterministic", 16, *SAME))
    assert verdict(*observations) == (("confirmed", "det-mode-fixes"), "det-mode-fixes")
    found = judged(Observed(CASE, "cpu", observations))
    assert (found.runs, found.distinct, found.differing, found.first_differing) == (20, 10, 18, 2)
    assert (found.max_ulp, found.max_relative, found.bound) == (3, 1e-6, None)


def test_more_than_rounding_is_told() -> None:
    for distance, told in ((1e-6, False), (0.1, True)):
        observations = (seen("default", 16, *VARIES, max_relative=distance), seen("deterministic", 16, *SAME))
        assert ("farther apart than rounding" in judged(Observed(CASE, "cpu", observations)).note) is told


def test_leaks() -> None:
    observations = (seen("default", 16, *VARIES), seen("deterministic", 0, *SAME), seen("deterministic", 16, *VARIES))
    assert verdict(*observations) == (("det-mode-leaks", "confirmed"), "det-mode-leaks")


def test_raises() -> None:
    raised = Observation("deterministic", 0, raised="RuntimeError: no deterministic implementation")
    assert verdict(seen("default", 16, *VARIES), raised)[0] == ("det-mode-raises", "confirmed")
    assert verdict(seen("default", 16, *SAME), raised)[0] == ("det-mode-raises",)


def test_another_exception_in_deterministic_mode_is_no_verdict_on_it() -> None:
    observations = (seen("default", 16, *VARIES), Observation("deterministic", 0, raised="MemoryError"))
    assert verdict(*observations) == (("confirmed",), "not-run")
    assert "MemoryError" in judged(Observed(CASE, "cpu", observations)).note


def test_a_deterministic_mode_that_gave_no_answer_fixes_nothing() -> None:
    observations = (
        seen("default", 16, *VARIES),
        seen("deterministic", 0, *SAME),
        Observation("deterministic", 16, problem="hung"),
    )
    assert verdict(*observations) == (("confirmed",), "not-run")


def test_bits_that_depend_on_the_number_of_threads() -> None:
    observations = (seen("default", 1, *SAME), seen("default", 16, *SAME, first="b"))
    assert verdict(*observations)[0] == (
        "untested-needs-device",
        "not-reproduced",
        "environment-sensitive",
    )


def test_one_thread_cannot_race_and_bounds_nothing() -> None:
    about = CASE._replace(about=("cpu",))
    found = judged(Observed(about, "cpu", (seen("default", 1, *SAME), seen("default", 1, *SAME))))
    assert (found.verdict, found.bound) == ("not-reproduced", None)
    racing = (seen("default", 0, *SAME), seen("default", 16, *SAME), seen("default", 16, *SAME))
    found = judged(Observed(about, "cpu", (seen("default", 1, *SAME), *racing)))
    assert [one.bound for one in found.tallies] == [share_bound(19), None, share_bound(39)]
    assert found.bound == share_bound(19)  # that of the condition which was tried least holds for all


def test_settings_of_a_gpu_are_conditions_of_their_own() -> None:
    default = [seen("default", 0, *SAME), seen("deterministic", 0, *SAME)]
    other = seen("default", 0, *SAME, first="tf32-", variant="tf32")
    found = judged(Observed(CASE, "gpu", (*default, other)))
    assert found.verdicts == ("not-reproduced",)  # other bits by another setting are no difference between runs
    found = judged(Observed(CASE, "gpu", (*default, seen("default", 0, *VARIES, variant="benchmark"))))
    assert found.verdict == "confirmed"
    assert {one.variant: one.differing for one in found.tallies} == {"": 0, "benchmark": 18}
    refused = Observation("default", 0, variant="tf32", problem="no such switch")
    assert judged(Observed(CASE, "gpu", (*default, refused))).verdict == "not-reproduced"


def test_processes_that_differ_under_the_same_conditions() -> None:
    observations = (seen("default", 1, *SAME), seen("default", 1, *SAME, first="b"))
    assert verdict(*observations)[0] == ("confirmed",)
    assert "differs between processes" in judged(Observed(CASE, "cpu", observations)).note


def test_a_rare_race_is_not_taken_for_a_generator() -> None:
    drawing = [seen("default", threads, *SAME, unseeded=5) for threads in (0, 1)]
    assert verdict(*drawing)[0] == ("rng-unseeded",)
    found = judged(
        Observed(CASE, "cpu", (seen("default", 0, *SAME, unseeded=2), seen("default", 1, *SAME, unseeded=1)))
    )
    assert "not-reproduced" in found.verdicts
    assert "did differ in some processes" in found.note


def test_no_gpu() -> None:
    assert judged(Observed(CASE, "", ())).verdict == "untested-needs-device"


def test_no_observation_is_a_harness_error() -> None:
    assert verdict(Observation("default", 0, problem="hung"))[0] == ("harness-error",)
    assert verdict(seen("default", 0, *SAME), Observation("default", 16, problem="hung"))[0] == ("harness-error",)
    assert verdict(seen("default", 0, *VARIES), Observation("default", 16, problem="hung"))[0] == ("confirmed",)


def test_the_overhead_is_about_processes() -> None:
    """Shortest visits: 1.0, 1.1, 1.2 ms without and 2.0, 2.2, 2.4 ms with; half the interval is 2.776 s sqrt(2/3)."""
    cost = overhead(Times(((9.0, 1e-3), (1.1e-3, 9.0), (1.2e-3,)), ((2e-3, 3e-3), (2.2e-3,), (2.4e-3,))))
    assert cost is not None
    assert cost.ratio == pytest.approx(2.0)
    spread = statistics.stdev(map(math.log, (1.0, 1.1, 1.2)))
    assert cost.high == pytest.approx(2 * math.exp(2.776 * spread * math.sqrt(2 / 3)))
    assert cost.low * cost.high == pytest.approx(4.0)
    assert [cost.default_ms, cost.deterministic_ms] == pytest.approx([1.097, 2.194], abs=1e-3)
    assert (cost.blocks, cost.processes) == (9, 6)


def test_processes_that_agree_by_chance_do_not_make_the_interval_narrow() -> None:
    cost = overhead(Times(((1.0,),) * 3, ((1.0,),) * 3))
    assert cost is not None
    assert [cost.low, cost.ratio, cost.high] == pytest.approx([0.9343, 1.0, 1.0703], abs=1e-4)


@pytest.mark.parametrize("times", [NEVER, Times(((1.0,),), ((2.0,), (2.1,))), Times(((1.0,), (1.1,)), ((2.0,), ()))])
def test_one_process_of_a_mode_gives_no_interval(times: Times) -> None:
    assert overhead(times) is None


def test_nineteen_of_twenty_intervals_hold_the_truth() -> None:
    """Processes that differ by 5 % as chance has it: the interval is what it says, and two of them overlap."""
    draw = random.Random(1)

    def drawn() -> Overhead:
        modes = ([(mean * math.exp(draw.gauss(0, 0.05)),) for _ in range(3)] for mean in (1.0, 1.3))
        cost = overhead(Times(*map(tuple, modes)))
        assert cost is not None
        return cost

    several = [drawn() for _ in range(2000)]
    assert 0.94 < sum(one.low <= 1.3 <= one.high for one in several) / 2000 < 0.98
    apart = sum(one.high < two.low or two.high < one.low for one, two in zip(several[::2], several[1::2], strict=True))
    assert apart / 1000 < 0.02


def test_the_quantiles_of_students_t() -> None:
    assert [student(freedom) for freedom in (1, 4, 10, 30)] == [12.706, 2.776, 2.228, 2.228]


def test_real_processes() -> None:
    wanted = {
        "[1.0, 2.0]": ("not-reproduced", "not-reproduced"),
        "float(me.next())": ("det-mode-leaks", "det-mode-leaks"),
        "0.0 if me.deterministic() else float(me.next())": ("confirmed", "det-mode-fixes"),
        "me.fail('not deterministic') if me.deterministic() else float(me.next())": (
            "det-mode-raises",
            "det-mode-raises",
        ),
        "float('nan') if me.deterministic() else float(me.next())": ("reads-uninitialised", "det-mode-fixes"),
        "random.random()": ("rng-unseeded", "not-reproduced"),
        "float(me.threads())": ("not-reproduced", "not-reproduced"),
        "hash('a') * 1.0": ("det-mode-leaks", "det-mode-leaks"),
    }
    found = executed(*(case(run, f"op {number}") for number, run in enumerate(wanted)))
    told = {one.case.run: (one.verdict, one.deterministic_mode) for one in found}
    last = told.pop("hash('a') * 1.0")
    wanted.pop("hash('a') * 1.0")
    assert told == wanted
    assert last[0] == "confirmed"  # between processes with hash seeds of their own
    assert found[6].verdicts == ("not-reproduced", "environment-sensitive")


def test_the_distance_of_results() -> None:
    odd, zeros, neighbours = executed(
        case("[1.0, float('nan') if me.next() % 2 else float('inf')]", "odd"),  # the first run gives the one
        case("[1.0, -0.0 if me.next() % 2 else 0.0]", "zeros"),
        case("[4.0, 1.0 if me.next() % 2 else 1.0000000000000002]", "neighbours"),
    )
    assert zeros.distinct == 2  # by bytes: as values the two zeros are equal
    assert (zeros.max_ulp, zeros.max_relative, zeros.elements) == (0, 0.0, 2)
    assert (neighbours.max_ulp, neighbours.max_relative) == (1, 2.0**-54)
    assert odd.distinct == 2
    assert (odd.nan, odd.inf) == (1, 0)
