"""Patched programs run with real PyTorch: twice in fresh processes with other hash seeds, and give the same bits (slow)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PYTHON = os.environ.get("D9MLINT_TORCH_PYTHON", "")
VOCABULARY = """import torch
import torch.nn as nn
from random import *

words = "i like dog i love coffee i hate milk".split()
index = {word: number for number, word in enumerate(list(set(words)))}
net = nn.Sequential(nn.Embedding(len(index), 8), nn.Flatten(), nn.Linear(16, len(index)))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
pairs = [(index[a], index[b], index[c]) for a, b, c in zip(words, words[1:], words[2:])]
for epoch in range(20):
    shuffle(pairs)
    for a, b, c in pairs:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(torch.tensor([[a, b]])), torch.tensor([c]))
        loss.backward()
        optimizer.step()
print(loss.item().hex(), index)
"""
PARTS = {
    "data.py": "import torch\n\nNOISE = torch.randn(64, 4)\n\n\ndef examples():\n"
    "    return torch.utils.data.TensorDataset(NOISE, NOISE.sum(1, keepdim=True))\n",
    "train.py": "import argparse\nimport torch\nfrom torch.utils.data import DataLoader, random_split\n"
    "from data import examples\n\n\ndef main():\n    parser = argparse.ArgumentParser()\n"
    "    parser.add_argument('--epochs', type=int, default=2)\n    args = parser.parse_args()\n"
    "    train, test = random_split(examples(), [48, 16])\n    net = torch.nn.Sequential(torch.nn.Linear(4, 8), "
    "torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))\n    optimizer = torch.optim.SGD(net.parameters(), lr=0.01)\n"
    "    for epoch in range(args.epochs):\n        for x, y in DataLoader(train, batch_size=8, shuffle=True):\n"
    "            optimizer.zero_grad()\n            ((net(x) - y) ** 2).mean().backward()\n            optimizer.step()\n"
    "    print([p.double().sum().item().hex() for p in net.parameters()])\n\n\nif __name__ == '__main__':\n    main()\n",
}


def output(name: str, hash_seed: int) -> str:
    environment = {**os.environ, "PYTHONHASHSEED": str(hash_seed), "CUDA_VISIBLE_DEVICES": ""}
    ran = subprocess.run([PYTHON, name], env=environment, capture_output=True, text=True, check=True, timeout=300)
    return ran.stdout


@pytest.mark.slow
@pytest.mark.skipif(not PYTHON, reason="D9MLINT_TORCH_PYTHON names no interpreter with torch")
@pytest.mark.parametrize("files", [{"train.py": VOCABULARY}, PARTS], ids=["vocabulary", "parts"])
def test_runs_of_a_cured_program_are_equal(d9mlint: Callable[..., Any], files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).write_text(text)
    assert output("train.py", 1) != output("train.py", 2)
    ran = d9mlint("train.py", "--device", "cpu", "--fix", "--unsafe-fixes")
    assert "fixed" in ran.err, ran.out
    assert output("train.py", 1) == output("train.py", 2)
