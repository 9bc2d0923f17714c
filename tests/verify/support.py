"""Cases, settings and interpreters for the tests of verify."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import pytest

from d9mlint.model import Case, Evidence
from d9mlint.verify.judge import judged
from d9mlint.verify.run import Machine, Settings, observe

PLAIN = Path(__file__).with_name("plain_child.py")


def case(run: str, op: str = "op") -> Case:
    return Case(op=op, framework="plain", direction="forward", run=run)


def executed(*cases: Case, **settings: object) -> list[Evidence]:
    """The evidence that real processes give about cases in the standard library."""
    asked = Settings(
        **{"command": (sys.executable, str(PLAIN)), "runs": 8, "seconds": 0.2, "timeout": 20.0, **settings}
    )  # type: ignore[arg-type]
    with Machine("plain", asked) as machine:
        return [judged(seen) for seen in observe(cases, machine)]


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
