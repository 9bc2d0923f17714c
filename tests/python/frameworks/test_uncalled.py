"""A layer that is never called computes nothing: where only its weights are read, its op is not met."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
TRAIN = """import torch
from torch import nn


class Codes(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(64, 64)
        self.codes = nn.Embedding(512, 64)
        self.codes.weight.data.uniform_(-1, 1)

    def forward(self, x):
        x = self.layer(x)
        {use}


torch.manual_seed(1)
net = Codes().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
for step in range(100):
    optimizer.zero_grad()
    net(torch.randn(8, 64).cuda()).sum().backward()
    optimizer.step()
torch.save(net.state_dict(), "net.pt")
"""


@pytest.mark.parametrize(
    ("use", "met"),
    [
        ("return (torch.matmul(x, self.codes.weight.t()) ** 2) @ self.codes.weight", False),
        ("return self.codes((x @ self.codes.weight.t()).argmax(1))", True),
        ("return nn.Sequential(self.codes)((x @ self.codes.weight.t()).argmax(1))", True),
        ("return getattr(self, 'codes')((x @ self.codes.weight.t()).argmax(1))", True),
        ("table = self.codes\n        return table((x @ self.codes.weight.t()).argmax(1))", True),
    ],
)
def test_a_layer_of_which_the_weights_are_read_is_not_called(d9mlint: Run, use: str, met: bool) -> None:
    Path("train.py").write_text(TRAIN.replace("{use}", use))
    told = d9mlint("train.py", "--format", "json").out
    assert ("torch.nn.Embedding" in told) is met
