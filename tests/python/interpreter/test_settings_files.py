"""Files of settings that a program reads: what stands in them is the default of a setting."""

from __future__ import annotations

import pytest

from tests.python.judging.test_causes import found

READ = """import argparse
import json
import os
import yaml
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--config", default="conf/first.{ending}")
args = parser.parse_args()
{reads}
if settings["seed"] is not None:
    np.random.seed(settings["seed"])
if settings["data"]["shuffle"]:
    print(np.random.permutation(9))
"""
JSON, YAML = '{"seed": null, "data": {"shuffle": true}}', "seed:\ndata:\n  shuffle: true\n"


@pytest.mark.parametrize(
    ("reads", "ending"),
    [
        ("with open('conf/first.json') as file:\n    settings = json.load(file)", "json"),
        ("settings = json.loads(open(args.config).read())", "json"),
        ("with open(os.path.join('conf', 'first.yaml')) as file:\n    settings = yaml.safe_load(file)", "yaml"),
        ("settings = yaml.load(open(args.config), Loader=yaml.FullLoader)", "yaml"),
    ],
)
def test_what_a_file_says_is_a_default(reads: str, ending: str) -> None:
    files = {f"conf/first.{ending}": JSON if ending == "json" else YAML}
    (one,) = found(READ.format(reads=reads, ending=ending), "unseeded-numpy", files=files)
    assert one.when == (f"data.shuffle in first.{ending} is true (the default)", f"seed in first.{ending} is not given")


SEEDED = """import argparse
import os
import pathlib
import random

import yaml

{reads}
if settings{seed} != -1:
    random.seed(0)
print(random.random())
"""


@pytest.mark.parametrize(
    "path",
    [
        "os.path.join(os.path.dirname(__file__), 'conf', 'first.yaml')",
        "os.path.join(os.path.dirname(os.path.abspath(__file__)), 'conf/first') + '.yaml'",
        "os.path.dirname(os.path.realpath(__file__)) + '/conf/first.yaml'",
        "pathlib.Path(__file__).resolve().parent / 'conf' / 'first.yaml'",
        "str(pathlib.Path('conf') / 'first.yaml')",
        "os.path.join(os.getcwd(), 'conf', 'first.yaml')",
    ],
)
def test_a_file_beside_the_program_is_found_from_where_that_lies(path: str) -> None:
    source = SEEDED.format(reads=f"settings = yaml.safe_load(open({path}))", seed="['seed']")
    (one,) = found(source, "unseeded-python", files={"conf/first.yaml": "seed: -1\n"})
    assert one.when == ("seed in first.yaml is -1 (the default)",)


LOADED = "yaml.safe_load(open('conf/first.yaml'))"
NAMESPACES = """def namespace(settings):
    made = argparse.Namespace()
    for name, value in settings.items():
        if isinstance(value, dict):
            value = namespace(value)
        setattr(made, name, value)
    return made

settings = namespace({loaded})
"""
OWN = """class Settings(dict):
    def __getattr__(self, name):
        value = self[name]
        return Settings(value) if isinstance(value, dict) else value

settings = Settings({loaded})
"""


@pytest.mark.parametrize(
    "reads",
    [
        "from easydict import EasyDict\nsettings = EasyDict({loaded})",
        "from munch import munchify\nsettings = munchify({loaded})",
        "from addict import Dict\nsettings = Dict({loaded})",
        "from box import Box\nsettings = Box({loaded})",
        "from omegaconf import OmegaConf\nsettings = OmegaConf.load('conf/first.yaml')",
        "from omegaconf import OmegaConf\nsettings = OmegaConf.merge(OmegaConf.create({loaded}), OmegaConf.from_cli())",
        "from omegaconf import OmegaConf\n"
        "settings = OmegaConf.merge(OmegaConf.create(dict(train=dict(seed=3))), OmegaConf.load('conf/first.yaml'))",
        "from ruamel.yaml import YAML\nsettings = argparse.Namespace(train=argparse.Namespace(\n"
        "    **YAML().load(pathlib.Path('conf/first.yaml').read_text())['train']))",
        NAMESPACES,
        OWN,
    ],
)
def test_settings_are_read_as_attributes(reads: str) -> None:
    source = SEEDED.format(reads=reads.format(loaded=LOADED), seed=".train.seed")
    (one,) = found(source, "unseeded-python", files={"conf/first.yaml": "train:\n  seed: -1\n"})
    assert one.when == ("train.seed in first.yaml is -1 (the default)",)
    assert not found(source, "unseeded-python", files={"conf/first.yaml": "train:\n  seed: 3\n"})


def test_what_the_command_line_may_change_is_a_default() -> None:
    reads = "from omegaconf import OmegaConf\nown = OmegaConf.create({'seed': -1})\n"
    given = SEEDED.format(reads=f"{reads}settings = OmegaConf.merge(own, OmegaConf.from_cli())", seed=".seed")
    (one,) = found(given, "unseeded-python")
    assert one.when == ("seed is -1 (the default)",)
    (fixed,) = found(SEEDED.format(reads=f"{reads}settings = own", seed=".seed"), "unseeded-python")
    assert fixed.when == ()


@pytest.mark.parametrize("text", [JSON.replace("null", "3"), JSON[:-1], "[1, 2]", "{" + JSON * 1000])
def test_a_seed_in_a_file_is_one_and_what_cannot_be_read_says_nothing(text: str) -> None:
    reads = "with open('conf/first.json') as file:\n    settings = json.load(file)"
    source = READ.format(reads=reads, ending="json")
    assert found(source, "unseeded-numpy", files={"conf/first.json": text}) == found(source, "unseeded-numpy") == []


REGISTRY = """class Registry:
    def __init__(self):
        self.table = {}

    def register(self, cls):
        self.table[cls.__name__] = cls
        return cls

    def build(self, settings):
        given = dict(settings)
        made = self.table.get(given.pop("type"))
        if made is None:
            raise KeyError(settings)
        return made(**given)


STEPS = Registry()
"""
STEPS = """import random
from registry import STEPS

@STEPS.register
class Flip:
    def __init__(self, share=1):
        self.share = share

    def __call__(self, image):
        return random.sample(image, self.share)

@STEPS.register
class Keep:
    def __init__(self, share=1):
        self.share = share

    def __call__(self, image):
        return image
"""
BUILDS = """import yaml
import steps
from registry import STEPS

with open("conf.yaml") as file:
    settings = yaml.safe_load(file)
first = STEPS.build(settings["first"])
for one in {parts}:
    print(STEPS.build(one)(first([1, 2, 3])))
"""
CONF = "first:\n  type: Keep\npipeline:\n- type: {}\n  share: 2\n"


@pytest.mark.parametrize("parts", ["settings['pipeline']", "[settings['pipeline'][0]]", "settings.pop('pipeline')"])
@pytest.mark.parametrize("named", ["Flip", "Keep"])
def test_a_registry_makes_what_each_part_of_a_list_names(parts: str, named: str) -> None:
    files = {"registry.py": REGISTRY, "steps.py": STEPS, "conf.yaml": CONF.format(named)}
    told = found(BUILDS.format(parts=parts), "unseeded-python", files=files)
    whens = {words for one in told for words in one.when}
    wanted = "pipeline[0].type in conf.yaml is Flip (the default)" if named == "Flip" else "is Flip"
    assert any(wanted in words for words in whens), whens
    assert named == "Flip" or not any("(the default)" in words for words in whens)
