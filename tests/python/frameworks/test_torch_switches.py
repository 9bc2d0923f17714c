"""PyTorch programs: what runs on a GPU, what is a tensor, which conditions about the device say nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
TRAIN = """import argparse
import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="cuda")
parser.add_argument("--no-cuda", action="store_true")
args = parser.parse_args()
torch.manual_seed(1)
net = nn.Conv2d(3, 8, 3)
{move}
net(torch.load("x.pt")).sum().backward()
print(net.weight.grad)
"""
MOVES = {
    "net.cuda()": ([], True),
    "net.to('cuda:0')": ([], True),
    "net.to(torch.device(0))": ([], True),
    "net.to(args.device)": (["--device is not cpu"], True),
    "net.to('cuda' if torch.cuda.is_available() else 'cpu')": ([], True),
    "net.to('cuda' if not args.no_cuda and torch.cuda.is_available() else 'cpu')": (["--no-cuda is not given"], True),
    "net = nn.DataParallel(net)": ([], True),
    "torch.set_default_device('cuda')": ([], True),
    "torch.cuda.set_device(0)\nif not args.no_cuda:\n    net.cuda()": (["--no-cuda is not given"], True),
    "torch.distributed.init_process_group('nccl')\nnet.to('cpu' if args.no_cuda else 'cuda')": (
        ["--no-cuda is not given"],
        True,
    ),
    "import os\nif not args.no_cuda and os.environ['RANK'] != '3':\n    net.cuda()": (["--no-cuda is not given"], True),
    "torch.distributed.init_process_group('nccl')": ([], True),
    "torch.cuda.manual_seed_all(1)": ([], False),
    "torch.cuda.empty_cache()": ([], False),
    "net.to('cpu')": ([], False),
    "net.to(torch.float64)": ([], False),
    "net.to('mps')": ([], False),
    "net.float()": ([], False),
    "import os; os.environ['CUDA_VISIBLE_DEVICES'] = ''; net.cuda()": ([], False),
}


@pytest.mark.parametrize("move", MOVES)
def test_a_program_runs_on_a_gpu_if_it_moves_something_there(d9mlint: Run, move: str) -> None:
    Path("train.py").write_text(TRAIN.format(move=move))
    when, told = MOVES[move]
    found = d9mlint("train.py", "--format", "json", "--select", "missing-torch-determinism").json["findings"]
    assert [f["when"] for f in found] == ([when] if told else [])


def test_a_device_of_the_command_line_decides(d9mlint: Run) -> None:
    Path("train.py").write_text(TRAIN.format(move="net.to(args.device)"))
    select = ("--select", "missing-torch-determinism")
    assert d9mlint("train.py", *select, "--", "--device", "cpu").code == 0
    assert d9mlint("train.py", *select, "--", "--device", "cuda:1").code == 1
    assert d9mlint("train.py", *select, "--device", "cpu").code == 0


COMMANDS = """import argparse
import torch

parser = argparse.ArgumentParser()
commands = parser.add_subparsers(dest="command")
train = commands.add_parser("train")
train.add_argument("--accel", action="store_true")
train.add_argument("--epochs", type=int, default=1)
judge = commands.add_parser("eval")
judge.add_argument("--accel", action="store_true")
args = parser.parse_args()
torch.manual_seed(1)
net = torch.nn.Conv2d(3, 8, 3)
if args.accel:
    net.cuda()
for epoch in range(args.epochs):
    net(torch.load("x.pt")).sum().backward()
