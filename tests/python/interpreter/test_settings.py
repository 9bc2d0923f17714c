"""Classes of settings that the command line or a config file fills: their fields are flags."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.python.judging.test_causes import found

SETTINGS = """from dataclasses import dataclass, field
from typing import Optional
import torch


@dataclass
class Base:
    seed: Optional[int] = field(default=None, metadata={"help": "seed"})


@dataclass
class Data:
    noise: bool = False
    files: list = field(default_factory=list)


@dataclass
class Settings(Base):
    dim: int = 4
    data: Data = field(default_factory=Data)


def run(settings):
    if settings.seed is not None:
        torch.manual_seed(settings.seed)
    print(torch.rand(settings.dim))
    if settings.data.noise:
        import numpy as np
        print(np.random.rand(3))

"""
HF = "from transformers import HfArgumentParser, TrainingArguments\n"
HYDRA = "import hydra\n\n\n@hydra.main(config_path='.', config_name='c')\ndef main(cfg: Settings):\n    run(cfg)\n\n\nmain()\n"


@pytest.mark.parametrize(
    ("start", "seed", "noise"),
    [
        ("import tyro\nrun(tyro.cli(Settings))\n", "--seed is not given", "--data.noise is true"),
        ("import draccus\nrun(draccus.parse(config_class=Settings))\n", "--seed is not given", "--data.noise is true"),
        (HF + "run(HfArgumentParser(Settings).parse_args_into_dataclasses()[0])\n", "--seed is not given",
         "--data.noise is true"),
        (HF + "settings, training = HfArgumentParser((Settings, TrainingArguments)).parse_args_into_dataclasses()\n"
         "run(settings)\n", "--seed is not given", "--data.noise is true"),
        (HYDRA, "seed is not given", "data.noise is true"),
    ],
)  # fmt: skip
def test_fields_are_flags(d9mlint: Callable[..., Any], start: str, seed: str, noise: str) -> None:
    Path("train.py").write_text(SETTINGS + start)
    found = {
        rule: d9mlint("train.py", "--format", "json", "--select", rule).json["findings"]
        for rule in ("unseeded-torch", "unseeded-numpy,partial-seed")
    }
    ((torch,), (numpy, *_)) = found.values()
    assert torch["when"] == [seed]
    assert noise in numpy["when"]


def test_arguments_fill_them(d9mlint: Callable[..., Any]) -> None:
    Path("train.py").write_text(SETTINGS + "import tyro\nrun(tyro.cli(Settings))\n")
    assert d9mlint("train.py", "--", "--seed", "1").code == 0
    assert d9mlint("train.py", "--", "--seed=1", "--data.noise").code == 1


CONFIGURED = """import hydra
from dataclasses import dataclass, field
import torch


class Net(torch.nn.Module):
    def __init__(self, size: int):
        super().__init__()
        self.table = torch.randn(size)


@dataclass
class Model:
    _target_: str = "nets.Net"
    size: int = 3


@dataclass
class Settings:
    model: Model = field(default_factory=Model)


@hydra.main(config_path=None, config_name="c")
def main(cfg: Settings):
    net = hydra.utils.instantiate({what})
    torch.save(net.state_dict(), "net.pt")


if __name__ == "__main__":
    main()
"""


@pytest.mark.parametrize("what", ["cfg.model", "{'_target_': 'nets.Net', 'size': 3}", "cfg.model, size=4"])
def test_what_a_configuration_names_is_called(d9mlint: Callable[..., Any], what: str) -> None:
    Path("nets.py").write_text(CONFIGURED.replace("{what}", what))
    (found,) = d9mlint("nets.py", "--format", "json", "--select", "unseeded-torch").json["findings"]
    assert (found["line"], found["message"].partition(" ")[0]) == (9, "`torch.randn`")


PREFIXES = """import random


def split(prefix, settings):
    own = {name: value for name, value in settings.items() if name.startswith(prefix)}
    return {name[len(prefix):]: value for name, value in own.items()}


class Block:
    def __init__(self, size, noise=False, flip=False):
        if noise:
            print(random.random())
        if flip:
            print(random.random())


class Net:
    def __init__(self, size, **settings):
        self.block = Block(size, **split("block_", settings))


Net(3, block_flip=True, depth=2)
"""


def test_settings_that_begin_with_a_word_are_handed_on_under_their_names(d9mlint: Callable[..., Any]) -> None:
    Path("net.py").write_text(PREFIXES)
    (found,) = d9mlint("net.py", "--format", "json", "--select", "unseeded-python").json["findings"]
    assert (found["line"], found["when"], found["related"]) == (14, [], [])


@pytest.mark.parametrize(("default", "lines"), [("''", [5, 7]), ("'calm'", [])])
def test_an_empty_text_is_filled_in_by_names_that_a_file_gives(default: str, lines: list[int]) -> None:
    text = f"""import random

def chosen(config):
    if config.kind == "first":
        return random.random()
    if config.kind == "second":
        return random.gauss(0, 1)
    if config.kind == "":
        raise ValueError(config.kind)

class Config:
    kind = {default}

    def load(self):
        for line in open("parameters.txt"):
            name, value = line.split()
            setattr(self, name, value)

config = Config()
config.load()
print(chosen(config))
"""
    told = [(one.location, *(r.location for r in one.related)) for one in found(text, "unseeded-python")]
    assert sorted({place.line for places in told for place in places}) == lines
