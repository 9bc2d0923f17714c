"""Classes whose module has their name in another spelling, in one of several packages: ``nets.plain.bpr`` has BPR."""

from __future__ import annotations

import pytest

from d9mlint.catalogue import load
from d9mlint.python.batch.run import newest_target
from d9mlint.python.domain.knowledge import Knowledge
from d9mlint.python.judging.judge import judge
from d9mlint.python.project.files import Project
from d9mlint.python.source.reading import text_reader

CATALOGUE = load()
TARGET = newest_target(["torch==2.9.1"], "gpu")
KNOWLEDGE = Knowledge(CATALOGUE.aliases, CATALOGUE.effects, TARGET, CATALOGUE.ops)
FIND = """import argparse
import importlib
import random

parser = argparse.ArgumentParser()
parser.add_argument("--model", default="{default}")
args = parser.parse_args()


def get_model(name):
    module = None
    for package in ["plain", "deep"]:
        path = ".".join(["nets", package, name.lower()])
        if importlib.util.find_spec(path):
            module = importlib.import_module(path)
            break
    if module is None:
        raise ValueError(name)
    return getattr(module, name)


"""
TRAINERS = """import random


class Trainer:
    def fit(self):
        print(random.random())


class PairTrainer:
    def fit(self):
        print(0)
"""
GET_TRAINER = """def get_trainer(name):
    try:
        return getattr(importlib.import_module("trainers"), name + "Trainer")
    except AttributeError:
        return getattr(importlib.import_module("trainers"), "Trainer")


get_trainer(args.model)().fit()
"""


def nets(plain: int, deep: int) -> dict[str, str]:
    """Packages of modules with a class each; of them the deep ones draw."""
    files = {"nets/__init__.py": "", "nets/plain/__init__.py": "", "nets/deep/__init__.py": "", "trainers.py": TRAINERS}
    for package, number, does in (("plain", plain, "print(0)"), ("deep", deep, "print(random.random())")):
        for at in range(number):
            name = f"{package.title()}NET{at}"
            text = f"import random\n\n\nclass {name}:\n    def run(self):\n        {does}\n"
            files[f"nets/{package}/{name.lower()}.py"] = text
    return files


def found(text: str, files: dict[str, str], default: str) -> list[tuple[str, str]]:
    whole = {**files, "train.py": FIND.replace("{default}", default) + text}
    told = judge(
        Project(text_reader({name: content.encode() for name, content in whole.items()})), "train.py", ("",),
        [CATALOGUE.rules["unseeded-python"]], KNOWLEDGE, TARGET,
    )  # fmt: skip
    assert told.unchecked == ()
    return [(one.location.path, ", ".join(one.when)) for one in told.findings if one.confidence != "low"]


def test_a_class_is_followed_under_its_own_name() -> None:
    told = found("get_model(args.model)().run()\n", nets(2, 1), "PlainNET0")
    assert told == [("nets/deep/deepnet0.py", "--model is DeepNET0")]


@pytest.mark.parametrize("sizes", [(40, 0), (40, 30)])
def test_that_of_the_default_is_among_more_than_are_told_apart(sizes: tuple[int, int]) -> None:
    files = nets(*sizes)
    files["nets/plain/plainnet9.py"] = files["nets/plain/plainnet9.py"].replace("print(0)", "print(random.random())")
    told = found("get_model(args.model)().run()\n", files, "PlainNET9")
    assert ("nets/plain/plainnet9.py", "--model is PlainNET9 (the default)") in told


def test_some_of_each_package_are_followed() -> None:
    told = found("get_model(args.model)().run()\n", nets(40, 30), "PlainNET9")
    assert len(told) > 1
    assert all(path.startswith("nets/deep/") and when.startswith("--model is DeepNET") for path, when in told)


@pytest.mark.parametrize("default", ["PlainNET0", "Pair"])
def test_a_handler_runs_where_a_module_has_no_such_name(default: str) -> None:
    assert found(GET_TRAINER, nets(1, 0), default) == [("trainers.py", "--model is not Pair")]
