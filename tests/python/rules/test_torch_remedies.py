"""What `missing-torch-determinism` tells to do: where the program, its trainer and its processes want it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
SWITCH = "call `torch.use_deterministic_algorithms(True)`"
TRAIN = """import torch

torch.manual_seed(1)
net = {net}.cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.load("x.pt").cuda()).sum().backward()
optimizer.step()
"""
TRAINER = """import torch
from lightning import LightningModule, Trainer


class Net(LightningModule):
    def __init__(self):
        super().__init__()
        self.body = torch.nn.Conv2d(3, 8, 3)

    def training_step(self, batch, index):
        return self.body(batch).mean()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), lr=0.1)


torch.manual_seed(1)
trainer = Trainer({arguments})
trainer.fit(Net(), torch.load("batches.pt"))
"""
SPAWN = """import torch
import torch.multiprocessing as mp


def work(rank):
    torch.manual_seed(rank)
    net = torch.nn.Conv2d(3, 8, 3).cuda(rank)
    net(torch.load("x.pt").cuda(rank)).sum().backward()


if __name__ == "__main__":
    mp.spawn(work, nprocs=2)
"""
UPSAMPLE = TRAIN.format(
    net='torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.Upsample(scale_factor=2, mode="bicubic"))'
)
CASES = [
    (TRAIN.format(net="torch.nn.Conv2d(3, 8, 3)"), "2.13.0", f"{SWITCH} near the start, after the seeds"),
    (TRAINER.format(arguments="max_epochs=1"), "2.13.0", "pass `deterministic=True` to `Trainer`"),
    (
        TRAINER.format(arguments="deterministic=False"),
        "2.13.0",
        "pass `deterministic=True` to `Trainer`, which gets another value here",
    ),
    (
        TRAINER.format(arguments="max_epochs=1").replace("Conv2d(3, 8, 3)", "ReflectionPad2d(1)"),
        "2.6.0",
        "pass `deterministic=True` to `Trainer`; `torch.nn.ReflectionPad2d` then raises: upgrade to PyTorch 2.7, or pad "
        'with zeros or by hand: `torch.cat` with flipped slices (or pass `deterministic="warn"`)',
    ),
    (
        TRAIN.format(net="torch.nn.LSTM(8, 8)"),
        "1.6.0",
        "set `CUBLAS_WORKSPACE_CONFIG=:4096:2` before CUDA is started, which covers `torch.nn.LSTM`",
    ),
    # the images that are resized need no gradient, so nothing raises
    (
        TRAIN.format(net="torch.nn.Conv2d(3, 8, 3)").replace(
            'net(torch.load("x.pt").cuda())',
            'net(torch.nn.functional.interpolate(torch.load("x.pt").cuda(), size=(8, 8), mode="bicubic"))',
        ),
        "2.13.0",
        f"{SWITCH} near the start, after the seeds",
    ),
    (SPAWN, "2.13.0", f"{SWITCH} at the start of `work`, which runs in processes of its own"),
    (
        UPSAMPLE,
        "2.13.0",
        f"{SWITCH} near the start, after the seeds; `torch.nn.Upsample` then raises: upgrade to PyTorch 2.15, or use "
        'mode="nearest" (or pass `warn_only=True`)',
    ),
    # one window to one value: nothing varies, but the switch refuses it
    (
        TRAIN.format(net="torch.nn.Sequential(torch.nn.Conv2d(3, 8, 3), torch.nn.AdaptiveMaxPool2d(1))"),
        "2.13.0",
        f"{SWITCH} near the start, after the seeds; `torch.nn.AdaptiveMaxPool2d` then raises: use "
        "`x.amax(dim=(-2, -1))` for an output of one value, or `torch.nn.MaxPool2d` where the size is known "
        "(or pass `warn_only=True`); only setting `torch.backends.cudnn.deterministic` to True covers "
        "`torch.nn.Conv2d`, and makes nothing raise",
    ),
    (
        TRAIN.format(net="torch.nn.Sequential(torch.nn.ReflectionPad2d(1), torch.nn.Conv2d(3, 8, 3))"),
        "2.13.0",
        f"{SWITCH} near the start, after the seeds",
    ),
    (
        TRAIN.format(net="torch.nn.LSTM(8, 8)"),
        "2.13.0",
        f"{SWITCH} near the start, after the seeds; for `torch.nn.LSTM` also set `CUBLAS_WORKSPACE_CONFIG=:4096:2` "
        "before CUDA is started",
    ),
]


@pytest.mark.parametrize(("text", "version", "remedy"), CASES)
def test_the_remedy_is_that_of_the_program(d9mlint: Run, text: str, version: str, remedy: str) -> None:
    Path("train.py").write_text(text)
    arguments = ("--format", "json", "--select", "missing-torch-determinism", "--target", f"torch=={version}")
    (finding,) = d9mlint("train.py", *arguments).json["findings"]
    assert finding["remedy"] == remedy


@pytest.mark.parametrize(
    ("stated", "variable"), [("", True), ("torch>=1.8\n", True), ("torch==1.13.1\n", True), ("torch==2.13.0\n", False)]
)
def test_what_older_releases_need_is_told_where_none_is_stated(d9mlint: Run, stated: str, variable: bool) -> None:
    Path("train.py").write_text(TRAIN.format(net="torch.nn.Conv2d(3, 8, 3)"))
    Path("requirements.txt").write_text(stated)
    (finding,) = d9mlint("train.py", "--format", "json", "--select", "missing-torch-determinism").json["findings"]
    needed = 'set `os.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"` before `import torch` and '
    assert finding["remedy"] == f"{needed if variable else ''}{SWITCH} near the start, after the seeds"


def test_an_upsampling_that_raises_cannot_only_warn_before_1_11(d9mlint: Run) -> None:
    Path("train.py").write_text(UPSAMPLE)
    arguments = ("--format", "json", "--select", "missing-torch-determinism", "--target", "torch==1.10.2")
    (finding,) = d9mlint("train.py", *arguments).json["findings"]
    assert finding["remedy"].endswith(
        '; `torch.nn.Upsample` then raises: upgrade to PyTorch 2.15, or use mode="nearest"'
    )


@pytest.mark.parametrize(
    ("net", "severity", "words"),
    [
        ("torch.nn.Conv2d(3, 8, 3)", "warning", "what `torch.nn.Conv2d` computes can differ"),
        ("torch.nn.GRU(3, 8)", "info", "what `torch.nn.GRU` computes can differ"),
        ("timm.models.vit()", "info", "what `timm.models.vit` computes (its code could not be read here) can differ"),
        ("torch.load('net.pt')", "info", "what the network computes (its code could not be read here) can differ"),
    ],
)
def test_what_can_differ_is_named(d9mlint: Run, net: str, severity: str, words: str) -> None:
    Path("train.py").write_text("import timm\n" + TRAIN.format(net=net))
    only = ("--select", "missing-torch-determinism", "--min-confidence", "low")
    (finding,) = d9mlint("train.py", "--format", "json", *only).json["findings"]
    assert (finding["severity"], words in finding["message"]) == (severity, True)


EITHER_WAY = """import argparse
import torch
import torch.multiprocessing as mp


