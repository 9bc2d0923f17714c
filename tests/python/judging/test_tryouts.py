"""Self-tests of modules keep nothing of what they compute, so nothing that varies in them matters."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

MODULE = """import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.table = nn.Parameter(torch.randn(3, 4))
        self.layers = nn.ModuleList([nn.Linear(4, 4), nn.Dropout(0.5)])

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x @ self.table.t()


if __name__ == "__main__":
    net = Net()
    out = net(torch.randn(2, 4))
    {ends}
"""


COUNT = """

def count(model):
    number = 0
    for weights in model.parameters():
        number += torch.numel(weights)
    return number


def total(model):
    number = 0
    for weights in model.parameters():
        number += weights.sum()
    return number


def main():
    net = Net()
    out = net(torch.randn(2, 4))
    {ends}


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize(
    ("ends", "kept"),
    [
        ("print(count(net), out.shape)", False),
        ("print('%.1fM' % (sum(p.numel() for p in net.parameters()) / 1e6))", False),
        ("number = count(net) / 1e6; print(f'{number:.2f}M of {out.size(0)}')", False),
        ("print(total(net), out.shape)", True),
        ("number = count(net); number = out.mean(); print(number)", True),
        ("for number in out: print(number)", True),
        ("print(out.sum(0) / out.numel())", True),
    ],
)
def test_a_function_that_prints_sizes_lets_no_numbers_out(d9mlint: Callable[..., Any], ends: str, kept: bool) -> None:
    Path("net.py").write_text(MODULE.split("\n\nif __name__")[0] + COUNT.replace("{ends}", ends))
    told = d9mlint("net.py", "--format", "json").json
    assert bool(told["findings"]) is kept


@pytest.mark.parametrize(
    ("ends", "kept"),
    [
        ("assert out.shape == (2, 3)", False),
        ("print('shape:', out.shape, out.size())", False),
        ("out.sum().backward()", False),
        ("print(net, out.size())", False),
        ("print(sum(p.numel() for p in net.parameters()))", False),
        ("print(sum(p.sum() for p in net.parameters()))", True),
        ("print('{} classes in {}'.format(4, out.size()))", False),
        ("print('the mean of {} is {}'.format(out.size(), out.mean()))", True),
        ("import queue; queue.Queue(); print(net.layers[:1](out).size())", False),
        ("table = net.state_dict(); table.update({}); net.load_state_dict(table)", False),
        ("import os; os.environ['CUDA_VISIBLE_DEVICES'] = '0'; os.path.exists('net.pt')", False),
        ("import os, sys; sys.path.append(os.getcwd())", False),
        ("import time; start = time.time(); net(out @ out.t()); print(time.time() - start)", False),
        ("print(net.state_dict())", True),
        ("print(out)", True),
        ("print(f'{out.mean()}')", True),
        ("torch.save(net.state_dict(), 'net.pt')", True),
        ("open('out.txt', 'w').write(str(out))", True),
        ("out.sum().backward(); torch.optim.SGD(net.parameters(), 0.1).step()", True),
        ("report(out)", False),  # (nobody defines it: the program ends there)
        ("client.send(out)", True),
    ],
)
def test_what_lets_numbers_out(d9mlint: Callable[..., Any], ends: str, kept: bool) -> None:
    Path("net.py").write_text(MODULE.replace("{ends}", ends))
    told = d9mlint("net.py", "--format", "json").json
    assert [one.get("kept", True) for one in told["coverage"]] == [kept]
    assert any(found["rule"] == "unseeded-torch" for found in told["findings"]) is kept
    assert ("nothing of what is computed" in d9mlint("net.py").out) is not kept


def test_a_script_without_a_main_guard_is_no_self_test(d9mlint: Callable[..., Any]) -> None:
    Path("draw.py").write_text("import numpy as np\nweights = np.random.rand(3)\n")
    assert [found["rule"] for found in d9mlint("draw.py", "--format", "json").json["findings"]] == ["unseeded-numpy"]


ENVIRONMENT = """import gym
import numpy as np
from gym.envs.registration import register

register(id="Line-v0", entry_point="line:Line")


class Line(gym.Env):
    def __init__(self):
        self.action_space = gym.spaces.Discrete(2)
        self.goal = np.random.normal(size=2)

    def step(self, action):
        return self.goal, float(np.sum(self.goal * action)), False, {}


if __name__ == "__main__":
    env = Line()
    _, reward, _, _ = env.step(1)
    {ends}
"""


