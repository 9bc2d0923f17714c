"""Objects whose classes stand in config files: hydra, ``instantiate_from_config``, and what looks names up like it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

AGENTS = """import torch


class Noisy:
    def step(self):
        return torch.rand(3)


class Calm:
    def step(self):
        return torch.ones(3)
"""
HYDRA = """import hydra


@hydra.main(config_path="conf", config_name="config")
def main(cfg):
    agent = hydra.utils.instantiate(cfg.agent)
    print(agent.step())


main()
"""
LOOKED_UP = """import importlib
import sys

import yaml


def get(string):
    module, cls = string.rsplit(".", 1)
    return getattr(importlib.import_module(module, package=None), cls)


config = yaml.safe_load(open(sys.argv[1]))
print(get(config["agent"]["target"])(**config["agent"].get("params", {})).step())
"""


def write(**files: str) -> None:
    for name, text in files.items():
        path = Path(name.replace("__", "/").replace("_yaml", ".yaml").replace("_json", ".json").replace("_py", ".py"))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


@pytest.mark.parametrize(
    ("name", "config"),
    [
        ("conf__agent__noisy_yaml", "_target_: agents.Noisy\nlr: 0.1\n"),
        (
            "conf__config_yaml",
            "agent:\n  name: a\n  class: agents.Noisy  # as hydra 0.11 had it\n  params:\n    lr: 1\n",
        ),
        ("conf__config_json", '{\n  "agent": {\n    "target": "agents.Noisy",\n    "lr": 0.1\n  }\n}\n'),
    ],
)
@pytest.mark.parametrize("program", [HYDRA, LOOKED_UP])
def test_the_class_is_followed(d9mlint: Callable[..., Any], program: str, name: str, config: str) -> None:
    write(train_py=program, agents_py=AGENTS, **{name: config})
    found = d9mlint("train.py", "--format", "concise")
    assert "agents.py:6" in found.out, found.out
    write(**{name: config.replace("Noisy", "Calm")})
    assert d9mlint("train.py").code == 0  # nothing but the config file has changed: it is part of the key of the cache


FROM_PARTS = """import importlib
import sys

from omegaconf import OmegaConf


def get_obj_from_str(string):
    module, cls = string.rsplit(".", 1)
    return getattr(importlib.import_module(module, package=None), cls)


def instantiate_from_config(config):
    return get_obj_from_str(config["target"])(**config.get("params", dict()))


config = OmegaConf.load(sys.argv[1])
data = instantiate_from_config(config.data)
agent = instantiate_from_config(config.agent)
print(agent.step())
"""


def test_each_part_of_a_configuration_has_its_own_candidates(d9mlint: Callable[..., Any]) -> None:
    """More classes than can be followed as one of many: by the part that is asked for they are few."""
    others = "".join(f"class Data{n}:\n    def step(self):\n        return {n}\n\n\n" for n in range(20))
    lines = "".join(f"- data:\n    target: agents.Data{n}\n" for n in range(20))
    write(
        train_py=FROM_PARTS, agents_py=f"{AGENTS}\n\n{others}", conf__a_yaml=f"agent:\n  target: agents.Noisy\n{lines}"
    )
    found = d9mlint("train.py", "--format", "concise")
    assert "agents.py:6" in found.out, found.out
    write(conf__a_yaml=f"agent:\n  target: agents.Calm\n{lines}")
    assert d9mlint("train.py").code == 0


def test_one_of_several_is_a_condition(d9mlint: Callable[..., Any]) -> None:
    write(train_py=HYDRA, agents_py=AGENTS)
    write(conf__agent__a_yaml="_target_: agents.Noisy\n", conf__agent__b_yaml="_target_: agents.Calm\n")
    write(conf__model__a_yaml="_target_: agents.Missing\n", conf__notes_yaml="agent: {_target_: 3}\n- [\n")
    found = d9mlint("train.py")
    assert "when: the config's `agent` is agents.Noisy" in found.out, found.out


def test_what_no_module_of_the_program_has_stays_unknown(d9mlint: Callable[..., Any]) -> None:
    write(train_py=HYDRA, agents_py=AGENTS, conf__agent__a_yaml="_target_: elsewhere.Noisy\n")
    assert "could not be followed" in d9mlint("train.py").out


@pytest.mark.parametrize("other", ["", "lightning.fabric.Fabric"])
def test_the_one_class_of_a_library_that_all_config_files_name(d9mlint: Callable[..., Any], other: str) -> None:
    program = """import hydra
import lightning as L
import torch


class Net(L.LightningModule):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Conv2d(3, 3, 3)

    def training_step(self, batch, number):
        return torch.nn.functional.dropout(self.layer(batch), 0.5).sum()

    def configure_optimizers(self):
        return torch.optim.Adam(self.parameters())


