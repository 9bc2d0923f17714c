"""Which conditions are told, and how: files and seeds that are there or not, nothing that a function works out."""

from __future__ import annotations

import pytest

from d9mlint.model import Location
from d9mlint.python.domain.conditions import Flag, either, flag_test
from d9mlint.python.judging.wording import words_of
from tests.python.judging.test_conditions import found

PARSER = """import argparse
import os
from pathlib import Path

import numpy as np
import yaml

parser = argparse.ArgumentParser()
parser.add_argument("--out", default="runs")
parser.add_argument("--masks", action="store_true")
args = parser.parse_args()
"""


def when(program: str, rule: str) -> list[tuple[str, ...]]:
    """The conditions of what a rule finds."""
    return [one.when for one in found({"train.py": program}, rule)]


@pytest.mark.parametrize(
    ("test", "told"),
    [
        ('not os.path.exists("split.npy")', "`split.npy` is not there yet"),
        ('Path("split.npy").exists()', "`split.npy` is there"),
        ('os.path.isfile(os.path.join(args.out, "split.npy"))', "`<--out>/split.npy` is there"),
        ('not os.path.exists(f"{args.out}/split.npy")', "`<--out>/split.npy` is not there yet"),
        ("os.path.isdir(args.out)", "`<--out>` is a folder"),
        ("not os.path.isdir(args.out)", "`<--out>` is no folder"),
        ("not os.path.isfile(args.out) and os.path.isdir(args.out)", "`<--out>` is a folder"),
        ('not os.path.isdir("a.npy") and os.path.isfile("a.npy")', "`a.npy` is a file"),
    ],
)
def test_a_file_that_has_to_be_there_or_not_is_told(test: str, told: str) -> None:
    program = f"{PARSER}\nif {test}:\n    print(np.random.permutation(8))\n"
    assert when(program, "unseeded-numpy") == [(told,)]


@pytest.mark.parametrize(
    ("test", "told"),
    [
        ('args.data.lower() == "faces"', "--data is faces"),
        ('args.data.upper() == "FACES"', "--data is FACES"),
    ],
)
def test_a_flag_in_another_spelling_is_told_by_the_branch_that_it_chooses(test: str, told: str) -> None:
    program = PARSER.replace("args =", 'parser.add_argument("--data", default="digits")\nargs =')
    program += (
        'if args.data.lower() == "digits":\n    print(1)\nelif args.data.lower() == "words":\n    print(2)\n'
        f"elif {test}:\n    print(np.random.permutation(8))\n"
    )
    assert told in when(program, "unseeded-numpy")[0]


def test_a_flag_in_small_letters_is_no_text_with_a_capital() -> None:
    program = PARSER.replace("args =", 'parser.add_argument("--data", default="digits")\nargs =')
    assert when(f'{program}if args.data.lower() == "Faces":\n    print(np.random.rand(8))\n', "unseeded-numpy") == []


def test_parts_of_a_config_that_have_one_name_are_not_told_as_if_they_were_one() -> None:
    program = f"""{PARSER}
def draw(config, rows):
    if config["kind"] == "random":
        print(np.random.permutation(rows))

def make(config):
    if config["kind"] == "rows":
        if config["noise"]:
            draw(config["rows"], 8)

make(yaml.safe_load(open("config.yaml")))
"""
    assert when(program, "unseeded-numpy") == [('`config["noise"]` is true',)]


def test_a_folder_that_files_may_be_joined_to_is_not_taken_for_one_of_them() -> None:
    program = f'{PARSER}\nif (Path("runs") / args.out).exists():\n    print(np.random.permutation(8))\n'
    assert when(program, "unseeded-numpy") == [()]


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("len(rows)", ()),
        ("rows.shape[0]", ()),
        ("[row for row in rows if row]", ()),
        ('config["few"]', ("`config['few']` is true",)),
        ("rows.few", ("`few` is true",)),
    ],
)
def test_what_a_function_works_out_is_no_setting(made: str, told: tuple[str, ...]) -> None:
    program = f"""{PARSER}
def draw(rows, config):
    few = {made}
    if few:
        print(np.random.permutation(8))

draw(yaml.safe_load(open("rows.yaml")), yaml.safe_load(open("config.yaml")))
"""
    assert when(program, "unseeded-numpy") == [told]


def test_a_seed_that_a_function_is_not_given_is_told() -> None:
    program = f"""{PARSER}
def generator(seed):
    if seed is not None:
        return np.random.RandomState(seed)
    return np.random.RandomState()

print(generator(yaml.safe_load(open("config.yaml"))["seed"]).rand(8))
"""
    assert when(program, "entropy-seed") == [("`seed` is None",)]


@pytest.mark.parametrize("add", ['names += ["masks"]', 'names.append("masks")', 'names.extend(["masks"])'])
def test_what_a_list_holds_under_a_condition_has_its_turn_under_that_alone(add: str) -> None:
    program = f"""{PARSER}
class Loss:
    def __init__(self, names):
        self.names = names

    def boxes(self, x):
        return x

    def masks(self, x):
        return x * np.random.rand()

    def one(self, name, x):
        return {{"boxes": self.boxes, "masks": self.masks}}[name](x)

    def __call__(self, x):
        for name in self.names:
            x = self.one(name, x)
        for name in self.names:
            if name == "masks":
                continue
            x = self.one(name, x)
        return x

names = ["boxes"]
if args.masks:
    {add}
print(Loss(names)(1.0))
"""
    assert when(program, "unseeded-numpy") == [("--masks is given",)]


