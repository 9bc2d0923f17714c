"""What needs no second run: variables and switches, who sets or reads them and when, draws before their seed, files."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tracing import traced

from d9mlint.trace.child.ledger import of_torch

SOURCE = """\
import os, random
print(os.environ.get("TF_DETERMINISTIC_OPS"), os.environ.get("OMP_NUM_THREADS"), os.environ.get("KMP_NOTHING"))
os.environ.setdefault("TF_DETERMINISTIC_OPS", "1")
os.environ.update(CUBLAS_WORKSPACE_CONFIG=":4096:8", OTHER="1")
for name in ("b", "a"):
    open(name).close()
x = [random.random() for _ in range(2)]
random.seed(1)
print(x, random.random())
"""


def test_who_sets_and_reads_switches(d9mlint: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [one for one in os.environ if one.startswith(("TF_", "OMP_", "KMP_", "CUBLAS_"))]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    monkeypatch.setenv("TORCHELASTIC_ERROR_FILE", "/tmp/torchelastic_k3z0/error.json")  # another one in each run
    for name in ("a", "b", "site-packages/c"):
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(name)
    report = traced(d9mlint, f"open('site-packages/c').close()\n{SOURCE}".replace("\nimport", "; import"))
    found = report["environment"]
    assert found["variables"]["OMP_NUM_THREADS"] == "2"
    assert not any(name.startswith("TORCHELASTIC_") for name in found["variables"])
    assert [tuple(one.values()) for one in found["switched"]] == [
        ("program.py", 2, "read", "TF_DETERMINISTIC_OPS", None, 0), ("program.py", 2, "read", "OMP_NUM_THREADS", "2", 0),
        ("program.py", 3, "set", "TF_DETERMINISTIC_OPS", "1", 0), ("program.py", 4, "set", "CUBLAS_WORKSPACE_CONFIG", ":4096:8", 0),
    ]  # fmt: skip
    assert found["files"] == ["b", "a"]
    assert report["draws"] == [
        {"path": "program.py", "line": 7, "op": "random.random", "generator": "python", "seeded": 8}
    ]


def test_the_text_tells_them(d9mlint: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "2")
    Path("program.py").write_text(
        "import os, random\nos.environ['TF_DETERMINISTIC_OPS'] = '1'\n"
        "x = random.Random().random()\nrandom.random()\nprint(x)\n"
    )
    said = " ".join(d9mlint("trace", "program.py").out.split())
    assert "Drawn before a seed program.py:4: random.random, Python's generator: not seeded" in said
    assert "OMP_NUM_THREADS=2" in said
    assert "switches: program.py:2: sets TF_DETERMINISTIC_OPS = 1, before the first step" in said


def test_settings_of_a_gpu() -> None:
    """A stand-in with what is asked of PyTorch where it computes on a GPU; what a version lacks is left out."""
    torch = SimpleNamespace(
        cuda=SimpleNamespace(is_initialized=lambda: True, device_count=lambda: 2, get_device_name="H{}".format),
        backends=SimpleNamespace(cudnn=SimpleNamespace(version=lambda: 91002, benchmark=True, deterministic=False)),
        version=SimpleNamespace(cuda="13.0"), get_num_threads=lambda: 8, get_num_interop_threads=lambda: 4,
        are_deterministic_algorithms_enabled=lambda: True, is_deterministic_algorithms_warn_only_enabled=lambda: False,
        get_float32_matmul_precision=lambda: 1 / 0,
    )  # fmt: skip
    assert of_torch(torch) == {
        "device": "H0, H1", "threads": 8, "interop_threads": 4, "deterministic_algorithms": True,
        "deterministic_warn_only": False, "cuda": "13.0", "cudnn": 91002, "cudnn.benchmark": True, "cudnn.deterministic": False,
    }  # fmt: skip


def test_one_gpu_decides(d9mlint: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """A stand-in for PyTorch with two GPUs, whose sums come in another order in each run."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3,1")
    source = """\
import os, sys
from types import SimpleNamespace
visible = os.environ["CUDA_VISIBLE_DEVICES"].split(",")
cuda = SimpleNamespace(is_initialized=lambda: True, device_count=lambda: len(visible))
sys.modules["torch"] = SimpleNamespace(cuda=cuda, backends=SimpleNamespace(cudnn=None))
print(visible[0], os.urandom(4) if len(visible) > 1 else "", flush=True)
"""
    tried = {one["name"]: one for one in traced(d9mlint, source)["switches"]}
    assert tried["one GPU"]["verdict"] == "equal"
    assert tried["hash seed"]["verdict"] == "part"


def test_a_single_gpu_is_no_switch(d9mlint: Callable[..., Any]) -> None:
    assert "one GPU" not in {one["name"] for one in traced(d9mlint, "import os\nprint(os.urandom(4))\n")["switches"]}
