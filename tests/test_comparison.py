"""What the page about other tools says of them: each command of its table is run in the version that it names."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import documents
import pytest
from conftest import ROOT

PAGE = (ROOT / "docs" / "comparison.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| (\w[\w-]*) (\d[\d.]*)(?:, [\w ]+)? \| `([^`]+)` \|", PAGE, re.MULTILINE)
SAYS = {
    "torchfix --select=ALL": (r"\bTOR\d+\b", ["TOR401"]),
    "torch-preflight check": (r"\bTG\d+\b", ["TG004", "TG004"]),
    "ruff check --isolated --select": (r"^[A-Z]+\d+\b", ["NPY002"]),
    "ruff check --isolated --preview": (r"\bos-listdir\b|numpy-legacy-random", ["os-listdir", "numpy-legacy-random"]),
    "pylint": (r"^train\.py:.*|rated at \S+", ["rated at 10.00/10"]),
    "semgrep": (r"^ +(\d+)┆", ["10"]),
}
"""By the beginning of a command, what is looked for in its output, and what must be found."""


def test_each_tool_has_a_row_and_each_row_a_tool() -> None:
    assert len(ROWS) == len(SAYS)
    assert [[start for start in SAYS if command.startswith(start)] for _, _, command in ROWS] == [[one] for one in SAYS]


@pytest.mark.slow
@pytest.mark.parametrize(("tool", "version", "command"), ROWS, ids=[command for _, _, command in ROWS])
def test_it_says_that(tool: str, version: str, command: str, tmp_path: Path) -> None:
    for step in documents.steps(PAGE):
        if step.kind == "file":
            (tmp_path / step.what).write_text(step.text, encoding="utf-8")
    package = f"{tool.lower()}=={version}"
    env = {**os.environ, "SEMGREP_SEND_METRICS": "off", "SEMGREP_ENABLE_VERSION_CHECK": "0", "NO_COLOR": "1"}

    def run(*words: str) -> subprocess.CompletedProcess[str]:
        uvx = [str(Path(sys.executable).parent / "uv"), "tool", "run", "-q", "--from", package]
        return subprocess.run([*uvx, *words], cwd=tmp_path, env=env, capture_output=True, text=True, check=False)

    if run("python", "-c", "").returncode:
        pytest.skip(f"{package} cannot be had here")
    done = run(*shlex.split(command))
    pattern, wanted = next(says for start, says in SAYS.items() if command.startswith(start))
    assert re.findall(pattern, done.stdout, re.MULTILINE) == wanted, done.stdout + done.stderr
