"""The determinism plan: what a program does, without any judgement."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conftest import validate

TRAIN = """import argparse
import glob
import numpy as np
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--seed", type=int)
parser.add_argument("--fast", action="store_true")
args = parser.parse_args()
if args.seed is not None:
    torch.manual_seed(args.seed)
if args.fast:
    torch.backends.cudnn.benchmark = True
files = glob.glob("data/*.npy")
order = np.random.permutation(len(files))
net = torch.nn.Linear(4, 1)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for x in torch.utils.data.DataLoader(files, shuffle=True, num_workers=2):
    net(x).sum().backward()
    optimizer.step()
"""


def test_a_page_to_check_by_hand(d9mlint: Callable[..., Any]) -> None:
    Path("train.py").write_text(TRAIN)
    lines = d9mlint("train.py", "--plan").out.split("\n")
    assert lines[0] == "determinism plan of train.py"
    text = " ".join(" ".join(lines).split())
    for told in (
        "NumPy's global generator nothing seeds it the first draw is that of `numpy.random.permutation`: an order or a choice "
        "(train.py:15)",
        "PyTorch's global generator `torch.manual_seed` seeds it with `--seed` (train.py:11), when --seed is given",
        "the first draw is that of `torch.nn.Linear`: initial weights (train.py:16)",
        "PyTorch's deterministic algorithms off: nothing in the program turns them on",
        "`torch.backends.cudnn.benchmark` is set to true (train.py:13), when --fast is given",
        "`torch.utils.data.DataLoader` with `shuffle=True` and `num_workers=2` (train.py:18)",
        "`glob.glob` gives names in no promised order (train.py:14)",
    ):
        assert told in text


def test_the_plan_in_json(d9mlint: Callable[..., Any]) -> None:
    Path("train.py").write_text(TRAIN)
    told = d9mlint("train.py", "--plan", "--format", "json").json
    validate(told, "check")
    rows = told["plans"]["train.py"]
    assert {row["section"] for row in rows} == {"generators", "switches", "data"}
    seed = next(row for row in rows if "--seed" in row["text"])
    assert (seed["path"], seed["line"], seed["when"]) == ("train.py", 11, ["--seed is given"])
    assert "plans" not in d9mlint("train.py", "--format", "json").json


def test_places_in_notebooks_are_cells(d9mlint: Callable[..., Any]) -> None:
    cells = [{"cell_type": "code", "source": [text], "outputs": [], "metadata": {}, "execution_count": None}
             for text in ("import torch", "torch.manual_seed(1)")]  # fmt: skip
    Path("n.ipynb").write_text(json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
    assert "seeds it with `1` (n.ipynb:cell 2:1)" in d9mlint("n.ipynb", "--plan").out


def test_one_place_in_two_ways_is_one_row(d9mlint: Callable[..., Any]) -> None:
    Path("train.py").write_text(
        "import random\nimport sys\n\n\ndef seed():\n    random.seed(1)\n\n\n"
        "if len(sys.argv) > 1:\n    seed()\nelse:\n    seed()\nprint(random.random())\n"
    )
    rows = d9mlint("train.py", "--plan", "--format", "json").json["plans"]["train.py"]
    assert [(row["text"], row["when"]) for row in rows if "seeds" in row["text"]] == [
        ("`random.seed` seeds it with `1`", [])
    ]
