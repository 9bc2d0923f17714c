"""What tracing costs: the time of a step under each stage of `d9mlint trace`, as a ratio to the untraced program.

    python benchmarks/trace.py INTERPRETER [BLOCKS]

The interpreter must have PyTorch. A convolutional network is trained on made-up images; in each block the program runs
untraced, under stage 0 (light) and under stage 2 (ops), one after the other, so that what drifts weighs on all alike.
The program takes the CPU time of its own steps, in one thread, without the first ones: what else runs on the machine
does not count then. The median over blocks is printed.
"""

from __future__ import annotations

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from d9mlint.trace.run import LIGHT, OPS, Conditions, Program, Settings, run

SOURCE = """\
import statistics, sys, time
import torch
from torch import nn
torch.manual_seed(0)
torch.set_num_threads(1)
width, size, batch, steps = (int(word) for word in sys.argv[1:5])
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        layers, channels = [], 3
        for number in range(4):
            layers += [nn.Conv2d(channels, width * 2 ** number, 3, padding=1), nn.BatchNorm2d(width * 2 ** number),
                       nn.ReLU(), nn.MaxPool2d(2)]
            channels = width * 2 ** number
        self.features, self.head = nn.Sequential(*layers), nn.Linear(channels * (size // 16) ** 2, 10)
    def forward(self, x):
        return self.head(self.features(x).flatten(1))
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)
x, y = torch.randn(batch, 3, size, size), torch.randint(0, 10, (batch,))
times, losses = [], []
for step in range(steps):
    begun = time.process_time()
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    times.append(time.process_time() - begun)
    losses.append(loss.item().hex())
with open("times", "w") as stream:
    stream.write(f"{statistics.median(times[2:])} {' '.join(losses)}")
"""
SIZES = {
    "CNN (width 32, 64 images of 64x64)": ("32", "64", "64", "8"),
    "toy (width 2, 4 images of 16x16)": ("2", "16", "4", "40"),
}
"""Width, size of an image, images in a batch, steps."""


def step(python: str, words: tuple[str, ...], stage: str) -> tuple[float, list[str]]:
    """The median time of a step, and the losses."""
    if stage:
        program = Program(python, ("program.py",), words, (os.getcwd(),))  # noqa: PTH109
        ran = run(program, Settings(0), Conditions(stage), 0, 600)
        assert ran.whole, ran.ended
    else:
        subprocess.run([python, "program.py", *words], check=True)
    seconds, *losses = Path("times").read_text(encoding="utf-8").split()
    return float(seconds), losses


def main() -> None:
    """Prints the ratios."""
    python, blocks = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 3
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("program.py").write_text(SOURCE, encoding="utf-8")
        for name, words in SIZES.items():
            times: dict[str, list[float]] = {"": [], LIGHT: [], OPS: []}
            losses = []
            for _ in range(blocks):
                for stage, several in times.items():
                    seconds, found = step(python, words, stage)
                    several.append(seconds)
                    losses.append(found)
            plain = statistics.median(times[""])
            same = "bit for bit the same" if all(one == losses[0] for one in losses) else "DIFFERENT"
            light, ops = (statistics.median(times[stage]) / plain for stage in (LIGHT, OPS))
            costs = f"stage 0 takes {light:.2f} times, stage 2 {ops:.2f} times as long"
            print(f"{name}: {plain * 1000:.1f} ms of CPU time a step untraced; {costs}; losses {same}", flush=True)
        os.chdir("/")


if __name__ == "__main__":
    main()
