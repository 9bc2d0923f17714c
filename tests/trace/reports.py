"""Reports as pages show them, with text in them that would do harm if it were not escaped."""

from __future__ import annotations

from d9mlint.model import (
    Apart,
    Comparison,
    Culprit,
    CureTried,
    SeenTensor,
    Shadowed,
    SwitchTried,
    TracedRun,
    TraceReport,
)
from d9mlint.model.study import ALGO, IMPL, Spread, StudyReport
from d9mlint.trace import study
from d9mlint.trace.growth import ulps

EVIL = '</script><img src=x onerror=alert(1)>"'
MACHINE = {
    "d9mlint": "0.1.0", "system": "Linux", "machine": "x86_64", "cpu": "X", "cores": 2,
    "versions": {"python": "3.11.7", "torch": "2.13.0"},
}  # fmt: skip
SOURCE = "import torch\n\n\ndef features(table, where):\n    # the rows of a batch, summed\n    picked = torch.zeros(50, 16).index_put((where,), table[where], accumulate=True)\n    return picked.relu()\n\n\nprint('</script>')\n"


def _growth() -> tuple[Apart, ...]:
    found = []
    for step in range(1, 21):
        one = 1.4 * 0.93**step + 0.02 * (step % 3)
        other = one + (2.0**-23 * 1.9 ** (step - 6) if step >= 6 else 0.0)
        far = ulps(one, other, "float32")
        found.append(
            Apart(
                step,
                (one, other),
                far,
                3e-9 * 1.8 ** (step - 6) if step >= 6 else 0.0,
                2 ** (step - 5) if step >= 6 else 0,
            )
        )
    return tuple(found)


RUNS = (
    TracedRun("light", "as is", 1, 20, "was ended after 20 steps, as asked", ("log.txt",)),
    TracedRun("light", "as is", 2, 20, "was ended after 20 steps, as asked", ("log.txt",)),
    TracedRun("ops", "as is", 1, 20, "was ended after 20 steps, as asked"),
    TracedRun("ops", "as is", 2, 3, f"ended with exit code 1: {EVIL}", partial=True),
)
PARTED = TraceReport(
    "train.py --epochs 1", Comparison("part", 6, "the loss differs (0.905781 and 0.905781119)", 5),
    switches=(
        SwitchTried("as is", "", Comparison("part", 6, "the loss differs", 5)),
        SwitchTried("hash seed", "PYTHONHASHSEED=0", Comparison("part", 6, "", 5)),
        SwitchTried("seeds", "random, numpy, torch, tensorflow seeded at the start, PYTHONHASHSEED=0", Comparison("part", 7, "", 6)),
        SwitchTried("deterministic", "torch.use_deterministic_algorithms(True), CUBLAS_WORKSPACE_CONFIG", Comparison("equal", steps=20), decides=True),
        SwitchTried("one thread", "OMP_NUM_THREADS=1, torch.set_num_threads(1)", Comparison("not-tried", what="no time was left: --time")),
    ),
    culprits=(
        Culprit("train.py", 6, "aten.index_put", "op", "float32 [50, 16] equal, int64 [300000] equal", "the same inputs gave different results",
                "forward", "train.py:6 nondeterministic-op", "    picked = torch.zeros(50, 16)",
                (SeenTensor("in", "float32", (50, 16), ("a3f0c1d2e4b59687", "a3f0c1d2e4b59687"), True),
                 SeenTensor("in", "int64", (300000,), ("00c1d2e4b5968712", "00c1d2e4b5968712"), True),
                 SeenTensor("out", "", (), ("77aa01d2e4b59687", "1903c1d2e4b596ff"), False))),
        Culprit("data.py", 7, "numpy.random.rand", "draw", "", f"draws from NumPy's global generator, which is not seeded {EVIL}"),
    ),
    environment=MACHINE, runs=RUNS, asked=20, growth=_growth(), sources={"train.py": SOURCE},
    notes=(f"run 2 read `state.pt`, which an earlier run had written: the runs did not start alike {EVIL}",),
    shadow=Shadowed(3, 214, 6, (
        Culprit("train.py", 6, "aten.index_put_", "op", "float32 [50, 16]", "6 of 6 times 3 executions on the same inputs gave up to 3 results",
                "forward", call=f'"""A call."""\n\nimport torch  # {EVIL}\n'),)),
    cure=CureTried(
        Comparison("equal", steps=20), ("data.py", "train.py"), ("data.py:7 unseeded-numpy", "train.py:6 nondeterministic-op"),
        ("train.py:9 dataloader-worker-seed: no patch is known",), (1.25, 1.2, 1.302), 3, "steps",
        "--- a/data.py\n+++ b/data.py\n@@ -1,2 +1,3 @@\n import numpy as np\n+np.random.seed(1)\n",
    ),
)  # fmt: skip
EQUAL = TraceReport("-m package", Comparison("equal", steps=20), 0.139108, environment=MACHINE, runs=RUNS[:2], asked=20)
WITHOUT_STEPS = TraceReport(EVIL, Comparison("part", None, "what they write to the standard output differs"), environment=MACHINE,
                            runs=tuple(one._replace(steps=0) for one in RUNS[:2]))  # fmt: skip
FAILED = TraceReport("train.py", Comparison("failed", what="both runs ended with exit code 1: no data"), environment=MACHINE,
                     runs=RUNS[3:], stopped=f"both runs ended with exit code 1: {EVIL}")  # fmt: skip
TRACES = {"parted": PARTED, "equal": EQUAL, "without-steps": WITHOUT_STEPS, "failed": FAILED}

_ALGO, _IMPL = (
    (0.912, 0.9085, 0.915, 0.911, 0.9065, 0.9138, 0.9104, 0.9121),
    (0.9112, 0.9118, 0.9109, 0.9112, 0.9115, 0.9112, 0.9107, 0.9114),
)
_TOTAL = (study.deviation(_ALGO) ** 2 + study.deviation(_IMPL) ** 2) ** 0.5
STUDIED = StudyReport(
    "train.py", r"accuracy: (\S+)", 8,
    (Spread(ALGO, _ALGO, sum(_ALGO) / 8, study.deviation(_ALGO), 0.071, 0.92), Spread(IMPL, _IMPL, sum(_IMPL) / 8, study.deviation(_IMPL), 0.012, 0.0031, (EVIL,))),
    _TOTAL, study.detectable(_TOTAL, 8), 0.002, study.needed(_TOTAL, 0.002), study.curve(_TOTAL, 8, 0.002), MACHINE, (EVIL,), EVIL,
)  # fmt: skip
SAME = StudyReport(
    "a.py",
    "last-number",
    3,
    (Spread(ALGO, (1.0,) * 3, 1.0, 0.0), Spread(IMPL, (1.0,) * 3, 1.0, 0.0)),
    0.0,
    0.0,
    environment=MACHINE,
)
NOTHING = StudyReport(
    "a.py",
    "last-number",
    3,
    (Spread(ALGO, failed=("a run ended",)), Spread(IMPL, (float("nan"), float("inf")), float("nan"))),
    environment=MACHINE,
)
STUDIES = {"studied": STUDIED, "same": SAME, "nothing": NOTHING}
