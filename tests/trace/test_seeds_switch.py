"""The switch of the seeds, with programs of the standard library: it decides wherever a seed is the cause."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tracing import traced


@pytest.mark.parametrize(
    "source",
    [
        "import random, time\nrandom.seed(time.time_ns())\nprint(random.random())\n",
        "import random, time\nrandom.seed(time.time())\nprint(random.random())\n",
        "import random, os\nrandom.seed(os.urandom(8))\nprint(random.random())\n",
        "import random\nrandom.seed()\nprint(random.random())\n",
        "import random, time\nprint(random.Random(time.time_ns()).random(), random.Random().random())\n",
    ],
    ids=["clock", "float", "entropy", "nothing", "own"],
)
def test_a_seed_that_differs_is_made_a_known_number(d9mlint: Callable[..., Any], source: str) -> None:
    report = traced(d9mlint, source)
    assert [one["name"] for one in report["switches"] if one["decides"]] == ["seeds"]


def test_it_does_not_hide_what_is_no_seed(d9mlint: Callable[..., Any]) -> None:
    report = traced(d9mlint, "import random, time\nrandom.seed(1)\nprint(random.random(), time.time_ns())\n")
    assert report["verdict"] == "part"
    assert not any(one["decides"] for one in report["switches"])


def test_seeds_that_were_equal_or_different_stay_so(d9mlint: Callable[..., Any]) -> None:
    source = """\
import os, random, time
now = time.time_ns()
def draw(seed):
    random.seed(seed)
    return random.random()
found = [draw(seed) for seed in (now, now + 1, now)]
if "PYTHONHASHSEED" in os.environ and os.environ["PYTHONHASHSEED"] == "0":
    with open("found", "w") as stream:
        print(found[0] == found[2] != found[1], file=stream)
print(found)
"""
    assert [one["name"] for one in traced(d9mlint, source)["switches"] if one["decides"]] == ["seeds"]
    assert Path("found").read_text() == "True\n"
