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
class Blur(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("kernel", torch.eye(3).view(1, 1, 3, 3))
        self.register_parameter("weight", torch.nn.Parameter(torch.eye(3).view(1, 1, 3, 3)))
blur = Blur()
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
        "x = net(x).detach()",
        "x = net(x).detach() * 2 + x",
        "with torch.no_grad():\n    x = F.relu(net(x))",
        "grid = net(x)",
        "x = F.conv2d(x, blur.kernel)",
    ],
)
def test_data(lines: str) -> None:
    assert told(lines)


@pytest.mark.parametrize(
    "lines",
    [
        "x = net(x)",
        "x = x.requires_grad_()",
        "x = net(x).detach().requires_grad_()",
        "x = net(x).detach() + net(x)",
        "x = F.conv2d(x, blur.weight)",
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


LAYERS = """\
import torch
encoder, net = torch.nn.Conv2d(3, 3, 3).cuda(), torch.nn.Conv2d(3, 3, 3).cuda()
x = torch.rand(4, 3, 8, 8, device="cuda").requires_grad_()
y = net(x) * encoder(torch.rand(4, 3, 8, 8, device="cuda"))
{gradients}
"""


@pytest.mark.parametrize(
    ("gradients", "expected"),
    [
        ("seen = torch.autograd.grad(y.sum(), [x])", [True, False]),
        ("seen = torch.autograd.grad(y.sum(), [*encoder.parameters()])", [False, False]),
        ("seen = torch.autograd.grad(y.sum(), [x])\ny.sum().backward()", [False, False]),
    ],
)
def test_gradients_by_inputs_alone(gradients: str, expected: list[bool]) -> None:
    data = {"train.py": LAYERS.replace("{gradients}", gradients).encode()}
    program = Program(interpret(Project(data.get), "train.py", ("",), KNOWLEDGE, TARGET, None), TARGET, KNOWLEDGE)
    made = [e for e in program.events if e.name == "torch.nn.Conv2d"]
    assert [id(e) in on_data(program) for e in made] == expected


FORWARD = """\
import torch
import torch.nn.functional as F
from data import batches
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.Conv2d(3, 3, 3)
    def forward(self, x):
        x = x["image"]
        return F.grid_sample(F.grid_sample(x, self.conv(x)) + self.conv(x), x)
net = Net().cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net = torch.nn.DataParallel(net)
for x in batches():
    {call}
"""


@pytest.mark.parametrize(
    ("call", "expected"),
    [
        ("net(x)", [True, False]),
        ("net(x.cuda())", [True, False]),
        ("net(other(x))", [False, False]),
    ],
)
def test_what_a_network_is_given(call: str, expected: list[bool]) -> None:
    """What nothing is known of is data where it is moved to a GPU, or spread over several, also behind a parameter."""
    data = {"train.py": FORWARD.replace("{call}", call).encode()}
    program = Program(interpret(Project(data.get), "train.py", ("",), KNOWLEDGE, TARGET, None), TARGET, KNOWLEDGE)
    made = [e for e in program.events if e.name.endswith("grid_sample") and not e.deferred]
    assert [id(e) in on_data(program) for e in made] == expected
    assert all(id(e) in on_data(program) for e in program.events if e.name.endswith("grid_sample") and e.deferred)
