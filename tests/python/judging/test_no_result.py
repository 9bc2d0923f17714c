"""Draws that happen in no run, or whose numbers reach nothing."""

from __future__ import annotations

import pytest

from d9mlint.catalogue import load
from d9mlint.model import Finding
from d9mlint.python.batch.run import newest_target
from d9mlint.python.domain.knowledge import Knowledge
from d9mlint.python.judging.judge import judge
from d9mlint.python.project.files import Project

CATALOGUE = load()
HEAD = """import argparse
import inspect
import random

import torch
from torch import nn

parser = argparse.ArgumentParser()
parser.add_argument("--wide", action="store_true")
parser.add_argument("--loud", action="store_true")
args = parser.parse_args()
"""


def found(text: str, *rules: str) -> list[Finding]:
    """What is found in a program, by these rules."""
    at = newest_target(["torch==2.6"], "gpu")
    knowledge = Knowledge(CATALOGUE.aliases, CATALOGUE.effects, at, CATALOGUE.ops)
    project = Project({"run.py": f"{HEAD}{text}".encode()}.get)
    told = judge(project, "run.py", ("",), CATALOGUE.rules.values(), knowledge, at)
    return [f for f in told.findings if f.rule in rules and f.confidence != "low"]


@pytest.mark.parametrize(
    ("definition", "call", "fits"),
    [
        ("def f(a, b=1):\n    pass\n", "f(1)", True),
        ("def f(a, b=1):\n    pass\n", "f(1, c=2)", False),
        ("def f(a, b=1):\n    pass\n", "f()", False),
        ("def f(a, b=1):\n    pass\n", "f(1, 2, 3)", False),
        ("def f(a, b=1):\n    pass\n", "f(*[1, 2, 3])", True),
        ("def f(a, *rest, key):\n    pass\n", "f(1, 2, 3, key=4)", True),
        ("def f(a, *rest, key):\n    pass\n", "f(1, 2, 3)", False),
        ("def f(**rest):\n    pass\n", "f(c=2)", True),
        ("@torch.jit.script\ndef f(a):\n    pass\n", "f()", True),
        ("class F:\n    def __init__(self, a):\n        pass\n", "F(1)", True),
        ("class F:\n    def __init__(self, a):\n        pass\n", "F(a=1, unique=True)", False),
        ("class F(nn.Module):\n    def __init__(self, a):\n        pass\n", "F()", False),
        ("class F(Base):\n    def __init__(self, a):\n        pass\n", "F()", True),
        ("class F(metaclass=Registry):\n    def __init__(self, a):\n        pass\n", "F()", True),
        ("class F:\n    a: int\n", "F(a=1)", True),
    ],
)
def test_nothing_follows_a_call_that_cannot_bind(definition: str, call: str, fits: bool) -> None:
    text = f"{definition}\n{call}\nrandom.random()\n"
    assert bool(found(text, "unseeded-python")) is fits


def test_a_call_that_cannot_bind_ends_its_branch_alone() -> None:
    text = "def f(a):\n    pass\n\nif args.wide:\n    f()\nrandom.random()\n"
    assert len(found(text, "unseeded-python")) == 1
    assert (
        len(found("def f(a):\n    pass\n\ntry:\n    f()\nexcept TypeError:\n    random.random()\n", "unseeded-python"))
        == 1
    )


def test_methods_do_not_see_the_names_in_the_body_of_their_class() -> None:
    text = """
def crop(image, size):
    return image[:size]


class Cropper:
    def crop(self, image):
        return crop(image, size=4)


Cropper().crop([1])
random.random()
"""
    assert len(found(text, "unseeded-python")) == 1


def test_who_asks_for_a_signature_calls_nothing() -> None:
    text = """
class Noise:
    def __init__(self):
        self.rng = random.Random()


def fields(cls):
    return inspect.signature(cls.__init__).parameters


fields(Noise)
if args.loud:
    Noise()
"""
    assert [f.when for f in found(text, "entropy-seed")] == [("--loud is given",)]


NOISE = """
class Data:
    def __init__(self, size, noise=None, blur=None):
        self.size = size
        self.rng = None
        if {test}:
            self.rng = random.Random()


def load(path):
    return parse(open(path))


{use}
"""


