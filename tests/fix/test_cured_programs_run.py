"""Patched programs run with real frameworks: twice in fresh processes with other hash seeds, and give the same bits (slow)."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PYTHON = os.environ.get("D9MLINT_TORCH_PYTHON", "")
TENSORFLOW = os.environ.get("D9MLINT_TF_PYTHON", "")
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


SPAWNED = """import torch
import torch.multiprocessing as mp


def work(rank, folder):
    net = torch.nn.Sequential(torch.nn.Linear(8, 4), torch.nn.Dropout(0.5))
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        net(torch.ones(2, 8)).sum().backward()
        optimizer.step()
    torch.save(net[0].weight.double().sum().item(), f"{folder}/{rank}.pt")


def main():
    torch.manual_seed(1)
    mp.spawn(work, args=(".",), nprocs=2)
    print([torch.load(f"{rank}.pt").hex() for rank in range(2)])


if __name__ == "__main__":
    main()
"""
WORKERS = """import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Crops(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return torch.tensor(np.random.rand())


def main():
    torch.manual_seed(1)
    np.random.seed(1)
    draws = [x.item() for _ in range(2) for x in DataLoader(Crops(), batch_size=None, num_workers=2)]
    assert len(set(draws)) == len(draws)
    print(draws)


if __name__ == "__main__":
    main()
"""
HASHED = """import numpy as np
import torch

torch.manual_seed(1)
words = "the quick brown fox".split()
rows = np.zeros((len(words), 64), dtype=np.float32)
for number, word in enumerate(words):
    rows[number, hash(word) % 64] += 1
net = torch.nn.Linear(64, 1)
print(net(torch.from_numpy(rows)).sum().item().hex())
"""
KNOWN = {
    "vocabulary": {"train.py": VOCABULARY},
    "parts": PARTS,
    "spawned": {"train.py": SPAWNED},
    "hashed": {"train.py": HASHED},
}
RESUMED = """import argparse
import os

import torch

parser = argparse.ArgumentParser()
parser.add_argument("--resume", action="store_true")
parser.add_argument("--steps", type=int, default=6)
args = parser.parse_args()
torch.manual_seed(1)
net = torch.nn.Sequential(torch.nn.Linear(4, 8), torch.nn.Dropout(0.5), torch.nn.Linear(8, 1))
optimizer = torch.optim.Adam(net.parameters())
start = 0
if args.resume:
    state = torch.load("last.pt")
    net.load_state_dict(state["net"])
    optimizer.load_state_dict(state["optimizer"])
    start = state["step"]
for step in range(start, args.steps):
    optimizer.zero_grad()
    net(torch.randn(8, 4)).square().mean().backward()
    optimizer.step()
    torch.save({"net": net.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1}, "last.pt")
print([p.double().sum().item().hex() for p in net.parameters()])
"""
GENERATORS = """import tensorflow as tf

tf.keras.utils.set_random_seed(1)
own = tf.random.Generator.from_non_deterministic_state()
shared = tf.random.get_global_generator()
print(own.normal([2]).numpy().tolist(), shared.uniform([2]).numpy().tolist())
"""
RACING = """import numpy as np
import tensorflow as tf

np.random.seed(1)
tf.keras.utils.set_random_seed(1)


def draw(x):
    return tf.numpy_function(lambda one: one + np.random.rand(), [x], tf.float64)


data = tf.data.Dataset.from_tensor_slices(np.zeros(200)).map(draw, num_parallel_calls=8)
model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
model.compile("sgd", "mse")
batches = data.map(lambda x: (tf.reshape(x, [1]), tf.reshape(x, [1]))).batch(4)
model.fit(batches, verbose=0)
print([float(w.numpy().sum()).hex() for w in model.weights])
"""
LOSS = """import os

os.environ["TF_DETERMINISTIC_OPS"] = "1"

import tensorflow as tf

tf.random.set_seed(1)
weights = tf.Variable(tf.random.normal([4, 300]))
labels = tf.constant([0, 2, 1])
optimizer = tf.optimizers.SGD(0.1)
for _ in range(3):
    with tf.GradientTape() as tape:
        logits = tf.matmul(tf.ones([3, 4]), weights)
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    optimizer.apply_gradients([(tape.gradient(loss, weights), weights)])
print(f"{float(loss):.5f}")
"""


def output(name: str, hash_seed: int, *args: str, python: str = "") -> str:
    environment = {
        **os.environ, "PYTHONHASHSEED": str(hash_seed), "CUDA_VISIBLE_DEVICES": "", "TF_CPP_MIN_LOG_LEVEL": "3",
    }  # fmt: skip
    command = [python or PYTHON, name, *args]
    ran = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert ran.returncode == 0, ran.stderr[-2000:]
    return ran.stdout


needs_torch = pytest.mark.skipif(not PYTHON, reason="D9MLINT_TORCH_PYTHON names no interpreter with torch")
needs_tensorflow = pytest.mark.skipif(not TENSORFLOW, reason="D9MLINT_TF_PYTHON names no interpreter with TensorFlow")


@pytest.mark.slow
@needs_torch
@pytest.mark.parametrize("files", KNOWN.values(), ids=KNOWN.keys())
def test_runs_of_a_cured_program_are_equal(d9mlint: Callable[..., Any], files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).write_text(text)
    assert output("train.py", 1) != output("train.py", 2)
    ran = d9mlint("train.py", "--device", "cpu", "--fix", "--unsafe-fixes")
    assert "fixed" in ran.err, ran.out
    assert output("train.py", 1) == output("train.py", 2)


@pytest.mark.slow
@needs_torch
def test_workers_of_a_cured_loader_draw_other_numbers_and_the_same_in_each_run(d9mlint: Callable[..., Any]) -> None:
    Path("train.py").write_text(WORKERS)
    d9mlint("train.py", "--device", "cpu", "--target", "torch==1.8.1", "--fix", "--unsafe-fixes")
    assert "worker_init_fn=seed_worker" in Path("train.py").read_text()
    assert output("train.py", 1) == output("train.py", 2)


@pytest.mark.slow
@needs_torch
@pytest.mark.parametrize("draw", ["torch.randn(8, 4)", "torch.tensor(np.random.rand(8, 4)).float() * random.random()"])
def test_a_cured_resume_ends_where_a_run_without_a_stop_ends(d9mlint: Callable[..., Any], draw: str) -> None:
    numbers = "import random\nimport numpy as np\nrandom.seed(1)\nnp.random.seed(1)\n" if "np." in draw else ""
    Path("train.py").write_text(numbers + RESUMED.replace("torch.randn(8, 4)", draw))

    def ends() -> tuple[str, str]:
        whole = output("train.py", 1)
        output("train.py", 1, "--steps", "3")
        return whole, output("train.py", 1, "--resume")

    whole, resumed = ends()
    assert whole != resumed
    d9mlint("train.py", "--device", "cpu", "--fix", "--unsafe-fixes")
    whole, resumed = ends()
    assert whole == resumed


@pytest.mark.slow
@needs_tensorflow
@pytest.mark.parametrize("text", [GENERATORS, RACING], ids=["generators", "racing"])
def test_runs_of_a_cured_program_of_tensorflow_are_equal(d9mlint: Callable[..., Any], text: str) -> None:
    Path("train.py").write_text(text)
    first = {output("train.py", seed, python=TENSORFLOW) for seed in range(4)}
    assert len(first) > 1
    ran = d9mlint("train.py", "--device", "cpu", "--fix", "--unsafe-fixes")
    assert "fixed" in ran.err, ran.out
    assert output("train.py", 1, python=TENSORFLOW) == output("train.py", 2, python=TENSORFLOW)


@pytest.mark.slow
@needs_tensorflow
def test_an_op_that_is_replaced_computes_the_same(d9mlint: Callable[..., Any]) -> None:
    Path("train.py").write_text(LOSS)
    before = output("train.py", 1, python=TENSORFLOW)
    d9mlint("train.py", "--target", "tensorflow==2.4.1", "--device", "gpu", "--fix", "--unsafe-fixes")
    assert "tf.nn.log_softmax(logits)" in Path("train.py").read_text()
    assert output("train.py", 1, python=TENSORFLOW) == before
