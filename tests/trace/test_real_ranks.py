"""Real ranks: `torchrun` on the CPU, equal and parting; the line in the one rank that parts is named."""

from __future__ import annotations

import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from planted import interpreter, planted
from tracing import PROGRAMS

pytestmark = pytest.mark.slow


def free_port() -> str:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return str(found.getsockname()[1])


def test_ranks_are_compared_one_by_one(d9mlint: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    python = interpreter("torch")
    monkeypatch.setattr("d9mlint.app.traced.stages.applying", lambda uses: [])  # each switch takes two runs more
    path = PROGRAMS / "ranks" / "worker_seed.py"
    Path("train.py").write_text(path.read_text())
    launcher = ("--", "torchrun", "--nproc-per-node", "2", "--master-port", free_port(), "train.py")
    words = ("trace", "--python", python, "--format", "json", "--steps", "2")
    report = d9mlint(*words, *launcher).json
    assert (report["verdict"], report["step"], report["what"][:9]) == ("part", 1, "in rank 1")
    first = report["culprits"][0]
    assert (first["path"], first["line"], first["kind"]) == ("train.py", *planted(path))
    assert first["note"].endswith("(in rank 1)")
    report = d9mlint(*words, *launcher, "--", "--fixed").json
    assert (report["verdict"], report["steps"]) == ("equal", 2)
    assert {one["ended"] for one in report["runs"]} == {"was ended after 2 steps, as asked"}