@pytest.mark.parametrize(
    ("test", "use", "when"),
    [
        ("noise is not None", "Data(3, **load('c.yaml'))", ("`noise` is given",)),
        ("noise is None", "Data(3, **load('c.yaml'))", ()),
        (
            "noise is not None or blur is not None",
            "Data(3, **load('c.yaml'))",
            ("`blur` is given or `noise` is given",),
        ),
        ("noise is not None", "Data(3, **load('a.yaml'))\nData(4, **load('b.yaml'))", ("`noise` is given",)),
        (
            "noise is not None",
            "if args.loud:\n    Data(3, **load('a.yaml'))\nelif args.wide:\n    Data(4, **load('b.yaml'))",
            ("--loud is given or --wide is given", "`noise` is given"),
        ),
    ],
)
def test_a_parameter_that_settings_may_give_is_told(test: str, use: str, when: tuple[str, ...]) -> None:
    assert [f.when for f in found(NOISE.format(test=test, use=use), "entropy-seed")] == [when]


def test_of_many_alternatives_the_first_are_told() -> None:
    names = [f"a_setting_with_a_long_name_{i}" for i in range(6)]
    text = f"""
def use({", ".join(f"{n}=None" for n in names)}):
    if {" or ".join(f"{n} is not None" for n in names)}:
        random.random()


use(**yaml_of('c.yaml'))
"""
    ((told,),) = (f.when for f in found(text, "unseeded-python"))
    assert told.startswith(f"`{names[0]}` is given or ")
    assert told.endswith(" or 4 more")


NETWORK = """
class Mixer(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.linalg.qr(torch.randn(4, 4))[0])


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.mix = Mixer()
        {between}
        {after}

    def forward(self, x):
        return self.mix(x)


net = Net()
print(net(torch.ones(4)))
"""


@pytest.mark.parametrize(
    ("between", "after", "when"),
    [
        ("pass", "self.mix = nn.Identity()", []),
        ("pass", "self.other = nn.Identity()", [()]),
        ("self.kept = [self.mix]", "self.mix = nn.Identity()", [()]),
        ("pass", "if args.wide:\n            self.mix = nn.Identity()", [("--wide is not given",)]),
    ],
)
def test_what_a_constructor_replaces_is_drawn_for_nothing(
    between: str, after: str, when: list[tuple[str, ...]]
) -> None:  # fmt: skip
    text = NETWORK.format(between=between, after=after)
    assert [f.when for f in found(text, "unseeded-torch") if "randn" in f.message] == when


LAYERDROP = """
class Net(nn.Module):
    def forward(self, x):
        {draw}
        return x


def load():
    return torch.load("net.pt")


net = load()
other = Net()
{mode}
with torch.no_grad():
    print(other(torch.ones(4)))
"""
SKIPS = "p = random.uniform(0, 1)\n        if self.training and p < 0.1:\n            x = x * 2"


@pytest.mark.parametrize(
    ("draw", "mode", "seen"),
    [
        (SKIPS, "other.eval()", False),
        (SKIPS, "net.eval()", False),
        (SKIPS, "pass", True),
        (SKIPS, "other.eval()\nother.train()", True),
        (SKIPS, "other.eval()\nother.train(False)", False),
        (SKIPS, "if args.wide:\n    other.eval()", True),
        (SKIPS, "if args.wide:\n    other.eval()\nelse:\n    net.eval()", False),
        (SKIPS + "\n        print(p)", "other.eval()", True),
        ("if self.training:\n            x = x * random.uniform(0, 1)", "other.eval()", False),
        ("if not self.training:\n            x = x * random.uniform(0, 1)", "other.eval()", True),
    ],
)
def test_what_only_training_asks_for_is_nothing_in_evaluation_mode(draw: str, mode: str, seen: bool) -> None:
    assert bool(found(LAYERDROP.format(draw=draw, mode=mode), "unseeded-python")) is seen


@pytest.mark.parametrize(("cut", "seen"), [("[:-1]", False), ("[:1]", False), ("[1:]", True), ("", True)])
def test_an_item_that_a_slice_leaves_out_is_drawn_for_nothing(cut: str, seen: bool) -> None:
    text = f"""
def batch():
    value = (torch.ones(4), torch.rand(4))
    return value{cut}


print(batch())
"""
    assert bool(found(text, "unseeded-torch")) is seen


@pytest.mark.parametrize(("use", "seen"), [("print(net.window)", False), ("print(net(torch.ones(4)))", True)])
def test_a_module_that_is_only_made_is_not_called(use: str, seen: bool) -> None:
    text = f"""
class Features(nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("window", torch.ones(4))

    def forward(self, x):
        return x + torch.randn_like(x)


net = Features()
{use}
"""
    assert bool(found(text, "unseeded-torch")) is seen
