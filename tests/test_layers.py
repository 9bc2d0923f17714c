"""Imports point down, starting up is cheap, and linting never loads a framework."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import ROOT


def loaded(code: str, cwd: Path, path: str = "") -> set[str]:
    """Top-level modules that a fresh interpreter holds after ``code``."""
    text = f"{code}\nimport json, sys\nprint(json.dumps(sorted({{name.partition('.')[0] for name in sys.modules}})))"
    env = {**os.environ, "PYTHONPATH": path, "XDG_CACHE_HOME": str(cwd / "cache")} if path else None
    done = subprocess.run([sys.executable, "-c", text], cwd=cwd, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))


def test_the_layer_contract(tmp_path: Path) -> None:
    command = [sys.executable, "-c", "from importlinter.cli import lint_imports_command as run; run()", "--no-cache"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 broken" in done.stdout


def test_starting_up_is_cheap(tmp_path: Path) -> None:
    assert not loaded("import d9mlint.cli", tmp_path) & {"libcst", "yaml", "rich", "pathspec", "concurrent"}


FRAMEWORKS = {"tensorflow", "keras", "tf_keras", "torch", "jax", "numpy", "horovod"}


@pytest.mark.parametrize("options", [["--no-cache"], ["--fix"], ["--format", "sarif"]])
def test_linting_never_imports_a_framework_or_the_program(
    tmp_path: Path, options: list[str], with_compiled_rules: Callable[[Path], None]
) -> None:
    source = (ROOT / "examples" / "train.py").read_text(encoding="utf-8")
    (tmp_path / "train.py").write_text(f"{source}\nopen('executed', 'w').close()\n", encoding="utf-8")
    fakes = tmp_path / "fakes"  # what would be imported, were anything imported
    fakes.mkdir()
    (tmp_path / ".git").mkdir()
    for name in FRAMEWORKS:
        (fakes / f"{name}.py").write_text(f"open('executed-{name}', 'w').close()\n")
    with_compiled_rules(tmp_path / "cache")
    words = ["train.py", *options]
    code = f"from d9mlint.cli import main\ntry:\n    main({words!r})\nexcept SystemExit as e:\n    assert e.code == 1"
    modules = loaded(code, tmp_path, str(fakes))
    assert not modules & {*FRAMEWORKS, "train"}
    assert not [name for name in os.listdir(tmp_path) if name.startswith("executed")]  # noqa: PTH208