@pytest.mark.parametrize(
    ("ends", "kept"),
    [
        ("pass", False),
        ("assert reward < 100", False),
        ("print(reward)", True),
        ("env.render()", True),
        ("import scipy.misc; scipy.misc.imsave('goal.png', env.goal)", True),
        ("import tracker; tracker.push(reward)", True),
    ],
)
def test_environments_try_themselves_out_too(d9mlint: Callable[..., Any], ends: str, kept: bool) -> None:
    Path("line.py").write_text(ENVIRONMENT.replace("{ends}", ends))
    told = d9mlint("line.py", "--format", "json").json
    assert [one.get("kept", True) for one in told["coverage"]] == [kept]
    assert any(found["rule"] == "unseeded-numpy" for found in told["findings"]) is kept


SHOWN = MODULE.format(ends="print(out.sum())")


def _written(files: dict[str, str]) -> None:
    for name, text in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)


def _severities(found: Any) -> dict[str, str]:
    return {one["path"]: one["severity"] for one in found.json["findings"] if one["rule"] == "unseeded-torch"}


def test_what_a_module_shows_that_others_import_is_for_information(d9mlint: Callable[..., Any]) -> None:
    _written({"net.py": SHOWN, "train.py": "import torch\nfrom net import Net\nprint(Net()(torch.ones(2, 4)).sum())\n"})
    (told,) = d9mlint("check", ".", "--format", "json").json["findings"]
    assert (told["severity"], [one["entry"] for one in told["programs"]]) == ("warning", ["train.py"])
    Path("train.py").write_text("import torch\nfrom net import Net\ntorch.manual_seed(1)\nprint(Net())\n")
    (told,) = d9mlint("check", ".", "--format", "json").json["findings"]
    assert (told["severity"], told["entries"], "in a self-test" in told["message"]) == ("info", ["net.py"], True)


def test_what_the_only_program_prints_is_its_result(d9mlint: Callable[..., Any]) -> None:
    _written({"net.py": SHOWN})
    assert _severities(d9mlint("check", ".", "--format", "json")) == {"net.py": "warning"}


def test_a_test_that_prints_numbers_is_for_information_unless_it_keeps_them(d9mlint: Callable[..., Any]) -> None:
    _written({"test.py": SHOWN, "net_test.py": MODULE.format(ends="torch.save(out, 'out.pt')")})
    told = _severities(d9mlint("check", ".", "--format", "json"))
    assert told == {"test.py": "info", "net_test.py": "warning"}


def test_a_seed_that_nobody_reads_where_nothing_draws_is_for_information(d9mlint: Callable[..., Any]) -> None:
    parse = "import argparse\nimport torch\np = argparse.ArgumentParser()\np.add_argument('--seed', type=int)\n"
    _written(
        {"a.py": f"{parse}print(p.parse_args().n)\n", "b.py": f"{parse}a = p.parse_args()\nprint(torch.rand(3))\n"}
    )
    found = d9mlint("check", ".", "--format", "json").json["findings"]
    told = {one["path"]: one["severity"] for one in found if one["rule"] == "seed-flag-unused"}
    assert told == {"a.py": "info", "b.py": "warning"}


@pytest.mark.parametrize(
    ("does", "severity"),
    [
        ("colors = {c: np.random.randint(0, 255, 3) for c in 'ab'}", "info"),
        ("PALETTE = np.random.randint(0, 255, (9, 3))", "info"),
        ("numbers = np.random.randint(0, 255, (9, 3))", "warning"),
        ("bg_color = np.random.rand(3)", "warning"),
        ("colors = np.random.rand(3); order = np.random.permutation(9)", "warning"),
        ("colors = np.random.rand(3); model(colors).loss.backward()", "warning"),
    ],
)
def test_colours_that_a_program_paints_with_are_for_information(
    d9mlint: Callable[..., Any], does: str, severity: str
) -> None:
    Path("show.py").write_text(f"import numpy as np\nfrom net import model\n{does}\nprint(model(dir()))\n")
    (told,) = d9mlint("show.py", "--format", "json", "--select", "unseeded-numpy").json["findings"]
    assert (told["severity"], told["message"].endswith(": the colours of a picture")) == (severity, severity == "info")