def work(rank):
    net = torch.nn.Conv2d(3, 8, 3).cuda(rank)
    net(torch.load("x.pt").cuda(rank)).mean().backward()


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int)
    parser.add_argument("--spawn", action="store_true")
    args = parser.parse_args()
    if args.seed is not None:
        torch.manual_seed(args.seed)
        torch.backends.cudnn.deterministic = True
    if args.spawn:
        mp.spawn(work, nprocs=2)
    else:
        work(0)
"""


def test_what_the_parent_sets_does_not_reach_processes_that_are_started(d9mlint: Callable[..., Any]) -> None:
    Path("train.py").write_text(EITHER_WAY)
    (finding,) = d9mlint("train.py", "--format", "json", "--select", "missing-torch-determinism").json["findings"]
    assert finding["when"] == ["--seed is not given or --spawn is given"]
    assert "at the start of `work`, which runs in processes of its own" in finding["remedy"]


@pytest.mark.parametrize(
    ("net", "confidence", "told"),
    [("torch.nn.Transformer(64)", "medium", True), ("torch.nn.Conv2d(3, 8, 3)", "high", False)],
)
def test_attention_says_for_which_sizes_it_varies(
    d9mlint: Callable[..., Any], net: str, confidence: str, told: bool
) -> None:
    Path("train.py").write_text(TRAIN.format(net=net))
    (finding,) = d9mlint("train.py", "--format", "json", "--select", "missing-torch-determinism").json["findings"]
    sizes = "attention over long sequences"
    assert finding["confidence"] == confidence
    assert [sizes in text for text in (finding["message"], finding["related"][0]["note"])] == [told, told]


KERNEL = """import argparse
import torch
import my_kernels


