"""Real PyTorch on the CPU: planted causes are named by line, their cured twins have none, and tracing changes nothing.

With ``D9MLINT_TRACE_ALL=1`` all planted programs are traced, else one, and another as a user would.
"""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import validate
from planted import PROGRAMS, assert_named, interpreter, located, planted

from d9mlint.trace.run import LIGHT, OPS, SHADOW, VALUES, Conditions, Program, Settings, run
from d9mlint.trace.switches import SEEDS

pytestmark = pytest.mark.slow
ALL = bool(os.environ.get("D9MLINT_TRACE_ALL"))
TRIED = [one for one in PROGRAMS if one.stem == "index_put" or ALL]
"""All of them take too long for CI: each starts PyTorch four times and more."""
CHANGING = [("model", 2), *([("model", 0), ("torch.compile(model)", 0)] if ALL else [])]


@pytest.fixture(scope="module")
def python() -> str:
    """An interpreter that has PyTorch; the test is skipped where there is none."""
    return interpreter("torch")


@pytest.mark.parametrize("path", TRIED, ids=lambda path: path.stem)
def test_the_planted_cause_is_named(python: str, path: Path) -> None:
    if path.stem == "listing_order" and not Path("/dev/shm").is_dir():
        pytest.skip("no file system here that lists files in another order than the last time")
    assert_named(python, path)


@pytest.mark.parametrize("path", TRIED if ALL else (), ids=lambda path: path.stem)
def test_the_cured_twin_has_no_culprit(python: str, path: Path) -> None:
    assert located(python, path, "--fixed") == ()


LOSSES = """\
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset
torch.manual_seed(0)
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.norm = nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6)
        self.attention = nn.MultiheadAttention(6, 2, batch_first=True)
        self.lstm, self.head = nn.LSTM(6, 5, batch_first=True), nn.Linear(5, 3)
    def forward(self, x):
        x = self.norm(self.conv(x)).relu().flatten(2).transpose(1, 2)
        x = self.attention(x, x, x)[0]
        return self.head(nn.functional.dropout(self.lstm(x)[0].mean(1), 0.2, self.training))
data = TensorDataset(torch.randn(32, 1, 6, 6), torch.randint(0, 3, (32,)))
model = Net()
step = STEP
optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
with open("losses", "w") as stream:
    for x, y in DataLoader(data, batch_size=8, shuffle=True, num_workers=WORKERS):
        loss = nn.functional.cross_entropy(step(x), y)
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        print(loss.item().hex(), [p.double().sum().item().hex() for p in model.parameters()], file=stream)
"""


@pytest.mark.parametrize(("compiled", "workers"), CHANGING)
def test_it_changes_nothing(
    python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiled: str, workers: int
) -> None:
    """Losses and weights under each stage equal the untraced ones bit for bit."""
    monkeypatch.chdir(tmp_path)
    Path("program.py").write_text(LOSSES.replace("STEP", compiled).replace("WORKERS", str(workers)))
    subprocess.run([python, "program.py"], check=True)
    untraced = Path("losses").read_text()
    program = Program(python, ("program.py",), (), (str(tmp_path),))
    for stage in (LIGHT, OPS, VALUES, SHADOW):
        Path("losses").unlink()
        ran = run(program, Settings(0, repeats=2), Conditions(stage), 0, 300)
        assert ran.whole, ran.ended
        assert not ran.recording.notes
        assert Path("losses").read_text() == untraced, stage
        names = {event.fields[1] for _, events in ran.recording.events for event in events if event.kind == "op"}
        if stage == OPS:
            assert ("torch.compile region" in names) == (compiled != "model")


GPU_PATH = """\
import json, sys
import torch
sys.path.insert(0, sys.argv[1])
from child.tensors import Digests
digests = Digests(torch, summed=True)
x = torch.arange(24.0).reshape(4, 6)
found = {
    "equal": digests(x) == digests(x.clone()),
    "layout": digests(x) == digests(x.t().contiguous().t()),
    "permuted": digests(x) == digests(x.flip(0)),
    "swapped": digests(torch.tensor([1.0, 2.0])) == digests(torch.tensor([2.0, 1.0])),
    "zero": digests(torch.tensor([0.0])) == digests(torch.tensor([-0.0])),
    "several": digests.several([x, x]) == digests.several([x, x.clone()]),
    "types": [len(digests(torch.ones(3, dtype=kind))) for kind in (torch.bool, torch.int8, torch.bfloat16, torch.complex64)],
    "empty": digests(torch.empty(0)) == digests(torch.empty(0)),
    "sparse": digests(torch.eye(3).to_sparse()),
    "meta": digests(torch.empty(3, device="meta")),
}
print(json.dumps(found))
"""


def test_digests_as_on_a_gpu(python: str, tmp_path: Path) -> None:
    """The sum that runs on devices, executed on the CPU by the same code."""
    import json

    import d9mlint.trace

    (tmp_path / "program.py").write_text(GPU_PATH)
    folder = str(Path(d9mlint.trace.__file__).parent)
    done = subprocess.run([python, tmp_path / "program.py", folder], capture_output=True, text=True, check=True)
    found = json.loads(done.stdout)
    assert [name for name, value in found.items() if value is True] == ["equal", "layout", "several", "empty"]
    assert found["types"] == [16] * 4
    assert (found["sparse"], found["meta"]) == ("?", "?")


def test_the_whole_recording_with_digests_as_on_a_gpu(
    python: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from d9mlint.trace.explain import culprits

    monkeypatch.chdir(tmp_path)
    path = next(one for one in PROGRAMS if one.stem == "index_put")
    program = Program(python, (str(path),), (), (str(path.parent),))
    one, other = (run(program, Settings(0, summed=True), Conditions(OPS), number, 300) for number in range(2))
    assert one.whole
    assert [found.line for found in culprits(one.recording, other.recording)][:1] == [planted(path)[0]]


def test_the_command(python: str, d9mlint: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    if not ALL:
        monkeypatch.setattr(
            "d9mlint.app.traced.stages.applying", lambda uses: [SEEDS]
        )  # the other switches take as long each
    path = next(one for one in PROGRAMS if one.stem == "unseeded_weights")
    Path("train.py").write_text(path.read_text())
    ran = d9mlint("trace", "--python", python, "--steps", "2", "--format", "json", "train.py")
    report = ran.json
    validate(report, "trace")
    assert (ran.code, report["verdict"], report["step"]) == (1, "part", 1)
    first = report["culprits"][0]
    assert (first["path"], first["line"], first["kind"]) == ("train.py", planted(path)[0], "draw")
    assert first["finding"] == f"train.py:{planted(path)[0]} unseeded-torch"
    assert [one["name"] for one in report["switches"] if one["decides"]] == ["seeds"]
    ran = d9mlint("trace", "--python", python, "--steps", "2", "--format", "json", "train.py", "--", "--fixed")
    assert (ran.code, ran.json["verdict"], ran.json["steps"]) == (0, "equal", 2)
    assert {one["ended"] for one in ran.json["runs"]} == {"was ended after 2 steps, as asked"}
