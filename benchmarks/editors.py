"""Prints how long an editor waits for the language server, on a program of many files.

    python benchmarks/editors.py [--files 50] [--repeat 7]

The program is generated: an entry, and modules with networks, data and loops that it imports. The client is that of
the tests; the time is from the notification to the diagnostics. The median of several turns counts.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from run import ROOT

sys.path.insert(0, str(ROOT / "tests" / "server"))

from editor import Editor, editor

_MODULE = '''"""Part {number} of a program."""

import numpy as np
import torch
from torch import nn

from parts.base import scale


class Net{number}(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(width, width), nn.ReLU(), nn.Dropout(0.1), nn.Linear(width, width))
        self.table = nn.Embedding(1000, width)

    def forward(self, x, index):
        hidden = self.layers(x) + self.table(index)
        return torch.zeros_like(hidden).index_add_(0, index, hidden) * scale


def batches{number}(count, size):
    for step in range(count):
        x = np.random.rand(size, 64).astype("float32")
        yield torch.from_numpy(x), torch.from_numpy(np.random.randint(0, 1000, size))


def train{number}(device, steps=10):
    net = Net{number}().to(device)
    optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
    for x, index in batches{number}(steps, 32):
        optimizer.zero_grad()
        loss = net(x.to(device), index.to(device)).pow(2).mean()
        loss.backward()
        optimizer.step()
    return float(loss)
'''
_GOAL = 0.5


def generate(folder: Path, files: int) -> None:
    """Writes the program."""
    parts = range(files - 3)
    (folder / "parts").mkdir()
    (folder / "parts" / "__init__.py").touch()
    (folder / "parts" / "base.py").write_text("scale = 0.5\n")
    for number in parts:
        (folder / "parts" / f"part{number}.py").write_text(_MODULE.format(number=number))
    imports = "".join(f"from parts.part{number} import train{number}\n" for number in parts)
    calls = "".join(f"    train{number}(device)\n" for number in parts)
    (folder / "train.py").write_text(
        f"import torch\n\n{imports}\n\ndef main():\n    torch.manual_seed(1)\n    device = torch.device('cuda')\n"
        f"{calls}\n\nif __name__ == '__main__':\n    main()\n"
    )


async def waited(client: Editor, name: str, act: Callable[[], None]) -> float:
    """Seconds until the diagnostics of a file come."""
    client.diagnostics.clear()
    start = time.perf_counter()
    act()
    await client.found(name)
    return time.perf_counter() - start


async def measured(folder: Path, repeat: int) -> dict[str, float]:
    """The seconds by what was done."""
    name = "parts/part7.py"
    text = (folder / name).read_text()
    found: dict[str, list[float]] = {}
    async with editor(folder) as client:
        found["open, nothing known yet"] = [await waited(client, name, lambda: client.open(name))]
        for turn in range(repeat):
            edited = text + f"# turn {turn}\n"
            for what, new in (
                ("save, one line is new", edited),
                ("save, as it was before", text),
                ("save, unchanged", text),
            ):
                seconds = await waited(client, name, lambda new=new: client.save(name, new))
                found.setdefault(what, []).append(seconds)
    async with editor(folder) as client:
        found["open, all in the cache"] = [await waited(client, name, lambda: client.open(name))]
    return {what: statistics.median(seconds) for what, seconds in found.items()}


def main() -> None:
    """Prints the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--files", type=int, default=50, help="files of the program (default 50)")
    parser.add_argument("--repeat", type=int, default=7, help="turns (default 7)")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="d9mlint-bench-") as folder:
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"
        (Path(folder) / "user").mkdir()
        generate(Path(folder) / "user", options.files)
        for what, seconds in asyncio.run(measured(Path(folder) / "user", options.repeat)).items():
            verdict = f"  goal {_GOAL} s: {'met' if seconds <= _GOAL else 'MISSED'}" if what.startswith("save") else ""
            print(f"{what:28} {seconds:6.2f} s{verdict}")


if __name__ == "__main__":
    main()
