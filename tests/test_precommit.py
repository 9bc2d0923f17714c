"""The pre-commit hook, run for real from a local clone of this tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

IGNORED = shutil.ignore_patterns(
    ".git", ".venv", "venv", "dist", "build", "__pycache__", ".*_cache", ".hypothesis", "*.egg-info", "projects"
)
BAD = "import numpy as np\n\nif __name__ == '__main__':\n    print(np.random.rand(3))\n"


def git(*words: str, cwd: Path) -> str:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *identity, *words], cwd=cwd, capture_output=True, text=True, check=True).stdout


@pytest.mark.slow
def test_hook_fails_on_a_finding_and_passes_after_the_cure(tmp_path: Path) -> None:
    hooks, user = tmp_path / "hooks", tmp_path / "user"
    shutil.copytree(ROOT, hooks, ignore=IGNORED)
    user.mkdir()
    for repository in (hooks, user):
        git("init", "-q", cwd=repository)
    git("add", "-A", cwd=hooks)
    git("commit", "-q", "-m", "hooks", cwd=hooks)
    revision = git("rev-parse", "HEAD", cwd=hooks).strip()
    (user / "train.py").write_text(BAD)
    (user / ".pre-commit-config.yaml").write_text(
        f"repos:\n  - repo: {hooks}\n    rev: {revision}\n    hooks:\n      - id: d9mlint\n"
    )
    git("add", "-A", cwd=user)
    env = {**os.environ, "PRE_COMMIT_HOME": str(tmp_path / "pre-commit")}
    command = [sys.executable, "-m", "pre_commit", "run", "--all-files"]

    done = subprocess.run(command, cwd=user, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1, done.stdout + done.stderr
    assert "train.py:4:11: warning unseeded-numpy" in done.stdout

    (user / "train.py").write_text(BAD.replace("    print", "    np.random.seed(1)\n    print"))
    git("add", "-A", cwd=user)
    done = subprocess.run(command, cwd=user, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout
