"""Networks inside wrappers, datasets whose base reads them, and transforms that are set or repeated."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

NOISE = """
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x) + torch.randn(4)

torch.manual_seed(1)
net = {wrapper}(Net())
optimizer = torch.optim.SGD(net.parameters(), 0.1)
state = torch.load("last.pt")
optimizer.load_state_dict(state["optimizer"])
for step in range(10):
    optimizer.zero_grad()
    {call}.sum().backward()
    optimizer.step()
    torch.save({{"model": net.{inner}state_dict(), "optimizer": optimizer.state_dict()}}, "last.pt")
"""


@pytest.mark.parametrize(
    ("wrapper", "inner"),
    [("torch.nn.DataParallel", "module."), ("torch.nn.parallel.DistributedDataParallel", "module."), ("torch.nn.Sequential", "")],
)  # fmt: skip
def test_a_wrapper_runs_its_network_where_it_is_called(d9mlint: Run, wrapper: str, inner: str) -> None:
    Path("train.py").write_text(NOISE.format(wrapper=wrapper, call="net(torch.ones(8, 4))", inner=inner))
    found = d9mlint("train.py", "--format", "json", "--select", "rng-not-checkpointed").json["findings"]
    drawn = [related["line"] for one in found for related in one["related"] if "draws" in related["note"]]
    assert drawn == [10]


def test_a_wrapper_that_is_handed_on_runs_its_network_at_some_time(d9mlint: Run) -> None:
    text = NOISE.format(wrapper="torch.nn.DataParallel", call="engine.run(net)", inner="module.")
    Path("train.py").write_text(f"import engine\n{text.replace('torch.manual_seed(1)', '')}")
    (found,) = d9mlint("train.py", "--format", "json", "--select", "unseeded-torch").json["findings"]
    assert 11 in [found["line"], *(related["line"] for related in found["related"])]


DATA = """
import random
import sys
import torch
from torchvision import datasets, transforms
from torch_geometric.data import InMemoryDataset

class Blur:
    def __call__(self, image):
        return random.random()

class Graphs(InMemoryDataset):
    def __init__(self, root, transform=None):
        super().__init__(root, transform)

class Many(datasets.ImageFolder):
    def __init__(self, root, counts):
        super().__init__(root)
        self.blurs = []
        for count in counts:
            self.blurs.extend([transforms.Compose([Blur()])] * count)

    def __getitem__(self, index):
        return list(map(lambda blur: blur(self.samples[index]), self.blurs))

torch.manual_seed(1)
data = {data}
{later}
for batch in torch.utils.data.DataLoader(data, num_workers={workers}):
    torch.save(batch, "batch.pt")
"""


@pytest.mark.parametrize(
    ("data", "later"),
    [
        ("Graphs('graphs', transform=Blur())", ""),
        ("datasets.ImageFolder('images')", "data.transform = transforms.Compose([Blur()])"),
        ("Many('images', map(int, sys.argv[1:]))", ""),
    ],
)
@pytest.mark.parametrize("workers", [0, 2])
def test_transforms_run_where_the_loader_reads(d9mlint: Run, data: str, later: str, workers: int) -> None:
    Path("train.py").write_text(DATA.format(data=data, later=later, workers=workers))
    found = d9mlint("train.py", "--format", "json", "--select", "partial-seed").json["findings"]
    assert [one["line"] for one in found] == ([] if workers else [10])  # workers seed `random` from PyTorch's generator


OWN_WRAPPER = """
import torch
from torch.nn.parallel.data_parallel import DataParallel

class Spread(DataParallel):
{body}

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = torch.nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x) + torch.randn(4)

net = Net()
torch.manual_seed(1)
optimizer = torch.optim.SGD(net.parameters(), 0.1)
state = torch.load("last.pt")
optimizer.load_state_dict(state["optimizer"])
spread = Spread({given})
for step in range(10):
    optimizer.zero_grad()
    spread(torch.ones(8, 4)).sum().backward()
    optimizer.step()
    torch.save({{"model": net.state_dict(), "optimizer": optimizer.state_dict()}}, "last.pt")
"""
"""A network inside of a class of the program that is derived from a wrapper, by the module that it stands in."""


@pytest.mark.parametrize(
    ("body", "given"),
    [
        ("    pass", "net"),
        ("    def replicate(self, module, ids):\n        return super().replicate(module, ids)", "net, device_ids=[0]"),
        ("    def __init__(self, first, module):\n        super().__init__(module)", "3, net"),
        ("    def __init__(self, *args, **kwargs):\n        super().__init__(*args, **kwargs)", "module=net"),
        ("    def __init__(self, module):\n        DataParallel.__init__(self, module)", "net"),
        ("    def forward(self, x):\n        return self.module(x)", "net"),
        ("    def forward(self, *given):\n        return super().forward(*given)", "net"),
        ("    def forward(self, x):\n        return DataParallel.forward(self, x)", "net"),
        ("    def __call__(self, x):\n        return super(Spread, self).__call__(x)", "net"),
    ],
)
def test_what_is_derived_from_a_wrapper_is_called_like_its_network(d9mlint: Run, body: str, given: str) -> None:
    text = OWN_WRAPPER.format(body=body, given=given)
    Path("train.py").write_text(text)
    found = d9mlint("train.py", "--format", "json", "--select", "rng-not-checkpointed").json["findings"]
    drawn = [related["line"] for one in found for related in one["related"] if "draws" in related["note"]]
    assert drawn == [1 + text.split("\n").index("        return self.linear(x) + torch.randn(4)")]


PRINTED = """import engine
import torch

class Noise(torch.nn.Module):
    def forward(self, x):
        return x + torch.randn(4)

{said}
"""


@pytest.mark.parametrize(("said", "drawn"), [("print(Noise())", []), ("engine.run(Noise())", [6])])
def test_to_print_a_network_runs_nothing_of_it(d9mlint: Run, said: str, drawn: list[int]) -> None:
    Path("train.py").write_text(PRINTED.format(said=said))
    found = d9mlint("train.py", "--format", "json", "--select", "unseeded-torch").json["findings"]
    assert [one["line"] for one in found] == drawn
