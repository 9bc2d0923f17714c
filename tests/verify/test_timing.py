"""What deterministic mode costs, timed in several processes of either mode."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from support import PLAIN, case, executed

from d9mlint.verify import surroundings, timing
from d9mlint.verify.judge import judged
from d9mlint.verify.process import SCRIPT, Child, ChildFailed
from d9mlint.verify.run import Machine, Settings, observe
from d9mlint.verify.timing import PAIRS

SETTINGS = Settings((sys.executable, str(PLAIN)), runs=5, seconds=0.06, timeout=20.0)


@pytest.fixture
def visits(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, str]]:
    """Who was timed: the number of the process by its start, and the letters of their states, that of the timed one."""
    seen: list[tuple[int, str]] = []
    begun: list[Child] = []
    start, ask = Child.__init__, Child.ask

    def started(self: Child, *words: Any) -> None:
        start(self, *words)
        begun.append(self)

    def asked(self: Child, request: dict[str, Any], seconds: float) -> dict[str, Any]:
        if request["do"] == "time":
            others = "".join(_state(one) for one in begun if one is not self and not one.ended)
            seen.append((begun.index(self), others))
        return ask(self, request, seconds)

    monkeypatch.setattr(Child, "__init__", started)
    monkeypatch.setattr(Child, "ask", asked)
    return seen


def _state(child: Child) -> str:
    """As the system tells it, which takes a moment."""
    for _ in range(100):
        state = Path(f"/proc/{child._process.pid}/stat").read_text().rpartition(")")[2].split()[0]
        if state == "T":
            return state
        time.sleep(0.01)
    return state


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
def test_three_processes_of_either_mode_are_timed_while_the_others_are_stopped(visits: list[tuple[int, str]]) -> None:
    with Machine("plain", SETTINGS) as machine:
        (found,) = observe([case("[1.0]")], machine)
        assert {len(mode) for mode in found.times} == {3}
    counted = Counter(one for one, _ in visits)
    assert sorted(counted) == [0, 1, 6, 7, 8, 9]
    assert min(counted.values()) >= 2
    assert {others for _, others in visits} == {"T" * 9}
    cost = judged(found).overhead
    assert cost is not None and (cost.processes, cost.blocks) == (6, len(visits))


def test_the_order_is_drawn_anew_each_round_and_is_the_same_every_time(visits: list[tuple[int, str]]) -> None:
    orders = []
    for _ in range(2):
        visits.clear()
        with Machine("plain", SETTINGS) as machine:
            list(observe([case("[1.0]")], machine))
        first = min(one for one, _ in visits)
        orders.append([one - first for one, _ in visits])
    fewest = min(8 * 6, *map(len, orders))  # after these come those that stand out
    assert orders[0][:fewest] == orders[1][:fewest]
    rounds = {tuple(orders[0][at : at + 6]) for at in range(0, fewest, 6)}
    assert len(rounds) > 1
    assert {tuple(sorted(one)) for one in rounds} == {(0, 1, 6, 7, 8, 9)}


def test_time_is_bounded_by_what_was_asked_for() -> None:
    """The fewest rounds once the patience is over; then all, and no visit is longer than its share of a case's time."""
    slow = case("time.sleep(0.01) or [1.0]")
    found, more = (executed(slow, pairs=PAIRS, seconds=0.06, patience=patience)[0].overhead for patience in (0.0, 5.0))
    assert found is not None and more is not None
    assert found.blocks == 2 * 6
    assert 8 * 6 <= more.blocks <= (8 + 24) * 6
    assert (timing.visit(0.16), timing.visit(60.0)) == (0.005, 0.015)


def test_a_process_that_stands_out_is_visited_again_and_no_other() -> None:
    """The machine is busy whenever it is the turn of process 3, until at last it is not; process 5 is like that."""
    asked: list[int] = []

    def ask(number: int) -> float:
        asked.append(number)
        busy = number == 3 and asked.count(3) < 12
        return 8.0 if busy else 2.0 if number == 5 else 1.0 + number / 1000

    modes = {number: "default" if number < 3 else "deterministic" for number in range(6)}
    found = timing.timed(modes, ask, "case", 60.0)
    assert [min(one) for mode in found for one in mode] == pytest.approx([1.0, 1.001, 1.002, 1.003, 1.004, 2.0])
    assert [len(one) for mode in found for one in mode] == [8, 8, 8, 12, 8, 32]


def test_a_process_that_fails_is_left_out() -> None:
    def ask(number: int) -> float:
        if number in (1, 2):
            raise ChildFailed("gone")
        return 1.0

    found = timing.timed({0: "default", 1: "deterministic", 2: "default"}, ask, "case", 0.0)
    assert found == (((1.0, 1.0),), ())


def test_a_process_that_ends_while_it_is_timed_costs_its_times_alone(tmp_path: Path) -> None:
    """The first process in which the clock runs for the op ends; the others give the cost."""
    once = str(tmp_path / "once")
    run = f"[1.0] if me.count < 40 or os.path.exists({once!r}) else (os.mkdir({once!r}), os._exit(3))"
    found, after = executed(case(f"(me.next(), {run})[1]"), case("[2.0]"), pairs=PAIRS, runs=5, seconds=0.06)
    assert os.path.exists(once)  # noqa: PTH110
    assert found.verdict == "not-reproduced"
    assert found.overhead is not None and found.overhead.processes == 5
    assert after.overhead is not None and after.overhead.processes == 6


def test_threads_that_wait_are_parked_unless_the_shell_says_otherwise() -> None:
    assert surroundings.environment("cpu", {})["GOMP_SPINCOUNT"] == "1000"
    assert surroundings.environment("cpu", {"GOMP_SPINCOUNT": "7"})["GOMP_SPINCOUNT"] == "7"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells and takes the cores of a thread")
def test_threads_are_put_anew_and_may_go_where_they_might(monkeypatch: pytest.MonkeyPatch) -> None:
    spec = importlib.util.spec_from_file_location("places", SCRIPT / "places.py")
    assert spec is not None and spec.loader is not None
    places = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(places)
    masks = {1: {0, 1}, 2: {3}, 3: {0, 1, 2}}
    put: dict[int, list[set[int]]] = {1: [], 2: [], 3: []}

    def take(thread: int, cores: set[int]) -> None:
        if thread == 4:
            raise ProcessLookupError
        put[thread].append(cores)

    monkeypatch.setattr(os, "listdir", lambda _: ["1", "4", "2", "3"])
    monkeypatch.setattr(os, "sched_getaffinity", lambda thread: masks.get(thread, {0}))
    monkeypatch.setattr(os, "sched_setaffinity", take)
    for _ in range(40):
        places.scattered()
    for thread, mask in masks.items():
        assert put[thread][1::2] == [mask] * 40
        assert {core for one in put[thread][::2] for core in one} == mask
        assert {len(one) for one in put[thread][::2]} == {1}