@hydra.main(config_path="conf", config_name="config")
def main(cfg):
    L.seed_everything(1)
    trainer = hydra.utils.instantiate(cfg.trainer)
    trainer.fit(Net(), torch.utils.data.DataLoader(torch.load("x.pt"), shuffle=True), ckpt_path=cfg.resume)


if __name__ == "__main__":
    main()
"""
    write(train_py=program, conf__trainer__a_yaml="_target_: lightning.pytorch.Trainer\nmax_epochs: 3\n")
    write(conf__trainer__b_yaml=f"_target_: {other or 'lightning.Trainer'}\n")
    told = d9mlint("train.py", "--format", "json", "--select", "rng-not-checkpointed,missing-torch-determinism").json
    wanted = [] if other else ["missing-torch-determinism", "rng-not-checkpointed"]
    assert sorted({one["rule"] for one in told["findings"]}) == wanted


REGISTRY = """import importlib
import os
import sys

import torch
import yaml

here = os.path.dirname(os.path.abspath(__file__))
names = [os.path.splitext(one)[0] for one in os.listdir(here) if one.endswith("_arch.py")]
modules = [importlib.import_module(f"archs.{name}") for name in names]


def create(options):
    for module in modules:
        cls = getattr(module, options["type"], None)
        if cls is not None:
            break
    return cls(**options["args"])
"""
NET = "import torch\n\n\nclass Net{0}:\n    def __init__(self, size=3):\n        print(torch.rand(size))\n"
TRAIN = "import sys\nimport yaml\nfrom archs import create\n\ncreate(yaml.safe_load(open(sys.argv[1]))['network'])\n"


def drawn_in(d9mlint: Callable[..., Any]) -> set[str]:
    ran = d9mlint("train.py", "--no-cache", "--format", "json")
    places = [one for found in ran.json["findings"] for one in (found, *found["related"])]
    return {one["path"] for one in places if one["path"].startswith(("archs/net", "nets/"))}


@pytest.mark.parametrize("count", [4, 12, 30])
def test_a_registry_of_the_files_of_a_package_by_a_name_that_is_not_known(
    d9mlint: Callable[..., Any], count: int
) -> None:
    write(train_py=TRAIN)
    Path("archs").mkdir()
    Path("archs/__init__.py").write_text(REGISTRY)
    for at in range(count):
        Path(f"archs/net{at:02}_arch.py").write_text(NET.format(at))
    assert len(drawn_in(d9mlint)) == min(count, 16)
    told = d9mlint("train.py", "--no-cache", "--format", "json").json["coverage"][0]["unfollowed"]
    assert bool(told) == (count > 16)


@pytest.mark.parametrize("count", [4, 12, 30])
def test_of_a_registry_what_config_files_name_is_followed(d9mlint: Callable[..., Any], count: int) -> None:
    Path("archs").mkdir()
    Path("archs/__init__.py").write_text(REGISTRY)
    write(
        train_py=TRAIN,
        options__a_yaml="network:\n  type: Net1\n",
        options__b_yaml=f"network: \n  type: Net{count - 1}\n",
    )
    for at in range(count):
        Path(f"archs/net{at:02}_arch.py").write_text(NET.format(at))
    assert drawn_in(d9mlint) == {"archs/net01_arch.py", f"archs/net{count - 1:02}_arch.py"}


IMPORTED = """import os
import sys

import yaml


def load(path, name):
    sys.path.insert(0, os.path.dirname(path))
    return getattr(__import__(os.path.splitext(os.path.basename(path))[0]), name)


network = yaml.safe_load(open(sys.argv[1]))["network"]
load(network["fn"], network["name"])(**network["args"])
"""


def test_a_class_in_a_file_both_of_which_config_files_name(d9mlint: Callable[..., Any]) -> None:
    config = "network:\n  fn: nets/net2.py\n  name: Net2\n  args:\n    size: 3\n"
    write(train_py=IMPORTED, options__a_yaml=config)
    Path("nets").mkdir()
    for at in range(4):
        Path(f"nets/net{at}.py").write_text(NET.format(at))
    assert drawn_in(d9mlint) == {"nets/net2.py"}


@pytest.mark.parametrize(("part", "expected"), [("first", "nets/net0.py"), ("second", "nets/net1.py")])
def test_each_key_above_a_name_has_its_own_classes(d9mlint: Callable[..., Any], part: str, expected: str) -> None:
    config = "first:\n  fn: nets/net0.py\n  name: Net0\nsecond:\n  fn: nets/net1.py\n  name: Net1\n"
    program = IMPORTED.replace('["network"]', f'["{part}"]').replace('**network["args"]', "3")
    write(train_py=program, options__a_yaml=config)
    Path("nets").mkdir()
    for at in range(3):
        Path(f"nets/net{at}.py").write_text(NET.format(at))
    assert drawn_in(d9mlint) == {expected}


MODULES = """import importlib

