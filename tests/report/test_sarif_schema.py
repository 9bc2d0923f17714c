"""SARIF reports validate against the schema of SARIF 2.1.0, by npm: no Python package carries it (slow)."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, Ran
from jsonschema import Draft4Validator

PACKAGE = "@microsoft/jest-sarif@1.0.0-beta.0"
"""Microsoft's matchers for SARIF in tests, which hold the schema as SchemaStore and GitHub use it."""
SCHEMA = "node_modules/@microsoft/jest-sarif/lib/schemas/sarif-2.1.0-rtm.5.json"
TRAIN = """import os
import random

import torch

names = os.listdir("data")
random.shuffle(names)
print(torch.nn.Linear(4, len(set(names))), {name: number for number, name in enumerate(set(names))})
"""
KERNEL = """__global__ void add(float* out, const float* in) { atomicAdd(&out[threadIdx.x % 2], in[threadIdx.x]); }
void run(float* out, const float* in) { add<<<1, 64>>>(out, in); }
"""


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Any], list[str]]:
    """What is wrong with a report."""
    npm, folder = shutil.which("npm"), tmp_path_factory.mktemp("npm")
    if npm is None:
        pytest.skip("no npm")
    command = [
        npm,
        "install",
        "--silent",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--prefix",
        str(folder),
        PACKAGE,
    ]
    if subprocess.run(command, capture_output=True, check=False, timeout=300).returncode:
        pytest.skip("the registry of npm is out of reach")
    schema = json.loads((folder / SCHEMA).read_text(encoding="utf-8"))
    assert schema["title"].startswith("Static Analysis Results Format (SARIF) Version 2.1.0")
    validator = Draft4Validator(schema)
    return lambda report: [one.message for one in validator.iter_errors(report)]


@pytest.mark.slow
def test_reports_about_programs_and_kernels_are_valid(
    errors: Callable[[Any], list[str]], d9mlint: Callable[..., Ran]
) -> None:
    Path("train.py").write_text(TRAIN, encoding="utf-8")
    Path("broken.py").write_text("def (:\n", encoding="utf-8")
    Path("add.cu").write_text(KERNEL, encoding="utf-8")
    programs = d9mlint("check", ".", "--diff", "--format", "sarif").json
    (run,) = programs["runs"]
    assert len(run["results"]) > 2
    assert any("fixes" in one for one in run["results"]), "a fix is shown, too"
    kernels = d9mlint("kernels", ".", "--format", "sarif").json
    assert kernels["runs"][0]["results"]
    golden = json.loads((ROOT / "tests" / "golden" / "report.sarif").read_text(encoding="utf-8"))
    for report in (programs, kernels, golden):
        assert errors(report) == []


@pytest.mark.slow
def test_a_wrong_report_is_not_valid(errors: Callable[[Any], list[str]]) -> None:
    golden = json.loads((ROOT / "tests" / "golden" / "report.sarif").read_text(encoding="utf-8"))
    golden["runs"][0]["results"][0]["level"] = "bad"
    assert errors(golden)