"""


def test_flags_of_subcommands_decide(d9mlint: Run) -> None:
    Path("train.py").write_text(COMMANDS)
    select = ("--select", "missing-torch-determinism")
    (finding,) = d9mlint("train.py", "--format", "json", *select).json["findings"]
    assert finding["when"] == ["--accel is given"]
    assert d9mlint("train.py", *select, "--", "train", "--epochs", "3").code != 2
    # the same name with another meaning in each
    judged = 'judge.add_argument("--accel", '
    Path("train.py").write_text(COMMANDS.replace(f'{judged}action="store_true"', f"{judged}default=0"))
    (finding,) = d9mlint("train.py", "--format", "json", *select).json["findings"]
    words = "--accel is given and command is train or --accel is set and command is eval"
    assert finding["when"] == [words]


TENSORS = {
    "torch.relu(torch.load('x.pt')).histc(4)": False,  # counts
    "nn.Linear(3, 3)(torch.ones(3)).cumsum(0)": True,
    "(nn.Linear(3, 3)(torch.ones(3)) * 2)[0].cumsum(0)": True,
    "nn.LSTM(3, 3)(torch.ones(3))[0].cumsum(0)": True,
    "nn.Linear(3, 3).cuda()(torch.ones(3)).cumsum(0)": True,
    "nn.Linear(3, 3)(torch.ones(3)).long().cumsum(0)": False,
    "nn.Linear(3, 3)(torch.ones(3)).cumsum(0, dtype=torch.int64)": False,
    "nn.Linear(3, 3)(torch.ones(3)).numpy().cumsum(0)": False,
    "nn.Linear(3, 3)(torch.ones(3)).cpu().cumsum(0)": False,
    "y.cumsum(0)": False,
    "y.histc(4)": False,
    "y.index_add_(0, i, y)": True,
    "y.index_add_(0, torch.arange(3), y)": False,
    "y.index_add_(0, torch.randperm(3).cuda(), y)": False,
    "y.scatter_add_(0, i, torch.ones(3))": False,
    "y.scatter_add_(0, i.unsqueeze(1), y)": True,
    "y.scatter_add_(1, i.unsqueeze(1), y)": False,
    "nn.AdaptiveAvgPool2d((1, 1))": False,
    "nn.AdaptiveAvgPool2d((7, 7))": True,
    "nn.functional.adaptive_avg_pool2d(y, 1)": False,
    "nn.functional.adaptive_avg_pool2d(nn.Linear(3, 3)(y), 2)": True,
}


@pytest.mark.parametrize("use", TENSORS)
def test_ops_are_met_on_tensors_and_where_they_can_vary(d9mlint: Run, use: str) -> None:
    loop = f"for i, y in torch.load('x.pt'):\n    y = y.cuda()\n    z = {use}\n    z.sum().backward()\n"
    Path("train.py").write_text(f"import torch\nimport torch.nn as nn\n{loop}")
    found = d9mlint("train.py", "--format", "json", "--select", "nondeterministic-op", "--target", "torch==2.4.1")
    assert [f["line"] for f in found.json["findings"]] == ([5] if TENSORS[use] else [])


def test_parameters_are_tensors_where_the_program_says_so(d9mlint: Run) -> None:
    text = """import torch
from torch import Tensor, nn


class Net(nn.Module):
    def forward(self, x, mask=None):
        return x.bincount(weights=x), mask


def count(rows: Tensor, others):
    return rows.bincount(weights=rows), others.bincount(weights=others)


net = nn.DataParallel(Net())
for batch in torch.load("x.pt"):
    count(batch.cuda(), batch)
"""
    Path("train.py").write_text(text)
    found = d9mlint("train.py", "--format", "json", "--select", "nondeterministic-op").json["findings"]
    assert [told(f) for f in found] == [[7, 11]]


def told(finding: dict[str, Any]) -> list[int]:
    """The lines of a finding and of those of its cause."""
    return [finding["line"], *(place["line"] for place in finding["related"] if "rule" in place)]


TESTS = {
    "if device == 'cuda':\n    torch.manual_seed(1)": ["is never true"],
    "if device != 'cuda':\n    pass\nelse:\n    torch.manual_seed(1)": ["is always true"],
    "if torch.cuda.is_available:\n    pass\nelse:\n    torch.manual_seed(1)": ["is always true"],
    "if not torch.cuda.is_available:\n    torch.manual_seed(1)": ["is never true"],
    "if torch.cuda.is_available:\n    torch.manual_seed(1)": [],
    "if device.type == 'cuda':\n    torch.manual_seed(1)": [],
    "if device == torch.device('cuda'):\n    torch.manual_seed(1)": [],
    "if device == 'cuda':\n    print(1)": [],
    "if str(device) == 'cuda':\n    torch.manual_seed(1)": [],
}


@pytest.mark.parametrize("test", TESTS)
def test_conditions_that_say_nothing_are_told_where_a_seed_is_lost(d9mlint: Run, test: str) -> None:
    Path("train.py").write_text(f"import torch\ndevice = torch.device('cuda')\n{test}\n")
    found = d9mlint("train.py", "--format", "json", "--select", "constant-device-test").json["findings"]
    assert len(found) == len(TESTS[test])
    assert all(words in f["message"] for f, words in zip(found, TESTS[test], strict=True))


@pytest.mark.parametrize(("default", "told"), [("False", "torch.nn.ConvTranspose2d"), ("True", "torch.nn.Upsample")])
def test_ops_that_exclude_each_other_are_not_named_together(d9mlint: Run, default: str, told: str) -> None:
    Path("train.py").write_text(f"""import argparse
import torch
import torch.nn as nn

parser = argparse.ArgumentParser()
parser.add_argument("--bilinear", type=bool, default={default})
args = parser.parse_args()
torch.manual_seed(1)
up = nn.Upsample(scale_factor=2, mode="bilinear") if args.bilinear else nn.ConvTranspose2d(3, 3, 2, stride=2)
net = nn.Sequential(nn.Linear(8, 8), up).cuda()
net(torch.load("x.pt").cuda()).sum().backward()
""")
    (found,) = d9mlint("train.py", "--format", "json", "--select", "missing-torch-determinism").json["findings"]
    named = [name for name in ("torch.nn.Upsample", "torch.nn.ConvTranspose2d") if name in found["message"]]
    assert named == [told]


UNSEEN = """import argparse
import importlib
import torch