import torch
from torch import nn


def instantiate(config):
    module, cls = config["target"].rsplit(".", 1)
    return getattr(importlib.import_module(module), cls)(**config.get("params", dict()))


class Noise(nn.Module):
    def __init__(self, scale=1.0, drawn=False):
        super().__init__()
        self.noise = torch.rand(3) if drawn else torch.zeros(3)
        self.more = torch.rand(9)


class Whole(nn.Module):
    def __init__(self, inner_config, drawn=False):
        super().__init__()
        self.inner = instantiate(inner_config)
        self.kept = torch.rand(5) if drawn else None
"""
INNER = """import sys

import yaml

from modules import instantiate

net = instantiate(yaml.safe_load(open(sys.argv[1]))["model"])
"""
NESTED = """model:
  target: modules.Whole
  params:
    inner_config:
      target: modules.Noise
      params:
        scale: 2.0
"""


def test_parts_inside_of_a_part_are_made_by_the_same_function(d9mlint: Callable[..., Any]) -> None:
    write(train_py=INNER, modules_py=MODULES, conf__a_yaml=NESTED)
    assert places(d9mlint("train.py", "--format", "json")) == ["modules.py:16"]


def test_what_no_config_file_gives_is_left_to_its_default(d9mlint: Callable[..., Any]) -> None:
    write(train_py=INNER, modules_py=MODULES, conf__a_yaml=NESTED + "        drawn: true\n")
    assert places(d9mlint("train.py", "--format", "json")) == ["modules.py:15", "modules.py:16", "modules.py:23"]


def places(ran: Any) -> list[str]:
    (found,) = ran.json["findings"]
    return sorted(f"{one['path']}:{one['line']}" for one in (found, *found["related"]))


DATA = """import importlib
import os

import torch
from lightning.pytorch import LightningDataModule, LightningModule, Trainer
from omegaconf import OmegaConf
from torch.utils.data import DataLoader, Dataset


def instantiate(config):
    module, cls = config["target"].rsplit(".", 1)
    return getattr(importlib.import_module(module), cls)(**config.get("params", dict()))


class Net(LightningModule):
    def training_step(self, batch, index):
        return batch.sum()

    def configure_optimizers(self):
        return torch.optim.SGD(self.parameters(), 0.1)


class Data(LightningDataModule):
    def __init__(self, batch_size, train=None, test=None):
        super().__init__()
        self.configs = dict()
        if train is not None:
            self.configs["train"] = train
            self.train_dataloader = self._train
        if test is not None:
            self.configs["test"] = test

    def setup(self, stage=None):
        self.datasets = dict((key, instantiate(self.configs[key])) for key in self.configs)

    def _train(self):
        return DataLoader(self.datasets["train"], batch_size=4, shuffle=True)


if __name__ == "__main__":
    torch.manual_seed(1)
    config = OmegaConf.load("conf/a.yaml")
    Trainer(deterministic=True).fit(Net(), instantiate(config.data))
"""
IMAGES = """import os

from torch.utils.data import Dataset


class Listed(Dataset):
    def __init__(self, root):
        self.names = [os.path.join(root, name) for name in os.listdir(root)]

    def __len__(self):
        return len(self.names)

    def __getitem__(self, index):
        return open(self.names[index]).read()


class Sorted(Listed):
    def __init__(self, root):
        self.names = sorted(os.listdir(root))
"""
PARTS = "data:\n  target: train.Data\n  params:\n    batch_size: 4\n    train:\n      target: images.{}\n"


def test_datasets_that_a_config_names_for_a_data_module(d9mlint: Callable[..., Any]) -> None:
    write(train_py=DATA, images_py=IMAGES, conf__a_yaml=PARTS.format("Listed"), conf__b_yaml=PARTS.format("Sorted"))
    (found,) = d9mlint("train.py", "--format", "json", "--select", "unsorted-listing").json["findings"]
    assert (found["path"], found["line"], found["when"]) == ("images.py", 8, ["the config's `train` is images.Listed"])
    write(conf__a_yaml=PARTS.format("Sorted"))
    assert d9mlint("train.py", "--format", "json", "--select", "unsorted-listing").json["findings"] == []


BY_NAME = """import sys

import torch
import yaml


class Noisy:
    def __init__(self, size, noise=True):
        self.size, self.noise = size, noise

    def step(self):
        return torch.rand(self.size) if self.noise else torch.ones(self.size)


def build(config):
    name = config.pop("name")
    return Noisy(**config)


