"""Programs of the standard library: which line draws, lists, hashes or hands out in another order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tracing import traced

Ran = Callable[..., Any]

DRAW = "import random\nprint('begin')\nprint(random.random())\n"
SEEDED = "import random\nrandom.seed(3)\nprint(random.random())\n"
LATE = "import random\nx = random.random()\nrandom.seed(3)\nprint(x)\n"
CLOCK = "import random, time\nseed = time.time_ns()\nrandom.seed(seed)\nprint(random.random())\n"
UUID = "import random, uuid\nseed = uuid.uuid4().int\nprint('x')\nrandom.seed(seed)\nprint(random.random())\n"
OWN = "import random\nsource = random.Random()\nprint(source.random())\n"
HASH = "print('a')\nprint(hash('text') % 1000)\n"
UNKNOWN = "import importlib\nsource = importlib.import_module('ran' + 'dom')\nprint(getattr(source, 'rand' + 'om')())\n"
COMPLETION = """\
import os, time
from concurrent.futures import ThreadPoolExecutor, as_completed
def work(n):
    time.sleep(int.from_bytes(os.urandom(1), "big") / 1000)
    return n
with ThreadPoolExecutor(8) as pool:
    for future in as_completed([pool.submit(work, n) for n in range(8)]):
        print(future.result())
"""


@pytest.mark.parametrize(
    ("source", "line", "kind", "op"),
    [
        (DRAW, 3, "draw", "random.random"),
        (LATE, 2, "draw", "random.random"),
        (CLOCK, 2, "time", "time.time_ns"),
        (UUID, 2, "draw", "uuid.uuid4"),
        (OWN, 2, "draw", "random.Random()"),
        (HASH, 2, "external", "hash"),
        (COMPLETION, 7, "order", "as_completed"),
    ],
    ids=["draw", "late seed", "clock", "uuid", "own generator", "hash", "completion"],
)
def test_the_line_is_named(d9mlint: Ran, source: str, line: int, kind: str, op: str) -> None:
    report = traced(d9mlint, source)
    assert (report["code"], report["verdict"]) == (1, "part")
    first = report["culprits"][0]
    assert (first["path"], first["line"], first["kind"], first["op"]) == ("program.py", line, kind, op)


def test_the_switch_that_decides_is_named(d9mlint: Ran) -> None:
    switches = traced(d9mlint, DRAW)["switches"]
    assert [(one["name"], one["verdict"], one["decides"]) for one in switches] == [
        ("as is", "part", False), ("hash seed", "part", False), ("seeds", "equal", True),
    ]  # fmt: skip


def test_the_hash_seed_is_told_from_the_other_seeds(d9mlint: Ran) -> None:
    switches = traced(d9mlint, HASH)["switches"]
    assert [one["name"] for one in switches if one["decides"]] == ["hash seed", "seeds"]


def test_a_culprit_is_joined_to_the_finding_that_explains_it(d9mlint: Ran) -> None:
    assert traced(d9mlint, DRAW)["culprits"][0]["finding"] == "program.py:3 unseeded-python"


def test_a_culprit_that_no_finding_explains_is_told_as_such(d9mlint: Ran) -> None:
    Path("program.py").write_text(UNKNOWN)
    ran = d9mlint("trace", "program.py")
    assert "known: `d9mlint check` did not know this" in ran.out


def test_equal_runs_have_neither_switches_nor_culprits(d9mlint: Ran) -> None:
    report = traced(d9mlint, SEEDED)
    assert (report["verdict"], report["switches"], report["culprits"]) == ("equal", [], [])


def test_no_time_for_the_switches(d9mlint: Ran) -> None:
    """They are named as not tried; the verdict stands."""
    report = traced(d9mlint, f"import time\ntime.sleep(1)\n{HASH}", "--time", "7")
    assert report["code"] == 1
    assert {one["verdict"] for one in report["switches"][1:]} <= {"not-tried", "equal", "part"}
    assert "not-tried" in {one["verdict"] for one in report["switches"]}
