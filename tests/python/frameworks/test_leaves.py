"""Whether gradients go through a function without weights, by what it is called with."""

from __future__ import annotations

import pytest

from d9mlint.catalogue import load
from d9mlint.python.batch.run import newest_target
from d9mlint.python.domain.knowledge import Knowledge
from d9mlint.python.frameworks.torch.parameters.leaves import on_data
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.judge import interpret
from d9mlint.python.project.files import Project

CATALOGUE = load()
TARGET = newest_target(["torch==2.9.0"], "gpu")
KNOWLEDGE = Knowledge(CATALOGUE.aliases, CATALOGUE.effects, TARGET)
MODULE = """\
import torch
import torch.nn.functional as F
from data import batches
net = torch.nn.Conv2d(3, 3, 3).cuda()
grid = torch.zeros(4, 8, 8, 2).cuda()
for x in batches():
    x = x.cuda()
    {lines}
    F.grid_sample(x, grid)
"""


def told(lines: str) -> bool:
    data = {"train.py": MODULE.replace("{lines}", lines.replace("\n", "\n    ")).encode()}
    program = Program(interpret(Project(data.get), "train.py", ("",), KNOWLEDGE, TARGET, None), TARGET, KNOWLEDGE)
    (call,) = (e for e in program.events if e.name == "torch.nn.functional.grid_sample")
    return id(call) in on_data(program)


@pytest.mark.parametrize(
    "lines",
    [
        "pass",
        "x = F.interpolate(x, scale_factor=2)",
        "x = torch.cat([x.float() / 255, torch.rand(4, 3, 8, 8).cuda()], dim=0)",
        "x = torch.as_tensor(x, device='cuda').float() * torch.rand(4, 1, 1, 1, device='cuda')",
        "kept = torch.zeros(4, 3, 8, 8)\nkept[:, 0] = x.cuda()\nx = kept",
        "x = torch.ones(4, 3, 8, 8).add_(torch.rand(4, 3, 8, 8))",
    ],
)
def test_data(lines: str) -> None:
    assert told(lines)


@pytest.mark.parametrize(
    "lines",
    [
        "x = net(x)",
        "x = x.requires_grad_()",
        "x = torch.as_tensor(x)\nx.requires_grad = True",
        "x = torch.rand(4, 3, 8, 8, requires_grad=True)",
        "x = F.interpolate(net(x), scale_factor=2)",
        "x = torch.cat([x, net(x)])",
        "x = x.float() + net(x)",
        "kept = torch.zeros(4, 3, 8, 8)\nkept[:, 0] = net(x)\nx = kept",
        "x = torch.zeros(4, 3, 8, 8)\nx.add_(net(x))",
        "x = torch.load('x.pt')",
        "x = x.to(net.weight.dtype)\nx = other(x)",
    ],
)
def test_what_may_need_gradients(lines: str) -> None:
    assert not told(lines)