class Dot(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return my_kernels.dot(x)

    @staticmethod
    def backward(ctx, grad):
        return my_kernels.dot_backward(grad, *ctx.saved_tensors)


parser = argparse.ArgumentParser()
parser.add_argument("--dot", action="store_true")
args = parser.parse_args()
net = torch.nn.Linear(3, 8).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
out = net(torch.load("x.pt").cuda())
if args.dot:
    out = Dot.apply(out)
out.mean().backward()
optimizer.step()
"""


def test_kernels_of_an_extension_have_their_own_condition_and_remedy(d9mlint: Callable[..., Any]) -> None:
    Path("train.py").write_text(KERNEL)
    (finding,) = d9mlint("train.py", "--format", "json", "--select", "missing-torch-determinism").json["findings"]
    assert finding["when"] == ["--dot is given"]
    assert (
        "what `my_kernels.dot` and `my_kernels.dot_backward` compute (its code could not be read here)"
        in finding["message"]
    )
    assert finding["remedy"].startswith("look at the sources of these kernels with `d9mlint kernels`")


UNCALLED = """import torch


class Head(torch.nn.Module):
    def forward(self, states, places):
        return states.gather(-2, places)


class Other(torch.nn.Module):
    def forward(self, states):
        return Head()(states, states.argmax())


net = torch.load("net.pt").cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
net(torch.load("x.pt").cuda()).mean().backward()
optimizer.step()
"""


def test_unlikely_ops_of_code_that_nothing_calls_are_not_named(d9mlint: Callable[..., Any]) -> None:
    Path("train.py").write_text(UNCALLED)
    only = ("--select", "missing-torch-determinism", "--min-confidence", "low")
    (finding,) = d9mlint("train.py", "--format", "json", *only).json["findings"]
    assert "what the network computes (its code could not be read here)" in finding["message"]


@pytest.mark.parametrize(
    ("framework", "seed", "remedy"),
    [
        ("torch", "torch.manual_seed(1)", "call `np.random.seed(1)` at the start, before anything is drawn"),
        ("tensorflow", "tensorflow.random.set_seed(1)", "call `tf.keras.utils.set_random_seed(1)`, which seeds Python"),
        ("random", "random.seed(1)", "call `np.random.seed(1)` at the start, before anything is drawn"),
    ],
)
def test_numpy_is_seeded_as_programs_of_its_framework_do_it(
    d9mlint: Run, framework: str, seed: str, remedy: str
) -> None:
    Path("train.py").write_text(f"import numpy as np\nimport {framework}\n\n{seed}\nnp.random.shuffle([1, 2])\n")
    (finding,) = d9mlint("train.py", "--format", "json", "--select", "partial-seed").json["findings"]
    assert finding["remedy"].startswith(remedy)


@pytest.mark.parametrize(("net", "rules"), [
    ("torch.nn.Conv2d(3, 8, 3)", {"missing-torch-determinism", "nondeterministic-op"}),
    ("torch.nn.Embedding(3, 8)", {"nondeterministic-op"}),  # no setting helps, as is told of the op
])  # fmt: skip
def test_a_setting_of_cudnn_is_a_cure_where_pytorch_has_no_switch(d9mlint: Run, net: str, rules: set[str]) -> None:
    Path("train.py").write_text(TRAIN.format(net=f"torch.nn.Sequential({net}, torch.nn.ReflectionPad2d(1))"))
    arguments = ("--select", "missing-torch-determinism,nondeterministic-op", "--target", "torch==1.4.0")
    findings = d9mlint("train.py", "--format", "json", *arguments).json["findings"]
    assert {finding["rule"] for finding in findings} == rules
    for finding in findings:
        if finding["rule"] == "missing-torch-determinism":
            assert finding["severity"] == "warning"
            assert finding["remedy"].startswith("set `torch.backends.cudnn.deterministic = True`, which covers cuDNN")


@pytest.mark.parametrize("train", ["loss.backward()", "optimizer.step(lambda: loss.backward())"])
def test_a_framework_that_only_logs_gives_no_remedy(d9mlint: Run, train: str) -> None:
    Path("train.py").write_text(
        "import random\nimport tensorflow as tf\nimport torch\nfrom torchvision import transforms\n\nrandom.seed(1)\n"
        "flip = transforms.RandomHorizontalFlip()\nnet = torch.nn.Linear(2, 2)\n"
        "optimizer = torch.optim.LBFGS(net.parameters())\nloss = net(flip(torch.load('x.pt'))).sum()\n"
        f"{train}\ntf.summary.scalar('loss', loss.item())\n"
    )
    found = d9mlint("train.py", "--format", "json", "--select", "partial-seed").json["findings"]
    assert found
    assert all("`torch.manual_seed(1)`" in finding["remedy"] for finding in found)


RESIZED = TRAIN.format(net="torch.nn.Upsample(scale_factor=2, mode='bilinear')")
SWITCHED = "torch.use_deterministic_algorithms(True)"
SOLVED = RESIZED + "torch.solve(torch.ones(3, 1), torch.eye(3))\n"


@pytest.mark.parametrize(
    ("text", "stated", "told"),
    [
        (RESIZED, "torch==1.13.1", "Upgrade to PyTorch 2.1 and turn on `torch.use_deterministic_algorithms`, or use"),
        (f"import torch\n{SWITCHED}\n{RESIZED}", "torch==1.13.1", "Upgrade to PyTorch 2.1, or use"),
        (
            SOLVED,
            "",
            "Upgrade to PyTorch 2.1 (for which `torch.solve` (train.py:8) has to be changed: 1.11.0 is the last that takes "
            "it) and turn on",
        ),
        (RESIZED, "python_requires", "Upgrade to PyTorch 2.1 (which needs a newer Python than 3.7) and turn on"),
        (RESIZED, "torch==1.6.0", "upgrade to 2.1 and turn on `torch.use_deterministic_algorithms`, or run"),
    ],
)  # fmt: skip
def test_a_newer_release_is_told_with_what_it_needs(d9mlint: Run, text: str, stated: str, told: str) -> None:
    Path("train.py").write_text(text)
    Path("requirements.txt").write_text(stated if "==" in stated else "")
    if stated == "python_requires":
        Path("environment.yml").write_text("dependencies:\n  - python=3.7\n")
    (finding,) = d9mlint("train.py", "--format", "json", "--select", "nondeterministic-op,op-raises").json["findings"]
    assert told in finding["remedy"]


INFERRED = """import torch

x = torch.load("x.pt").cuda()
print(x.scatter_add_(0, torch.load("i.pt").cuda(), x){also})
"""


@pytest.mark.parametrize(
    ("also", "more"),
    [("", ""), (", torch.histc(x)", "; `torch.histc` then raises: use `torch.bucketize`")],
)
def test_what_else_the_switch_makes_raise_is_told_where_nothing_is_trained(d9mlint: Run, also: str, more: str) -> None:
    Path("run.py").write_text(INFERRED.format(also=also))
    arguments = ("--format", "json", "--select", "nondeterministic-op", "--target", "torch==2.13.0")
    (finding,) = d9mlint("run.py", *arguments).json["findings"]
    assert finding["remedy"].startswith(f"Call `torch.use_deterministic_algorithms(True)` before the first op{more}")
    assert ("raises" in finding["remedy"]) is bool(more)


SAMPLED = """import torch

torch.manual_seed(1)
net = torch.nn.Conv2d(3, 8, 3).cuda()
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
pixels = net(torch.load("x.pt").cuda())
torch.nn.functional.grid_sample(pixels, torch.load("grid.pt").cuda()).sum().backward()
optimizer.step()
"""


@pytest.mark.parametrize(("more", "around"), [("", False), (f"{SWITCHED}\n", True)])
def test_a_mode_that_is_off_is_not_told_to_be_left(d9mlint: Run, more: str, around: bool) -> None:
    Path("train.py").write_text(f"import torch\n{more}{SAMPLED}")
    arguments = ("--format", "json", "--select", "nondeterministic-op,op-raises", "--target", "torch==1.13.1")
    (finding,) = d9mlint("train.py", *arguments).json["findings"]
    assert finding["remedy"].startswith("Sample on the CPU")
    assert ("leave deterministic mode around this op" in finding["remedy"]) is around


PADDED = """import torch

torch.manual_seed(1)
net = torch.nn.Conv{axes}d(3, 8, 3).cuda()
torch.nn.functional.pad(net(torch.load("x.pt").cuda()), {sides}, mode="reflect").sum().backward()
"""


@pytest.mark.parametrize(
    ("axes", "sides", "told"),
    [(1, (2, 2), "raises: pad with zeros or by hand"), (2, (1, 1, 1, 1), "raises: upgrade to PyTorch 2.7")],
)
def test_no_release_is_told_to_reflect_along_one_axis(d9mlint: Run, axes: int, sides: tuple[int], told: str) -> None:
    Path("train.py").write_text(PADDED.format(axes=axes, sides=sides))
    arguments = ("--format", "json", "--select", "missing-torch-determinism", "--target", "torch==2.4.1")
    (finding,) = d9mlint("train.py", *arguments).json["findings"]
    assert told in finding["remedy"]
