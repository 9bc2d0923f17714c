"""The report in words and for programs: byte for byte (UPDATE_GOLDEN=1 rewrites it)."""

from __future__ import annotations

import json
import os

import pytest
from conftest import ROOT, validate

from d9mlint.app.traced.stages import exit_code
from d9mlint.model import Comparison, Culprit, CureTried, Shadowed, SwitchTried, TracedRun, TraceReport
from d9mlint.report.trace import render

MACHINE = {
    "d9mlint": "0.1.0", "system": "Linux", "machine": "x86_64", "cpu": "X", "cores": 2,
    "versions": {"python": "3.11.7", "torch": "2.13.0"},
}  # fmt: skip
RUNS = (
    TracedRun("light", "as is", 1, 20, "was ended after 20 steps, as asked", ("log.txt",)),
    TracedRun("light", "as is", 2, 20, "was ended after 20 steps, as asked", ("log.txt",)),
    TracedRun("ops", "as is", 1, 3, "came to its end"),
    TracedRun("ops", "as is", 2, 3, "ended with exit code 1: no space left", partial=True),
)
PARTED = TraceReport(
    "train.py --epochs 1", Comparison("part", 3, "the loss differs (0.25 and 0.250000119)", 2),
    switches=(
        SwitchTried("as is", "", Comparison("part", 3, "the loss differs", 2)),
        SwitchTried("seeds", "random, numpy, torch seeded at the start, PYTHONHASHSEED=0", Comparison("part", 3, "", 2)),
        SwitchTried("deterministic", "torch.use_deterministic_algorithms(True)", Comparison("equal", steps=20), decides=True),
        SwitchTried("one thread", "OMP_NUM_THREADS=1", Comparison("not-tried", what="no time was left: --time")),
    ),
    culprits=(
        Culprit("train.py", 41, "aten.index_put", "op", "float32 [50] equal, int64 [300000] equal",
                "the same inputs gave different results", "backward", "train.py:41 nondeterministic-op",
                "        picked = self.table[where]"),
        Culprit("data.py", 7, "numpy.random.rand", "draw", "", "draws from NumPy's global generator, which is not seeded"),
    ),
    environment=MACHINE, runs=RUNS,
    notes=("run 2 read `state.pt`, which an earlier run had written: the runs did not start alike",), asked=20,
    cure=CureTried(
        Comparison("equal", steps=20), ("data.py", "train.py"), ("data.py:7 unseeded-numpy", "train.py:41 nondeterministic-op"),
        ("train.py:9 dataloader-worker-seed: no patch is known",), (1.25, 1.2, 1.302), 3, "steps", "--- a/data.py\n",
    ),
)  # fmt: skip
STILL = PARTED._replace(
    switches=(), culprits=(), runs=(), notes=(),
    cure=CureTried(Comparison("part", 4, "the loss differs (1 and 2)", 3), ("a.py",), tuple(f"a.py:{n} rule" for n in range(9))),
)  # fmt: skip
UNCURED = STILL._replace(cure=CureTried(Comparison("not-tried", what="no finding of it has a patch")))
EQUAL = TraceReport("-m package", Comparison("equal", steps=20), 0.139108, environment=MACHINE, runs=RUNS[:2], asked=20)
REPEATED = EQUAL._replace(
    shadow=Shadowed(
        3,
        57,
        20,
        (
            Culprit(
                "train.py",
                41,
                "aten.index_put_",
                "op",
                "float32 [50]",
                "5 of 20 times 3 executions on the same inputs gave up to 2 results",
                "forward",
            ),
        ),
    ),
)
FAILED = TraceReport("train.py", Comparison("failed", what="both runs ended with exit code 1: no data"), environment=MACHINE,
                     runs=RUNS[3:], stopped="both runs ended with exit code 1: no data")  # fmt: skip


def test_the_text() -> None:
    golden = ROOT / "tests" / "golden" / "trace.txt"
    text = "\n".join(render(one, "text") for one in (PARTED, EQUAL, FAILED, STILL, UNCURED, REPEATED))
    if os.environ.get("UPDATE_GOLDEN"):
        golden.write_text(text, encoding="utf-8")
    assert text == golden.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "report",
    [PARTED, EQUAL, FAILED, STILL, UNCURED, REPEATED],
    ids=["parted", "equal", "failed", "still", "uncured", "repeated"],
)
def test_the_json_has_the_keys_of_the_contract(report: TraceReport) -> None:
    found = json.loads(render(report, "json"))
    validate(found, "trace")
    assert {"schema", "verdict", "step", "switches", "culprits", "environment", "runs"} <= set(found)
    assert all({"path", "line", "op", "kind", "inputs", "finding"} <= set(one) for one in found["culprits"])


def test_the_exit_codes() -> None:
    assert [exit_code(one) for one in (EQUAL, PARTED, FAILED)] == [0, 1, 3]
    assert exit_code(PARTED._replace(stopped="interrupted")) == 3


def test_colours_change_nothing_else() -> None:
    import re

    assert re.sub(r"\x1b\[[0-9;]*m", "", render(PARTED, "text", color=True)) == render(PARTED, "text")
