"""Conditions of places that several ways lead to, and of settings that a later one takes back."""

from __future__ import annotations

import pytest

from tests.python.judging.test_conditions import found, when

SAMPLES = """
def draw(logits):
    return torch.multinomial(logits, 1)

def run(unconditional):
    if not unconditional:
        return draw(torch.load("by_class.pt"))
    return {other}

def main():
    print(run(settings()["unconditional"]).sum().item())
"""
CONVOLVES = """
    net = torch.nn.Conv2d(3, 8, 3).cuda()
    net(torch.load("images.pt").cuda()).sum().backward()
"""


def test_a_draw_in_both_branches_of_a_setting_needs_neither() -> None:
    assert when(SAMPLES.format(other='draw(torch.load("all.pt"))'), "unseeded-torch") == [()]


def test_draws_of_which_one_is_made_whatever_the_settings_need_none() -> None:
    assert when(SAMPLES.format(other='torch.randn(8) * torch.load("all.pt")'), "unseeded-torch") == [()]


def test_a_draw_in_one_branch_of_a_setting_needs_it() -> None:
    assert when(SAMPLES.format(other='torch.load("all.pt")'), "unseeded-torch") == [("`unconditional` is false",)]


@pytest.mark.parametrize(
    ("later", "told"),
    [
        ("if args.train:\n        torch.backends.cudnn.benchmark = False", ("--train is not given",)),
        ("torch.backends.cudnn.benchmark = args.half", ("--half is given",)),
        (
            "if args.train:\n        torch.backends.cudnn.benchmark = args.half",
            ("--half is given or --train is not given",),
        ),
        ("if args.train:\n        torch.backends.cudnn.benchmark = True", ()),
        ("if args.train:\n        torch.backends.cudnn.deterministic = True", ()),
    ],
)
def test_a_setting_that_a_flag_takes_back(later: str, told: tuple[str, ...]) -> None:
    text = f"\ndef main():\n    torch.backends.cudnn.benchmark = True\n    {later}{CONVOLVES}"
    one = min(found(text, "cudnn-benchmark"), key=lambda each: each.location.line)
    assert one.when == told


@pytest.mark.parametrize(
    ("device", "told"),
    [
        ('"cpu" if args.half else ""', ("--cuda is given",)),
        ('"cpu" if args.half else "cuda:0"', ("--cuda is given or --half is not given and --train is given",)),
    ],
)
def test_a_device_without_a_name_is_no_gpu(device: str, told: tuple[str, ...]) -> None:
    text = f"""
from timm.utils import ModelEma

def main():
    torch.backends.cudnn.benchmark = True
    net = torch.nn.Conv2d(3, 8, 3)
    if args.cuda:
        net = net.to("cuda")
    if args.train:
        ema = ModelEma(net, device={device})
    net(torch.load("images.pt")).sum().backward()
"""
    assert when(text, "cudnn-benchmark") == [told]


def test_where_the_networks_are_decides_not_what_is_moved_in_between() -> None:
    text = """
def main():
    torch.backends.cudnn.benchmark = True
    net = torch.nn.Conv2d(3, 8, 3)
    if args.cuda:
        net = net.cuda()
    images = torch.load("images.pt")
    mask = torch.ones(8)
    if args.half:
        mask = torch.relu(mask).cuda()
    (net(images).sum() * mask.sum()).backward()
"""
    assert when(text, "cudnn-benchmark") == [("--cuda is given",)]
