"""The pre-commit hooks, run for real from a local clone of this tree."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from conftest import ROOT

IGNORED = shutil.ignore_patterns(
    ".git", ".venv", "venv", "dist", "build", "__pycache__", ".*_cache", ".hypothesis", "*.egg-info", "projects"
)
KERNEL = """__global__ void scatter(float* out, const float* in, const int* index) {
  atomicAdd(out + index[threadIdx.x], in[threadIdx.x]);
}
"""
SEED = "    np.random.seed(1)\n"
BAD = "import numpy as np\n\nif __name__ == '__main__':\n    print(np.random.rand(3))\n"


def git(*words: str, cwd: Path) -> str:
    identity = ["-c", "user.name=test", "-c", "user.email=test@example.org", "-c", "commit.gpgsign=false"]
    return subprocess.run(["git", *identity, *words], cwd=cwd, capture_output=True, text=True, check=True).stdout


@dataclass(frozen=True)
class Checkout:
    """A user's repository with one hook of this tree."""

    folder: Path
    env: dict[str, str]

    def run(self, *changed: str) -> subprocess.CompletedProcess[str]:
        """Runs the hook as a commit of these files would; without any, for all files."""
        git("add", "-A", cwd=self.folder)
        return self.pre_commit("run", *(["--files", *changed] if changed else ["--all-files"]))

    def pre_commit(self, *words: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "pre_commit", *words]
        return subprocess.run(command, cwd=self.folder, env=self.env, capture_output=True, text=True, check=False)

    def commit(self, *words: str) -> subprocess.CompletedProcess[str]:
        """A commit by git, with whatever hooks are installed."""
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", "commit", "-q", "-m", "more", *words]
        return subprocess.run(command, cwd=self.folder, env=self.env, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository of this tree, which pre-commit installs once for all tests: its environments stand beside it."""
    folder = tmp_path_factory.mktemp("precommit") / "hooks"
    shutil.copytree(ROOT, folder, ignore=IGNORED)
    git("init", "-q", cwd=folder)
    git("add", "-A", cwd=folder)
    git("commit", "-q", "-m", "hooks", cwd=folder)
    return folder


def checkout(user: Path, hooks: Path, hook: str) -> Checkout:
    git("init", "-q", cwd=user)
    revision = git("rev-parse", "HEAD", cwd=hooks).strip()
    (user / ".pre-commit-config.yaml").write_text(
        f"repos:\n  - repo: {hooks}\n    rev: {revision}\n    hooks:\n      - id: {hook}\n"
    )
    return Checkout(user, {**os.environ, "PRE_COMMIT_HOME": str(hooks.parent / "pre-commit")})


@pytest.mark.slow
def test_hook_fails_on_a_finding_and_passes_after_the_cure(tmp_path: Path, hooks: Path) -> None:
    user = checkout(tmp_path, hooks, "d9mlint")
    (user.folder / "train.py").write_text(BAD)
    done = user.run()
    assert done.returncode == 1, done.stdout + done.stderr
    assert "train.py:4:11: warning unseeded-numpy" in done.stdout

    (user.folder / "train.py").write_text(BAD.replace("    print", "    np.random.seed(1)\n    print"))
    done = user.run()
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout


def told(done: subprocess.CompletedProcess[str]) -> list[str]:
    """The programs that a run of the hook has findings in."""
    return sorted(line.split(":")[0] for line in done.stdout.splitlines() if "warning unseeded-numpy" in line)


@pytest.mark.slow
def test_a_commit_judges_the_programs_that_it_concerns_and_a_run_for_all_files_every_one(
    tmp_path: Path, hooks: Path
) -> None:
    user = checkout(tmp_path, hooks, "d9mlint")
    for name in ("old.py", "train.py"):
        (user.folder / name).write_text(BAD)
    git("add", "-A", cwd=user.folder)
    assert user.commit().returncode == 0
    assert user.pre_commit("install").returncode == 0
    assert told(user.pre_commit("run", "--all-files")) == ["old.py", "train.py"]

    with (user.folder / "train.py").open("a") as file:
        file.write("# more\n")
    (user.folder / "scratch.py").write_text(BAD)  # not part of the commit
    refused = user.commit("train.py")
    assert refused.returncode == 1
    assert "1 of 3 entries reaches a staged file (1 file); 2 left out" in refused.stderr, refused.stderr
    assert "old.py" not in refused.stderr
    assert "scratch.py" not in refused.stderr

    cured = BAD.replace("    print", f"{SEED}    print")
    (user.folder / "train.py").write_text(cured)
    git("add", "train.py", cwd=user.folder)
    (user.folder / "train.py").write_text(BAD)  # later, and not staged: pre-commit puts it aside meanwhile
    taken = user.commit()
    assert taken.returncode == 0, taken.stderr
    assert (user.folder / "train.py").read_text() == BAD
    git("checkout", "-q", ".", cwd=user.folder)
    (user.folder / "scratch.py").unlink()

    assert told(user.pre_commit("run", "--all-files")) == ["old.py"]
    between = user.pre_commit("run", "--from-ref", "HEAD~1", "--to-ref", "HEAD")
    assert between.returncode == 0, between.stdout
    assert "Passed" in between.stdout


@pytest.mark.slow
def test_kernel_hook_judges_the_whole_tree_whichever_source_changes(tmp_path: Path, hooks: Path) -> None:
    user = checkout(tmp_path, hooks, "d9mlint-kernels")
    (user.folder / "csrc").mkdir()
    (user.folder / "csrc" / "scatter.cu").write_text(KERNEL)
    (user.folder / "csrc" / "other.cpp").write_text("int x;\n")
    (user.folder / "notes.txt").write_text("nothing\n")
    assert "Skipped" in user.run("notes.txt").stdout
    done = user.run("csrc/other.cpp")
    assert done.returncode == 1, done.stdout + done.stderr
    assert "csrc/scatter.cu:2:3: can vary: `atomicAdd` in `scatter`" in done.stdout

    (user.folder / "csrc" / "scatter.cu").write_text(KERNEL.replace("float", "int"))
    done = user.run("csrc/scatter.cu")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Passed" in done.stdout
