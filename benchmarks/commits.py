"""Prints what a commit costs in a repository of many entries when one script has changed.

    python benchmarks/commits.py [--entries 100] [--repeat 5]

The repository is generated: each entry is a training script that imports one of twenty modules. pre-commit runs the
hook's command as it stands in .pre-commit-hooks.yaml, out of the environment that this script runs in; what pre-commit
takes by itself is measured with a hook that does nothing. The best of several turns counts.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from run import ROOT, ran

_MODULE = """import numpy as np
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = torch.nn.Linear(3, 4)
        self.dropout = torch.nn.Dropout(0.1)

    def forward(self, x):
        return self.dropout(self.inner(x))


def batch(size):
    return torch.from_numpy(np.random.rand(size, 3)).float()
"""
_ENTRY = """import argparse
import random

import numpy as np
import torch

from lib.part{part} import Net, batch


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--lr", type=float, default=0.1)
    args = parser.parse_args()
    random.seed({number})
    np.random.seed({number})
    torch.manual_seed({number})
    net = Net().cuda()
    optimizer = torch.optim.SGD(net.parameters(), lr=args.lr)
    for step in range(10):
        loss = net(batch(8).cuda()).sum()
        loss.backward()
        optimizer.step()
    torch.save(net.state_dict(), "net.pt")


if __name__ == "__main__":
    main()
"""
_PARTS = 20
_HOOKS = """repos:
  - repo: local
    hooks:
      - {{id: hook, name: hook, entry: {entry}, language: system, pass_filenames: false, require_serial: true}}
"""
_GOAL = 1.0


def generate(folder: Path, entries: int) -> None:
    """Writes the repository, committed."""
    (folder / "lib").mkdir(parents=True)
    (folder / "lib" / "__init__.py").touch()
    for part in range(_PARTS):
        (folder / "lib" / f"part{part}.py").write_text(_MODULE)
    for number in range(entries):
        (folder / f"train_{number:03}.py").write_text(_ENTRY.format(part=number % _PARTS, number=number))
    git(folder, "init", "-q")
    commit(folder)


def git(folder: Path, *words: str) -> None:
    """Runs git in a folder."""
    identity = ("-c", "user.name=bench", "-c", "user.email=bench@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *identity, *words], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def commit(folder: Path) -> None:
    """Commits all that is there."""
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--no-verify", "-m", "more")


class Bench:
    """The repository, and a cache of its own."""

    def __init__(self, folder: Path, entries: int) -> None:
        self._user = folder / "user"
        self._entries = entries
        self._turn = 0
        path = os.pathsep.join((str(Path(sys.executable).parent), os.environ.get("PATH", "")))
        self._environment = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "PATH": path}
        generate(self._user, entries)

    def hook(self, entry: str) -> None:
        """Has pre-commit run a command."""
        (self._user / ".pre-commit-config.yaml").write_text(_HOOKS.format(entry=entry))
        commit(self._user)

    def took(self, command: list[str], repeat: int) -> float:
        """The least seconds that a command takes after a change of one script, which is staged."""
        best = float("inf")
        for _ in range(repeat):
            self._turn += 1
            with (self._user / "train_007.py").open("a") as file:
                file.write(f"# turn {self._turn}\n")
            git(self._user, "add", "-A")
            code, told, taken = ran(command, self._environment, self._user)
            if code not in (0, 1):
                raise SystemExit(f"{' '.join(command)} ended with {code}: {told}")
            best = min(best, taken.wall)
        return best


def main() -> None:
    """Prints the table."""
    import yaml

    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--entries", type=int, default=100, help="training scripts in the repository (default 100)")
    parser.add_argument("--repeat", type=int, default=5, help="turns; the best of them counts (default 5)")
    options = parser.parse_args()
    hooks = yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text())
    entry = next(hook["entry"] for hook in hooks if hook["id"] == "d9mlint")
    run = [sys.executable, "-m", "pre_commit", "run"]
    with tempfile.TemporaryDirectory(prefix="d9mlint-bench-") as folder:
        bench = Bench(Path(folder), options.entries)
        hook = bench.took(entry.split(), options.repeat)
        bench.hook("true")
        nothing = bench.took(run, options.repeat)
        bench.hook(entry)
        all_of_it = bench.took(run, options.repeat)
        whole = bench.took([*entry.split()[:2], "."], options.repeat)
        cold = bench.took([*entry.split()[:2], ".", "--no-cache"], 1)
    verdict = "met" if hook <= _GOAL else "MISSED"
    print(f"the hook after one script of {options.entries} has changed   {hook:6.2f} s  (goal {_GOAL} s: {verdict})")
    print(f"pre-commit with it                              {all_of_it:6.2f} s")
    print(f"pre-commit with a hook that does nothing        {nothing:6.2f} s")
    print(f"a whole check, the rest from the cache          {whole:6.2f} s")
    print(f"a whole check without a cache                   {cold:6.2f} s")


if __name__ == "__main__":
    main()