print(build(yaml.safe_load(open(sys.argv[1]))["agent"]).step())
"""


@pytest.mark.parametrize(("more", "found"), [("", True), ("  noise: false\n", False)])
def test_what_no_config_gives_a_class_it_names_is_left_to_its_default(
    d9mlint: Callable[..., Any], more: str, found: bool
) -> None:  # fmt: skip
    write(train_py=BY_NAME, conf__a_yaml="agent:\n  name: Noisy\n  size: 3\n" + more)
    told = d9mlint("train.py", "--format", "json", "--select", "unseeded-torch").json["findings"]
    assert bool(told and not told[0]["when"]) is found


TEAMS = """import importlib
import sys

from omegaconf import OmegaConf


def main(cfg):
    library = importlib.import_module(cfg.agent.type)
    agent = library.Agent(cfg)
    print(agent.step())


main(OmegaConf.load(sys.argv[1]))
"""
MEMBER = """import torch


class Agent:
    def __init__(self, cfg):
        self.cfg = cfg

    def step(self):
        return torch.{made}(3)
"""


def test_the_module_that_config_files_name(d9mlint: Callable[..., Any]) -> None:
    """Those under the same key, not all that they name; no module but those is imported."""
    modules = {
        f"teams__red__agents__{name}_py": MEMBER.replace("{made}", made)
        for name, made in (("noisy", "rand"), ("calm", "ones"), ("other", "randn"))
    }
    other = "viewer:\n  type: teams.red.agents.other\nfile:\n  name: weights.small.pth\n"
    write(train_py=TEAMS, conf__a_yaml=f"agent:\n  type: teams.red.agents.noisy\n{other}", **modules)
    found = d9mlint("train.py", "--format", "concise")
    assert "teams/red/agents/noisy.py:9" in found.out, found.out
    assert "other.py" not in found.out, found.out
    write(conf__a_yaml=f"agent:\n  type: teams.red.agents.calm\n{other}")
    assert d9mlint("train.py").code == 0
    write(conf__b_yaml="agent:\n  type: teams.red.agents.noisy\n")
    found = d9mlint("train.py")
    assert "when: cfg.agent.type is teams.red.agents.noisy" in found.out, found.out


LIBRARY = """import json
import sys

import torch
{imports}


def make(name, **settings):
    return getattr({holder}, name)(**settings)


config = json.load(open(sys.argv[1]))
model = make(config["model"]["name"], **config["model"]["settings"]).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for images in torch.load("images.pt"):
    model(images.cuda()).mean().backward()
    optimizer.step()
"""


@pytest.mark.parametrize(
    ("imports", "holder"), [("from monai.networks import nets", "nets"), ("from tools import nets", "nets")]
)
def test_what_config_files_name_of_a_library(d9mlint: Callable[..., Any], imports: str, holder: str) -> None:
    """Also of one whose names a module of the program has all taken over; nothing of names that it may not have."""
    program = LIBRARY.replace("{imports}", imports).replace("{holder}", holder)
    config = '{\n  "model": {\n    "name": "DynUNet",\n    "settings": {}\n  },\n  "optimizer": {"name": "Adam"}\n}\n'
    write(train_py=program, tools__nets_py="from monai.networks.nets import *\n", conf__a_json=config)
    told = d9mlint("train.py").out
    assert "`monai.networks.nets.DynUNet` draws from PyTorch's global generator" in told, told
    assert "what `monai.networks.nets.DynUNet` computes can differ" in told, told
    write(conf__a_json=config.replace("DynUNet", "Unheard"))
    assert "DynUNet" not in d9mlint("train.py").out


GET_CLASS = """import hydra
from omegaconf import OmegaConf


@hydra.main(config_path="conf", config_name="config")
def main(config):
    part = OmegaConf.to_container(config.{part}, resolve=True)
    {made}


main()
"""


@pytest.mark.parametrize(
    "made",
    ["print(hydra.utils.get_class(config.{part}._target_)().step())", "print(hydra.utils.instantiate(part).step())"],
)
def test_a_part_is_known_by_its_key_as_a_container_and_by_its_class(d9mlint: Callable[..., Any], made: str) -> None:
    others = "".join(f"class Data{n}:\n    def step(self):\n        return {n}\n\n\n" for n in range(20))
    lines = "".join(f"data{n}:\n  _target_: agents.Data{n}\n" for n in range(20))
    write(
        agents_py=f"{AGENTS}\n\n{others}",
        conf__config_yaml=f"agent:\n  _target_: agents.Noisy\n{lines}rest:\n  _target_: agents.Calm\n",
    )
    write(train_py=GET_CLASS.format(part="agent", made=made.format(part="agent")))
    found = d9mlint("train.py", "--format", "concise")
    assert "agents.py:6" in found.out, found.out
    write(train_py=GET_CLASS.format(part="rest", made=made.format(part="rest")))
    assert d9mlint("train.py").code == 0
