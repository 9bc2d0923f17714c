"""`d9mlint study`: spread of what a program gives in the end, by source of noise, and how many runs a difference takes."""

from __future__ import annotations

import importlib.util
import os
import statistics
import sys
from array import array
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import validate

from d9mlint.model import UsageError
from d9mlint.trace import study

Ran = Callable[..., Any]
PROGRAM = """\
import random, sys
random.seed(3)
draw = random.random()
with open("predictions.txt", "w") as stream:
    for n in range(10):
        print(int(random.random() * 2), file=stream)
print("accuracy: %r" % draw)
print("took 7 s")
"""


def studied(d9mlint: Ran, source: str, *words: str) -> Any:
    Path("program.py").write_text(source)
    ran = d9mlint("study", "program.py", "--format", "json", *words)
    report = ran.json
    validate(report, "study")
    return {**report, "code": ran.code, **{one["group"]: one for one in report["groups"]}}


def test_seeds_vary_in_one_group_and_not_in_the_other(d9mlint: Ran) -> None:
    """Although the program seeds itself; the values are those that its generator gives for the seeds that follow."""
    import random

    report = studied(
        d9mlint, PROGRAM, "--metric", r"accuracy: (\S+)", "--runs", "3", "--predictions", "predictions.txt"
    )
    assert report["algo"]["values"] == [random.Random(seed).random() for seed in (3, 4, 5)]
    assert report["impl"]["values"] == [random.Random(3).random()] * 3
    assert report["impl"]["deviation"] == report["impl"]["churn"] == 0
    assert 0 < report["algo"]["churn"] < 1
    assert report["total"] == pytest.approx(statistics.stdev(report["algo"]["values"]))
    assert (report["code"], report["partial"], report["needed"]) == (0, False, None)


def test_noise_of_the_implementation_is_in_both(d9mlint: Ran) -> None:
    report = studied(d9mlint, "import os\nprint(os.urandom(2)[0] / 7)\n", "--runs", "4", "--difference", "0.5")
    assert report["algo"]["deviation"] > 0 and report["impl"]["deviation"] > 0
    assert report["needed"] == study.needed(report["total"], 0.5)


def test_the_order_of_sets_is_noise_of_the_implementation(d9mlint: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    """As the hash seed of a process is, unless the user has set it."""
    source = (
        "names = {'red', 'green', 'blue', 'black', 'white'}\nprint(sum(n * ord(s[2]) for n, s in enumerate(names)))\n"
    )
    monkeypatch.delenv("PYTHONHASHSEED", raising=False)
    report = studied(d9mlint, source, "--runs", "4")
    assert report["algo"]["deviation"] == 0 < report["impl"]["deviation"]
    monkeypatch.setenv("PYTHONHASHSEED", "7")
    assert studied(d9mlint, source, "--runs", "2")["impl"]["deviation"] == 0


def test_a_program_without_seeds_is_seeded(d9mlint: Ran) -> None:
    report = studied(d9mlint, "import random\nprint(random.random())\n", "--runs", "2")
    assert report["impl"]["deviation"] == 0
    assert report["algo"]["deviation"] > 0


ENTROPY = """\
import random
own = random.Random()
random.seed()
print(random.random() + own.random())
"""


def test_a_seed_that_nobody_gives_is_fixed_with_the_others(d9mlint: Ran) -> None:
    """It came from the entropy of the operating system, and counted as noise of the implementation."""
    report = studied(d9mlint, ENTROPY, "--runs", "3")
    assert report["impl"]["deviation"] == 0
    assert report["algo"]["deviation"] > 0


def test_a_package_that_is_missing_in_its_own_interpreter(d9mlint: Ran) -> None:
    report = studied(d9mlint, "import no_such_package\n", "--runs", "2")
    assert [note for note in report["notes"] if "`--python`" in note] == report["notes"]
    assert report["code"] == 3


def test_runs_without_a_metric_are_told(d9mlint: Ran) -> None:
    report = studied(d9mlint, "print('no number')\n", "--runs", "2")
    assert (report["code"], report["total"]) == (3, None)
    assert report["algo"]["failed"] == ["a run came to its end, and there is no metric in what it wrote"]


def test_runs_that_fail_do_not_count(d9mlint: Ran) -> None:
    report = studied(d9mlint, "import sys\nprint(1)\nsys.exit('no data')\n", "--runs", "2")
    assert (report["code"], report["impl"]["values"]) == (3, [])
    assert report["impl"]["failed"] == ["a run ended with exit code 1: no data"]


def test_no_time(d9mlint: Ran) -> None:
    report = studied(d9mlint, "import time\ntime.sleep(0.6)\nprint(1)\n", "--runs", "9", "--time", "3")
    assert (report["code"], report["partial"]) == (3, True)


def test_the_text(d9mlint: Ran) -> None:
    Path("program.py").write_text(PROGRAM)
    ran = d9mlint("study", "program.py", "--metric", r"accuracy: (\S+)", "--runs", "2", "--difference", "0.1")
    assert ran.code == 0
    for said in (
        "program.py: 2 runs of each group",
        "ALGO: seeds vary",
        "IMPL: seeds fixed",
        "of each variant for 0.1",
    ):
        assert said in ran.out
    assert "will run `program.py` at least 4 times" in ran.err


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--metric", "("], "--metric: not a regular expression"),
        (["--metric", "(a)(b)"], "--metric: the expression has more than one group"),
        (["--difference", "0"], "--difference: a number above zero"),
        (["--runs", "1"], "Invalid value"),
    ],
)
def test_usage_errors(d9mlint: Ran, words: list[str], said: str) -> None:
    Path("a.py").touch()
    ran = d9mlint("study", "a.py", *words)
    assert ran.code == 2
    assert said in ran.err