class Model:
    def __init__(self, net):
        self.net = net.{move}

    def test(self, x):
        return self.net(x)


parser = argparse.ArgumentParser()
parser.add_argument("--several", action="store_true")
parser.add_argument("--model", default="Model")
args = parser.parse_args()
if args.several:
    torch.cuda.set_device(0)
torch.backends.cudnn.benchmark = True
model = getattr(importlib.import_module("models." + args.model), args.model)()
model.test(torch.load("x.pt"))
"""


@pytest.mark.parametrize(("move", "when"), [("cuda()", []), ("float()", ["--several is given"])])
def test_several_processes_are_no_condition_where_unseen_code_moves_to_a_gpu(
    d9mlint: Run, move: str, when: list[str]
) -> None:
    Path("test.py").write_text(UNSEEN.format(move=move))
    found = d9mlint("check", "--format", "json", "--select", "cudnn-benchmark", "test.py").json["findings"]
    assert [one["when"] for one in found] == [when]


HANDED = """import torch
from torch import nn


class Update(nn.Module):
    def __init__(self, net):
        super().__init__()
        self.net = net

    def forward(self, loss, some=False):
        if some:
            return torch.autograd.grad(loss, [p for p in self.net.parameters() if p.requires_grad])
        else:
            return torch.autograd.grad(loss, list(self.net.parameters()))  # the one that runs


torch.manual_seed(1)
net = nn.Conv2d(3, 8, 3).cuda()
update = Update(net)
update.zero_grad()
x = torch.load("x.pt").cuda()
torch.save(update(net(x).sum()), "gradients.pt")
"""


def test_what_the_program_calls_leads_before_what_a_library_may_call(d9mlint: Run) -> None:
    Path("train.py").write_text(HANDED)
    run = d9mlint("check", "--format", "json", "--select", "missing-torch-determinism", "train.py")
    (finding,) = run.json["findings"]
    assert "the one that runs" in HANDED.splitlines()[finding["line"] - 1]


LIGHTNING = """import sys
import pytorch_lightning as pl
import torch
import yaml

cfg = yaml.safe_load(open(sys.argv[1]))


class Net(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Conv2d(3, 3, 3)

    def training_step(self, batch, index):
        return self.body(batch).sum()


torch.manual_seed(1)
torch.backends.cudnn.benchmark = True
trainer = pl.Trainer(accelerator="gpu", benchmark={given})
trainer.fit(Net(), torch.utils.data.DataLoader(torch.zeros(3, 3, 8, 8)))
"""


@pytest.mark.parametrize(("given", "again"), [('cfg.get("benchmark", True)', True), ("None", False)])
def test_a_trainer_that_sets_benchmark_once_more_is_named(d9mlint: Run, given: str, again: bool) -> None:
    Path("train.py").write_text(LIGHTNING.replace("{given}", given))
    (found,) = d9mlint("check", "--format", "json", "--select", "cudnn-benchmark", "train.py").json["findings"]
    assert ("pass `benchmark=False` to the trainer" in found["remedy"]) is again
    assert [one["line"] for one in found["related"]] == ([20] if again else [])


SEVERAL = """import argparse
import torch
import torchvision

parser = argparse.ArgumentParser()
parser.add_argument("--backbone", default="resnet34")
args = parser.parse_args()
torch.manual_seed(1)
if args.backbone == "custom":
    net = torch.nn.Conv2d(3, 8, 3)
else:
    net = {other}
net = net.cuda()
optimizer = torch.optim.SGD(net.parameters(), 0.1)
for x in torch.load("x.pt"):
    net(x).sum().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("other", "when"),
    [
        ("getattr(torchvision.models, args.backbone)()", []),
        ("torchvision.models.resnet34()", []),
        ("torch.nn.Linear(3, 8)", ["--backbone is custom"]),
    ],
)
def test_a_network_that_is_not_seen_varies_as_well_as_one_that_is(d9mlint: Run, other: str, when: list[str]) -> None:
    Path("train.py").write_text(SEVERAL.format(other=other))
    (found,) = d9mlint("train.py", "--format", "json", "--select", "missing-torch-determinism").json["findings"]
    assert found["when"] == when


ENDS = """import torch

torch.manual_seed(1)
net = torch.nn.Conv2d(3, 8, 3).cuda()
loss = net(torch.load("x.pt").cuda()).sum()
print(loss)
loss.backward()
"""


@pytest.mark.parametrize(("more", "severity"), [("", "info"), ("print(net.weight.grad)\n", "warning")])
def test_gradients_that_a_program_ends_with_cost_little(d9mlint: Run, more: str, severity: str) -> None:
    Path("train.py").write_text(ENDS + more)
    (found,) = d9mlint("train.py", "--format", "json", "--select", "missing-torch-determinism").json["findings"]
    assert found["severity"] == severity
