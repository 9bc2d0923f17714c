"""Programs with commands (``add_subparsers``): their flags, their functions, and what the conditions say."""

from __future__ import annotations

import pytest

from d9mlint.model import UsageError
from d9mlint.python.domain.values import FlagValue
from tests.python.interpreter.test_story import calls, story
from tests.python.judging.test_causes import found

PROGRAM = """import argparse
import random
import numpy as np

def seed(args):
    np.random.seed(args.seed or random.randint(1, 10000))

def train(args):
    seed(args)
    np.random.rand()

def evaluate(args):
    np.random.permutation(args.size)

common = argparse.ArgumentParser(add_help=False)
common.add_argument("--size", type=int, default=3)
parser = argparse.ArgumentParser()
commands = parser.add_subparsers(dest="command")
one = commands.add_parser("train", parents=[common])
one.add_argument("--seed", type=int, default=42)
one.set_defaults(run=train)
two = commands.add_parser("eval", parents=[common])
two.set_defaults(run=evaluate)
args = parser.parse_args()
args.run(args)
"""


def test_the_function_of_a_command_runs_under_it() -> None:
    (one,) = found(PROGRAM, "unseeded-numpy", "partial-seed", "unseeded-python")
    assert one.message.startswith("`numpy.random.permutation`")
    assert one.when == ("command is eval",)


OF_CLASSES = """import argparse
import random
import numpy as np

def add_common(parser):
    parser.add_argument("--size", type=int, default=3)
    return parser

class Command:
    @classmethod
    def add(cls, commands):
        add_common(commands.add_parser(cls.NAME)).set_defaults(run=cls.run)

class Train(Command):
    NAME = "train"

    @classmethod
    def run(cls, args):
        np.random.rand()

class Search(Command):
    NAME = "search"

    @classmethod
    def run(cls, args):
        random.random()

parser = argparse.ArgumentParser()
commands = parser.add_subparsers(dest="mode")
for command in [Train, Search]:
    command.add(commands)
args = parser.parse_args()
args.run(args)
"""


def test_the_parser_of_each_command_is_another_one() -> None:
    whens = {one.rule: one.when for one in found(OF_CLASSES, "unseeded-numpy", "unseeded-python")}
    assert whens == {"unseeded-numpy": ("mode is train",), "unseeded-python": ("mode is search",)}


def test_a_default_seed_is_no_draw() -> None:
    assert found(PROGRAM.replace("default=42", "default=None"), "partial-seed") != []
    assert found(PROGRAM, "partial-seed") == []


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (["train", "--seed", "3", "--size", "4"], ["numpy.random.seed", "numpy.random.rand"]),
        (["train", "--seed", "0"], ["random.randint", "numpy.random.seed", "numpy.random.rand"]),
        (["eval", "--size", "4"], ["numpy.random.permutation"]),
    ],
)
def test_a_command_is_chosen_by_arguments(argv: list[str], expected: list[str]) -> None:
    assert [name for name in calls(story(PROGRAM, argv)) if "random" in name] == expected


def test_arguments_of_another_command() -> None:
    with pytest.raises(UsageError, match=r"no argument --seed .* it knows: --size"):
        story(PROGRAM, ["eval", "--seed", "3"])


def test_what_two_commands_have_of_one_name_is_that_of_the_one_that_runs() -> None:
    text = PROGRAM.replace("two.set", "two.add_argument('--seed', type=int, default=None)\ntwo.set")
    assert found(text, "partial-seed") == []
    text = text.replace("=None)", "=7)").replace("default=42", "default=None")
    assert [one.when for one in found(text, "partial-seed")] == [("--seed is not given", "command is train")]


def test_a_value_that_a_flag_cannot_have() -> None:
    text = """import argparse
import numpy as np
parser = argparse.ArgumentParser()
parser.add_argument("--kind", choices=["a", "b"], default="a")
args = parser.parse_args()
if args.kind == "c":
    np.random.rand()
elif args.kind == "b":
    np.random.permutation(3)
"""
    assert [one.when for one in found(text, "unseeded-numpy")] == [("--kind is b",)]
    assert [one.location.line for one in found(text, "unseeded-numpy")] == [9]


