"""Ops that are repeated on the same inputs, and minimal calls of ops: what is told of them, and with real PyTorch."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from planted import interpreter
from tracing import traced

from d9mlint.model import Culprit
from d9mlint.trace.calls import with_call
from d9mlint.trace.process import RAN, Ended
from d9mlint.trace.recording import Event, Recording
from d9mlint.trace.run import SHADOW, Conditions, Program, Run, Settings, run
from d9mlint.trace.shadows import shadowed

PLACE = ("/p/a.py", 3, "f")
FLOATS = {"tensor": "float32", "shape": [4, 2], "stride": [1, 4], "device": "cpu"}
NUMBERS = {"tensor": "int64", "shape": [9], "stride": None, "device": "cpu", "range": [-1, 3]}
ARGUMENTS = [
    ["self", False, True, FLOATS], ["indices", False, False, [{"value": None}, NUMBERS]], ["scale", False, False, {"value": float("inf")}],
    ["dtype", True, False, {"code": "torch.float64"}],
]  # fmt: skip


def _run(*events: Event, end: str = "exit", code: int = 0) -> Run:
    recording = Recording(steps=("a", "b"), end=end, started=True, events=(("main", events),))
    return Run(Conditions(SHADOW), 0, Ended(RAN, code, 1.0), recording, "", {})


def _call(arguments: list[Any], function: str = "aten.put_.default") -> str:
    recording = _run(Event(1, "call", "main", PLACE, ("aten.put_", "forward", function, arguments))).recording
    found = Culprit("/p/a.py", 3, "aten.put_", "op", direction="forward")
    assert with_call(found._replace(direction="backward"), recording).call == ""
    assert with_call(found._replace(line=4), recording).call == ""
    return with_call(found, recording).call


def test_a_call_is_written_for_verify() -> None:
    text = _call(ARGUMENTS)
    compile(text, "call.py", "exec")
    assert "def run(input, indices_1):\n" in text
    assert 'torch.ops.aten.put_.default(input.clone(), [None, indices_1], float("inf"), dtype=torch.float64)' in text
    assert "torch.randint(-1, 4, [9], generator=g, dtype=torch.int64)" in text
    assert "torch.empty_strided([4, 2], [1, 4], dtype=torch.float32).copy_(torch.randn([4, 2]" in text
    assert "DEVICES" not in text
    assert 'DEVICES = ["gpu"]' in _call([["self", False, False, {**FLOATS, "device": "cuda"}]])
    assert "# Import the package that registers torch.ops.mine here." in _call(ARGUMENTS, "mine.put.default")


def test_a_call_with_an_argument_that_cannot_be_made_is_none() -> None:
    assert _call([*ARGUMENTS, ["g", True, False, {"unknown": "Generator"}]]) == ""


def test_what_varied_is_told_with_how_often() -> None:
    varies = Event(1, "shadow", "main", PLACE, ("aten.put_", "forward", [5, 2, 3], [["float32", [4, 2]]]))
    seldom = Event(2, "shadow", "main", ("/p/a.py", 9, "f"), ("aten.sum", "backward", [5, 1, 2], [["float32", []]]))
    steady = Event(3, "shadow", "main", PLACE, ("aten.add", "forward", [7, 0, 1], []))
    found = shadowed(_run(seldom, steady, varies), 4)
    assert (found.repeats, found.ops, found.steps, found.what) == (4, 17, 2, "")
    assert [(one.line, one.op, one.inputs) for one in found.varying] == [
        (3, "aten.put_", "float32 [4, 2]"),
        (9, "aten.sum", "float32 scalar"),
    ]
    assert found.varying[0].note == "2 of 5 times 4 executions on the same inputs gave up to 3 results"


def test_without_ops_there_is_no_verdict() -> None:
    assert "no op of PyTorch" in shadowed(_run(), 3).what
    assert shadowed(_run(end="", code=1), 3).what == "the run ended with exit code 1"


def test_the_command_without_pytorch(d9mlint: Callable[..., Any]) -> None:
    report = traced(d9mlint, "print(1)\n", "--shadow", "2")
    assert (report["code"], report["verdict"], report["shadow"]["varying"]) == (0, "equal", [])
    assert "no op of PyTorch" in report["shadow"]["what"]
    assert [one["stage"] for one in report["runs"]] == ["light", "light", "shadow"]


def test_no_call_is_told(d9mlint: Callable[..., Any]) -> None:
    Path("program.py").write_text("print(1)\n")
    ran = d9mlint("trace", "--call", "call.py", "program.py")
    assert "there is no op of PyTorch with a call" in ran.err
    assert not Path("call.py").exists()
    assert d9mlint("trace", "--call", "no/call.py", "program.py").code == 2


PROGRAM = """\
import torch
torch.manual_seed(0)
weights = torch.nn.Parameter(torch.randn(50, 8))
optimizer = torch.optim.Adam([weights], lr=0.1)
with open("losses", "w") as stream:
    for step in range(3):
        where = torch.randint(0, 50, (400000,))
        noise = torch.nn.functional.dropout(torch.randn(400000, 8), 0.1)
        summed = torch.zeros(50, 8)
        SUM
        summed.add_(1).mul_(torch.rand(50, 8))
        loss = (weights * summed).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(loss.item().hex(), weights.double().sum().item().hex(), file=stream)
"""
VARIES = "summed.index_put_((where,), noise, accumulate=True)"
STEADY = "summed.copy_(noise[:50])"


@pytest.mark.slow
@pytest.mark.parametrize(("source", "varies"), [(VARIES, True), (STEADY, False)])
def test_ops_are_repeated_and_the_program_computes_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, source: str, varies: bool
) -> None:
    python = interpreter("torch")
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "program.py"
    path.write_text(PROGRAM.replace("SUM", source))
    ran = run(Program(python, (str(path),), (), (str(tmp_path),)), Settings(0, repeats=4), Conditions(SHADOW), 0, 300)
    found = shadowed(ran, 4)
    assert (found.what, found.steps, ran.recording.notes) == ("", 3, ())
    assert found.ops > 30
    assert [(one.line, one.op) for one in found.varying] == ([(10, "aten.index_put_")] if varies else [])
    if not varies:
        seen = Path("losses").read_text()
        subprocess.run([python, "program.py"], check=True)
        assert Path("losses").read_text() == seen
        return
    Path("call.py").write_text(found.varying[0].call)
    check = "import json, call; made = call.make(); print(json.dumps([list(call.run(**made).shape), made['indices_0'].max().item()]))"
    done = subprocess.run([python, "-c", check], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == [[50, 8], 49]