@pytest.mark.parametrize(
    ("metric", "text", "value"),
    [
        ("last-number", "loss 0.5\nacc: 0.75 (12.)", 12.0), ("last-number", "v1 -1.5e-3.", -1.5e-3), ("last-number", "loss nan", None),
        ("last-number", "a1 b2", None), (r"acc=([\d.]+)", "acc=0.5 acc=0.75", 0.75), (r"^\d+", "3\n4 5", 4.0), ("a(.)", "ab", None),
    ],
)  # fmt: skip
def test_the_metric_in_an_output(metric: str, text: str, value: float | None) -> None:
    found = study.reader(metric)(text)
    assert found == value or (text == "loss nan" and found != found)


def test_a_metric_that_is_no_expression() -> None:
    with pytest.raises(UsageError):
        study.reader("[")


def test_churn_and_distance_by_hand() -> None:
    assert study.churn([list("aabb"), list("aabb"), list("abbb")]) == pytest.approx((0 + 0.25 + 0.25) / 3)
    assert study.churn([list("ab"), list("a")]) is None
    assert study.distance([array("d", [3, 4]), array("d", [3, 4])]) == 0
    assert study.distance([array("d", [3, 4]), array("d", [0, 0])]) == 1
    assert study.distance([array("d")]) is None


def test_how_many_runs_a_difference_takes() -> None:
    """2 (1.96 + 0.8416)^2 = 15.7 for a difference of one standard deviation, as in tables of sample sizes."""
    assert study.needed(1, 1) == 16
    assert study.needed(1, 0.5) == 63
    assert study.needed(0, 1) == 2
    assert study.detectable(2.0, study.needed(2.0, 1.0)) <= 1.0


TORCH = """\
import torch
torch.manual_seed(0)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for _ in range(3):
    loss = (model(torch.ones(4, 3)) - 1).pow(2).mean()
    loss.backward()
    optimizer.step()
print(loss.item())
"""


@pytest.mark.slow
def test_the_distance_of_final_weights(d9mlint: Ran) -> None:
    python = os.environ.get("D9MLINT_TORCH_PYTHON")
    if python is None and importlib.util.find_spec("torch") is None:
        pytest.skip("no torch here; name an interpreter that has it in D9MLINT_TORCH_PYTHON")
    report = studied(d9mlint, TORCH, "--runs", "2", "--python", python or sys.executable)
    assert report["impl"]["distance"] == 0
    assert 0 < report["algo"]["distance"] < 10