def test_what_an_assertion_asks_for_that_holds_there_anyhow_is_told_all_the_same() -> None:
    program = f"""{PARSER}
def masks(outputs):
    assert "masks" in outputs
    return outputs["masks"] * np.random.rand()

outputs = {{"boxes": 1.0}}
if args.masks:
    outputs["masks"] = 2.0
if args.masks:
    print(masks(outputs))
"""
    assert when(program, "unseeded-numpy") == [("--masks is given",)]


def test_a_seed_that_comes_late_is_told_where_the_program_calls_the_helper() -> None:
    files = {
        "seeds.py": "import numpy as np\n\ndef fix():\n    np.random.seed(1)\n",
        "train.py": "import numpy as np\nfrom seeds import fix\n\nprint(np.random.rand())\nfix()\nprint(np.random.rand())\n",
    }
    (late,) = found(files, "seed-after-use")
    assert (late.location.path, late.location.line) == ("train.py", 5)
    assert [(one.location.path, one.location.line) for one in late.related] == [("train.py", 4), ("seeds.py", 4)]


def test_alternatives_of_one_flag_are_told_once() -> None:
    """Although two programs read it, each with a parser of its own."""
    one, other = (Flag("data", "--data", None, "value", Location("a.py", line, 1, line, 1)) for line in (1, 2))
    tests = [
        flag_test(flag, *wanted) for flag in (one, other) for wanted in (("none",), ("==", flag is one and "a" or "b"))
    ]
    assert words_of(either(*tests)) == ("--data is a or b or --data is not given",)


def test_who_calls_a_function_that_only_wraps_an_op_is_told() -> None:
    files = {
        "misc.py": "import torch.nn.functional as F\n\ndef interpolate(x, **words):\n    return F.interpolate(x, **words)\n",
        "train.py": """import torch
from misc import interpolate

layer = torch.nn.Conv2d(3, 3, 3).cuda()
x = layer(torch.ones(1, 3, 8, 8).cuda())
interpolate(x, size=(16, 16), mode="bilinear").sum().backward()
""",
    }
    (one,) = found(files, "nondeterministic-op", target="torch==2.0.1")
    assert (one.location.path, one.location.line) == ("misc.py", 4)
    assert [(place.location.path, place.location.line) for place in one.related] == [("train.py", 6)]


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ('if kind == "a":\n        return 1\n    if kind == "b":\n        return np.random.rand()', "` is 'b'"),
        ('if kind in ("a", "b"):\n        return np.random.rand()', "` is 'a' or 'b'"),
        ('if kind in ("a", "b", "c", "d", "e"):\n        return np.random.rand()', ""),
    ],
)
def test_a_setting_is_told_by_what_the_config_calls_it(body: str, told: str) -> None:
    program = f"""{PARSER}
def make(config):
    part = config["net"]
    kind = part["kind"]
    {body}
    return 2

print(make(yaml.safe_load(open("config.yaml"))))
"""
    assert when(program, "unseeded-numpy") == [(f"`config['net']['kind']{told}",) if told else ()]


@pytest.mark.parametrize(("asked", "told"), [("linear", []), ("lin", [("--pick is lin",)])])
def test_a_flag_has_no_value_that_is_none_of_its_choices(asked: str, told: list[tuple[str]]) -> None:
    program = f"""import argparse
import numpy as np

parser = argparse.ArgumentParser()
parser.add_argument("--pick", choices=["none", "lin"])
parser.set_defaults(pick="none")
args = parser.parse_args()
if args.pick == "{asked}":
    print(np.random.permutation(8))
"""
    assert when(program, "unseeded-numpy") == told


def test_a_device_that_takes_the_place_of_a_flag_is_told_by_its_name() -> None:
    program = """import argparse
import torch

parser = argparse.ArgumentParser()
parser.add_argument("--device", default="auto")
args = parser.parse_args()
if args.device == "auto":
    args.device = "cuda:{}".format(read("gpu.txt"))
torch.manual_seed(1)
net = torch.nn.Conv2d(1, 8, 3).to(args.device)
for x in torch.load("x.pt"):
    net(x.to(args.device)).sum().backward()
"""
    assert when(program, "missing-torch-determinism") == [("--device is not cpu",)]


@pytest.mark.parametrize(
    ("made", "told"),
    [
        ("found = list_of(args.out)\n    if found:", [("`found` is true",)]),
        ("found = os.listdir(args.out)\n    if found:", [()]),
        ("done = False\n    row, done = step(args.out)\n    if not done:", [()]),
    ],
)
def test_what_a_function_finds_out_is_no_setting(made: str, told: list[tuple[str, ...]]) -> None:
    program = f"{PARSER}\ndef run():\n    {made}\n        print(np.random.permutation(8))\n\n\nrun()\n"
    assert when("from other import list_of, step\n" + program, "unseeded-numpy") == told
