"""Trainers of PyTorch Lightning 1 that are made of the command line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

PROGRAM = """import argparse

import pytorch_lightning as pl
import torch


class Net(pl.LightningModule):
    def __init__(self, layer):
        super().__init__()
        self.conv = layer(3, 3, 3)

    def training_step(self, batch, number):
        return self.conv(batch).sum()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)

    def train_dataloader(self):
        return torch.utils.data.DataLoader(torch.ones(10, 3, 8, 8))


parser = argparse.ArgumentParser()
parser.add_argument("--kind", default="deep", choices=["deep", "flat"])
args = pl.Trainer.add_argparse_args(parser).parse_args()
pl.seed_everything(1)
Layer, other = {"deep": (torch.nn.Conv2d, torch.nn.Linear), "flat": (torch.nn.Conv1d, torch.nn.Linear)}[args.kind]
pl.Trainer.from_argparse_args(args, max_steps=3).fit(Net(Layer))
"""


def test_the_switch_is_a_flag(d9mlint: Callable[..., Any]) -> None:
    Path("train.py").write_text(PROGRAM)
    found = d9mlint("train.py").out
    assert "`torch.nn.Conv2d`" in found and "when: --deterministic is not given" in found, found


@pytest.mark.parametrize("arguments", [["--deterministic"], ["--gpus", "2", "--deterministic"]])
def test_given_it_is_on(d9mlint: Callable[..., Any], arguments: list[str]) -> None:
    Path("train.py").write_text(PROGRAM)
    assert d9mlint("train.py", "--", *arguments).code == 0
