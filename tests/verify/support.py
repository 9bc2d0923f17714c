"""Cases, settings and interpreters for the tests of verify."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any
from unittest import mock

import pytest

from d9mlint.model import Case, Evidence
from d9mlint.verify.judge import judged
from d9mlint.verify.run import Machine, Settings, observe

PLAIN = Path(__file__).with_name("plain_child.py")


def case(run: str, op: str = "op") -> Case:
    return Case(op=op, framework="plain", direction="forward", run=run)


def executed(*cases: Case, pairs: int = 1, **settings: object) -> list[Evidence]:
    """The evidence that real processes give about cases in the standard library; so many pairs of them are timed."""
    asked = Settings(
        **{
            "command": (sys.executable, str(PLAIN)),
            "runs": 8,
            "seconds": 0.2,
            "patience": 0.0,
            "timeout": 20.0,
            **settings,
        }
    )  # type: ignore[arg-type]
    with mock.patch("d9mlint.verify.run.PAIRS", pairs), Machine("plain", asked) as machine:
        return [judged(seen) for seen in observe(cases, machine)]


def stand_in(folder: Path) -> Path:
    """An interpreter whose PyTorch and TensorFlow are the standard library."""
    wrapper = folder / "python"
    wrapper.write_text(f'#!/bin/sh\nexec {sys.executable} {PLAIN} "$2" "$3"\n')
    wrapper.chmod(0o755)
    return wrapper


def commanded(
    d9mlint: Callable[..., Any], folder: Path, monkeypatch: pytest.MonkeyPatch, ops: str = ""
) -> Callable[..., Any]:
    """``d9mlint verify``, in a project with ops of its own where they are given; times are taken as briefly as can be."""
    monkeypatch.setattr("d9mlint.app.verify.ops._PATIENCE", 0.0)
    monkeypatch.setattr("d9mlint.verify.run.PAIRS", 1)
    if ops:
        (folder / "ops.yaml").write_text(ops)
        (folder / "d9mlint.toml").write_text('catalogues = ["ops.yaml"]\n')
    python = str(stand_in(folder))
    return lambda *words: d9mlint("verify", "--python", python, "--runs", "6", *words)


def interpreter(framework: str, variable: str) -> str:
    """An interpreter that has the framework: the one the variable names, or this one; else the test is skipped."""
    named = os.environ.get(variable)
    if named:
        found = subprocess.run([named, "-c", f"import {framework}"], capture_output=True, check=False).returncode == 0
        assert found, f"{variable}={named} has no {framework}"
        return named
    if importlib.util.find_spec(framework) is None:
        pytest.skip(f"no {framework} here; name an interpreter that has it in {variable}")
    return sys.executable


def is_running(pid: int) -> bool:
    """Whether a process is there and no zombie."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
