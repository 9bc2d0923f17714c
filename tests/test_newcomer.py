"""A newcomer's walk in an empty environment: install, lint, fix, run twice, add the hook, commit."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import venv
from pathlib import Path

import documents
import pytest
from conftest import ROOT
from test_precommit import IGNORED, git

MINUTES = 5
"""In which all of it has to be done."""


def run(*words: str | Path, cwd: Path, expect: int, **env: str) -> str:
    """What a command prints; its exit code must be as expected."""
    done = subprocess.run(words, cwd=cwd, env={**os.environ, **env}, capture_output=True, text=True, check=False)
    assert done.returncode == expect, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


@pytest.mark.slow
def test_a_newcomers_walk(tmp_path: Path) -> None:
    import shutil

    begun = time.monotonic()
    shutil.copytree(ROOT, tmp_path / "d9mlint", ignore=IGNORED)
    source, home = tmp_path / "d9mlint", tmp_path / "home"
    home.mkdir()
    git("init", "-q", cwd=source)
    git("add", "-A", cwd=source)
    git("commit", "-q", "-m", "d9mlint", cwd=source)

    # install, as the README has it
    venv.create(tmp_path / "venv", with_pip=True)
    bin_ = tmp_path / "venv" / "bin"
    run(bin_ / "pip", "install", "-q", source, cwd=home, expect=0)
    d9mlint = bin_ / "d9mlint"

    # what is there, what is wrong with it, and the cure
    page = (ROOT / "docs" / "start.md").read_text(encoding="utf-8")
    program = next(step.text for step in documents.steps(page) if step.what == "train.py")
    (home / "train.py").write_text(program, encoding="utf-8")
    (home / "sample.py").write_text((ROOT / "examples" / "train.py").read_text(encoding="utf-8"), encoding="utf-8")
    (home / "requirements.txt").write_text("torch==2.13.0\ntensorflow==2.21.0\n")
    assert "d9mlint train.py " in run(d9mlint, cwd=home, expect=0)
    assert "set-order" in run(d9mlint, "train.py", cwd=home, expect=1)
    run(d9mlint, ".", "--diff", "--unsafe-fixes", cwd=home, expect=1)

    # the hook keeps the program out as it is ...
    git("init", "-q", cwd=home)
    config = f"repos:\n  - repo: {source}\n    rev: {git('rev-parse', 'HEAD', cwd=source).strip()}\n    hooks:\n"
    (home / ".pre-commit-config.yaml").write_text(config + "      - id: d9mlint\n")
    hooks = {"PRE_COMMIT_HOME": str(tmp_path / "hooks")}
    run(sys.executable, "-m", "pre_commit", "install", cwd=home, expect=0, **hooks)
    identity = ("-c", "user.name=new", "-c", "user.email=new@example.org", "-c", "commit.gpgsign=false")
    run("git", "add", "-A", cwd=home, expect=0)
    run("git", *identity, "commit", "-m", "first", cwd=home, expect=1, **hooks)

    # ... and lets it in when it is cured
    run(d9mlint, ".", "--fix", "--unsafe-fixes", cwd=home, expect=0)
    assert run(d9mlint, ".", cwd=home, expect=0).startswith("No findings.")
    run("git", "add", "-A", cwd=home, expect=0)
    run("git", *identity, "commit", "-m", "first", cwd=home, expect=0, **hooks)

    if python := os.environ.get("D9MLINT_TORCH_PYTHON"):
        losses = [run(python, "train.py", cwd=home, expect=0, PYTHONHASHSEED=seed) for seed in ("1", "2")]
        assert losses[0] == losses[1]
    assert time.monotonic() - begun < 60 * MINUTES