CLICK = """import click
import numpy as np

@click.group()
def cli():
    pass

@cli.command()
@click.option("--size", default=3)
def train(size):
    np.random.rand(size)

@cli.command("look-at")
def look():
    np.random.permutation(4)

cli()
"""
TYPER = """import typer
import numpy as np
app = typer.Typer()

@app.command()
def train(size: int = 3, *, seed: int = typer.Option(None)):
    if seed is not None:
        np.random.seed(seed)
    np.random.rand(size)

@app.command("look-at")
def look():
    np.random.permutation(4)

app()
"""
FIRE = """import fire
import numpy as np

def _helper():
    pass

def train(size=3, seed=None):
    if seed is not None:
        np.random.seed(seed)
    np.random.rand(size)

def look_at():
    np.random.permutation(4)

fire.Fire()
"""
CLASS = """import fire
import numpy as np

class Runner:
    def __init__(self, size=3):
        self.size = size

    def train(self, seed=None):
        if seed is not None:
            np.random.seed(seed)
        np.random.rand(self.size)

    def look_at(self):
        np.random.permutation(self.size)

fire.Fire(Runner)
"""


@pytest.mark.parametrize("text", [CLICK, TYPER, FIRE, CLASS], ids=["click", "typer", "fire", "fire-class"])
def test_commands_of_libraries(text: str) -> None:
    drawn = [name for name in calls(story(text)) if name.startswith("numpy.random") and "seed" not in name]
    assert drawn == ["numpy.random.rand", "numpy.random.permutation"]
    assert [name for name in calls(story(text, ["look-at"])) if "random" in name] == ["numpy.random.permutation"]
    assert "numpy.random.permutation" not in calls(story(text, ["train", "--size", "4"]))


@pytest.mark.parametrize("text", [TYPER, FIRE, CLASS], ids=["typer", "fire", "fire-class"])
def test_parameters_are_flags(text: str) -> None:
    (one,) = found(text.replace("np.random.permutation", "print"), "unseeded-numpy")
    assert one.when == ("--seed is not given", "the command is train")
    assert "numpy.random.seed" in calls(story(text, ["train", "--seed", "4"]))


def test_the_functions_that_fire_runs() -> None:
    one = "import fire\nimport numpy as np\ndef train(size=3):\n    np.random.rand(size)\n"
    (alone,) = found(one + "fire.Fire(train)\n", "unseeded-numpy")
    assert alone.when == ()
    several = one + "def look():\n    pass\nfire.Fire({'fit': train, 'look': look})\n"
    (chosen,) = found(several, "unseeded-numpy")
    assert chosen.when == ("the command is fit",)


OVERWRITTEN = """import fire
import numpy as np

class Config:
    seed = None
    size = 3

    def parse(self, given):
        for name, value in given.items():
            if not hasattr(self, name):
                raise ValueError(name)
            setattr(self, name, value)

config = Config()

def train(**kwargs):
    config.parse(kwargs)
    if config.seed is not None:
        np.random.seed(config.seed)
    np.random.rand(config.size)

fire.Fire(train)
"""


def test_flags_of_any_name_overwrite_the_constants_of_an_object() -> None:
    (one,) = found(OVERWRITTEN, "unseeded-numpy")
    assert one.when == ("--seed is not given",)
    assert "numpy.random.seed" in calls(story(OVERWRITTEN, ["--seed", "4"]))
    assert "numpy.random.seed" not in calls(story(OVERWRITTEN, ["--size", "4"]))
    (one,) = found(OVERWRITTEN.replace("config.parse(kwargs)", "pass"), "unseeded-numpy")
    assert one.when == ()


EXPERIMENT = """import random
from sacred import Experiment

experiment = Experiment("demo")

@experiment.config
def settings():
    size = 3
    twice = size * 2

@experiment.capture
def draw(count, size, twice):
    return [random.gauss(size, twice) for _ in range(count)]

@experiment.command
def evaluate(size):
    random.random()

@experiment.automain
def main(size, seed):
    random.shuffle(draw(2))
"""


@pytest.mark.parametrize(
    ("argv", "expected"),
    [
        (None, ["random.random", "random.gauss", "random.shuffle"]),
        ([], ["random.gauss", "random.shuffle"]),
        (["evaluate", "with", "seed=1"], ["random.random"]),
    ],
)
def test_sacred_calls_the_main_function_or_a_command(argv: list[str] | None, expected: list[str]) -> None:
    assert [name for name in calls(story(EXPERIMENT, argv)) if name.startswith("random.")] == expected


def test_sacred_gives_the_entries_of_the_configuration() -> None:
    (gauss,) = [event for event in story(EXPERIMENT).events if event.name == "random.gauss"]
    assert isinstance(gauss.args[0], FlagValue)
    assert gauss.args[0].flag.default == 3


def test_a_seed_of_sacred_is_a_flag() -> None:
    (one,) = found(EXPERIMENT, "entropy-as-seed", "unseeded-python")
    assert one.when == ("`with seed=` is not given",)
    assert found(EXPERIMENT.replace("size = 3", "size = 3; seed = 3"), "entropy-as-seed", "unseeded-python") == []
