"""Settings that a program takes out of a configuration keep the name that they have there, whatever they are kept as."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HEAD = """import sys

import torch
import yaml

config = yaml.safe_load(open(sys.argv[1]))


def draw(noise):
    if noise:
        print(torch.rand(3))


class Trainer:
    def __init__(self, config):
        self.noisy = config.get("noisy", False)

    def step(self):
        if self.noisy:
            print(torch.rand(1))


"""


@pytest.mark.parametrize(
    ("code", "when"),
    [
        ("noise = config.get('noise', None)\nif noise:\n    print(torch.rand(1))", "`config.get('noise')` is true"),
        ("draw(config['noise'])", "`config['noise']` is true"),
        ("draw(config.get('noise'))", "`config.get('noise')` is true"),
        ("draw(config.get_bool('noise', True))", "`config.get_bool('noise')` is true"),
        ("if config.get_string('mode') == 'b':\n    print(torch.rand(1))", "`config.get_string('mode')` is 'b'"),
        ("draw(noise=config['data'].get('noise', 0))", "`config['data'].get('noise')` is true"),
        ("Trainer(config).step()", "`config.get('noisy')` is true"),
        ("if config.get('mode', 'a') == 'b':\n    print(torch.rand(1))", "`config.get('mode')` is 'b'"),
        (
            "mode = config['net'].get('mode')\nif mode == 'b':\n    print(torch.rand(1))",
            "`config['net'].get('mode')` is 'b'",
        ),
    ],
)
def test_a_setting_is_told_as_the_config_has_it(d9mlint: Callable[..., Any], code: str, when: str) -> None:
    Path("train.py").write_text(HEAD + code + "\n")
    (found,) = d9mlint("train.py", "--format", "json").json["findings"]
    assert found["when"] == [when]


def test_what_is_no_configuration_has_no_such_name(d9mlint: Callable[..., Any]) -> None:
    Path("train.py").write_text(HEAD + "table = yaml.safe_load(sys.stdin)\ndraw(table.get('noise'))\n")
    (found,) = d9mlint("train.py", "--format", "json").json["findings"]
    assert found["when"] == ["`noise` is true"]


NETS = """import torch


class Small:
    def run(self):
        return torch.rand(1)


class Large:
    def run(self):
        return torch.rand(2)


class Critic:
    def run(self):
        return torch.rand(3)
"""
BY_KEY = """import sys

import yaml

import nets

config = yaml.safe_load(open(sys.argv[1]))
make = getattr(nets, config.get("generator_type", "Small"))
print(make(**config["generator_params"]).run())
"""


def test_each_key_at_the_top_of_a_file_has_its_own_classes(d9mlint: Callable[..., Any]) -> None:
    Path("conf").mkdir()
    Path("train.py").write_text(BY_KEY)
    Path("nets.py").write_text(NETS)
    Path("conf/a.yaml").write_text("generator_type: Large\ngenerator_params: {}\ncritic_type: Critic\n")
    (found,) = d9mlint("train.py", "--format", "json").json["findings"]
    assert (found["line"], found["when"], found["related"]) == (11, [], [])  # (all of them have it there)
    Path("conf/b.yaml").write_text("generator_type: Small\ngenerator_params: {}\n")
    (found,) = d9mlint("train.py", "--format", "json").json["findings"]
    assert (found["line"], [place["line"] for place in found["related"]]) == (6, [11])
    assert found["when"] == []  # (one or the other, whichever is given)
