"""What the rules of seeds tell to do, by the generator that draws."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("imports", "draw", "seed", "own"),
    [
        ("random", "random.sample(range(9), 3)", "random.seed(1)", "random.Random(1)"),
        ("torch", "torch.rand(3)", "torch.manual_seed(1)", "torch.Generator().manual_seed(1)"),
        ("tensorflow as tf", "tf.random.normal([3])", "tf.random.set_seed(1)", "tf.random.Generator.from_seed(1)"),
        ("numpy as np", "np.random.rand(3)", "np.random.seed(1)", "np.random.default_rng(1)"),
    ],
)
def test_a_draw_at_import_may_have_a_generator_of_its_own(
    d9mlint: Callable[..., Any], imports: str, draw: str, seed: str, own: str
) -> None:
    Path("table.py").write_text(f"import {imports}\n\nNOISE = {draw}\n")
    Path("train.py").write_text(f"import {imports}\nimport table\n\n{seed}\nprint(table.NOISE)\n")
    found = d9mlint("train.py", "--format", "json").json["findings"]
    assert [one["remedy"] for one in found if one["rule"] == "import-time-draw" and own in one["remedy"]]


@pytest.mark.parametrize("seed", ["np.random.seed()", "np.random.seed(uuid.uuid4().int % 2**32)"])
def test_no_constant_is_told_for_a_seed_in_workers(d9mlint: Callable[..., Any], seed: str) -> None:
    text = f"""import uuid

import numpy as np
import torch
from torch.utils.data import DataLoader, Dataset


class Noise(Dataset):
    def __len__(self):
        return 8

    def __getitem__(self, index):
        return np.random.rand(3)


def begin(number):
    {seed}


torch.manual_seed(1)
for x in DataLoader(Noise(), num_workers=2, worker_init_fn=begin):
    print(x)
"""
    Path("train.py").write_text(text)
    (one,) = d9mlint("train.py", "--format", "json").json["findings"]
    assert "`torch.initial_seed() % 2**32`" in one["remedy"]
    d9mlint("train.py", "--fix", "--unsafe-fixes")
    assert Path("train.py").read_text() == text
    unseen = text.replace("(number)", "(worker_id)").replace(
        "for x in DataLoader", "import made\n\nfor x in made.loader"
    )
    Path("train.py").write_text(unseen)
    (one,) = d9mlint("train.py", "--format", "json", "--select", one["rule"]).json["findings"]
    assert "`torch.initial_seed() % 2**32`" in one["remedy"]


def test_a_seed_that_a_caller_leaves_out_is_told_there(d9mlint: Callable[..., Any]) -> None:
    text = """import sys

import numpy as np


class Game:
    def __init__(self, seed=None):
        self.random = np.random.RandomState(seed)


print(Game(1).random.rand())
if len(sys.argv) > 1:
    print(Game().random.rand())
"""
    Path("train.py").write_text(text)
    (one,) = d9mlint("train.py", "--format", "json").json["findings"]
    assert one["remedy"].startswith("give the seed that is None here a value: ")
    assert [place["line"] for place in one["related"]] == [13]
    d9mlint("train.py", "--fix", "--unsafe-fixes")
    assert Path("train.py").read_text() == text.replace("seed=None", "seed=1")


ORDER = """import numpy as np


def order(count, shuffle, seed=None):
    {check}
    rng = np.random.RandomState(seed)
    return rng.permutation(count) if shuffle else np.arange(count)


print(order(9, True))
print(order(9, False))
"""


@pytest.mark.parametrize(
    ("check", "told"),
    [
        ("assert count > 0", "give the seed that is None here a value: "),
        (
            "assert seed is None or shuffle is True",
            "pass an integer in each call that leaves the seed out and draws by it",
        ),
    ],
)
def test_a_default_that_an_assertion_refuses_is_not_told(d9mlint: Callable[..., Any], check: str, told: str) -> None:
    Path("train.py").write_text(ORDER.format(check=check))
    found = d9mlint("train.py", "--format", "json", "--select", "entropy-seed").json["findings"]
    assert found
    assert all(one["remedy"].startswith(told) for one in found)
    d9mlint("train.py", "--fix", "--unsafe-fixes")
    assert ("seed=1" in Path("train.py").read_text()) is check.endswith("> 0")


def test_generators_of_one_file_are_one_finding_and_cured_at_once(d9mlint: Callable[..., Any]) -> None:
    made = "np.random.default_rng()"
    Path("noise.py").write_text(
        f"import numpy as np\n\n\ndef first():\n    return {made}\n\n\ndef other():\n    return {made}\n"
    )
    Path("train.py").write_text("import noise\n\nprint(noise.first().random(), noise.other().random())\n")
    (one,) = d9mlint("train.py", "--format", "json").json["findings"]
    assert [one["line"], *(place["line"] for place in one["related"])] == [5, 9]
    d9mlint("train.py", "noise.py", "--fix")
    assert Path("noise.py").read_text().count("default_rng(1)") == 2


ENVIRONMENTS = """import gym


class Envs(gym.Env):
    def __init__(self, makers):
        self.all = [make() for make in makers]

    def reset(self):
        return [one.reset() for one in self.all]

    def step(self, actions):
        return [one.step(action) for one, action in zip(self.all, actions)]
{method}

def make():
    return gym.make("HalfCheetah-v2")


envs = Envs([make for _ in range(4)])
envs.seed(1)
print(envs.reset(), envs.step([0] * 4))
"""


def test_a_seed_that_the_base_of_a_vector_environment_takes_is_told_to_do_nothing(d9mlint: Callable[..., Any]) -> None:
    Path("train.py").write_text(ENVIRONMENTS.format(method=""))
    (one,) = d9mlint("train.py", "--format", "json").json["findings"]
    assert "`Envs.seed` does nothing" in one["message"]
    assert "give `Envs` a `seed`" in one["remedy"]
    assert [(related["line"], related["note"].partition(":")[0]) for related in one["related"]] == [
        (20, "this `seed` does nothing"), (16, "made here"),
    ]  # fmt: skip


def test_a_seed_of_its_own_is_not_told_to_do_nothing(d9mlint: Callable[..., Any]) -> None:
    method = "\n    def seed(self, seed):\n        for one in self.all:\n            one.seed(seed)\n"
    Path("train.py").write_text(ENVIRONMENTS.format(method=method))
    assert not d9mlint("train.py", "--format", "json").json["findings"]


WRAPPED = """import gym


class Proxy({base}):
    def __init__(self, env):
        {init}

    def reset(self{parameters}):
        return self.env.reset()

    def step(self, action):
        return self.env.step(action)
{method}

env = Proxy(gym.make("CartPole-v1"))
print(env.reset())
"""
USUAL = "call `env.reset(seed=1)` once after the environment is made"


@pytest.mark.parametrize(
    ("base", "parameters", "method", "told"),
    [
        ("gym.Env", "", "", "as `Proxy.reset` takes no seed, call "),
        ("object", "", "", "as `Proxy.reset` takes no seed, call "),
        ("gym.Wrapper", "", "", "as `Proxy.reset` takes no seed, call "),
        ("gym.Env", ", **options", "", "as `Proxy` has no `seed` that reaches it, call "),
        ("gym.Wrapper", ", **options", "", USUAL),
        ("gym.Env", ", seed=None", "\n    def seed(self, seed=None):\n        self.env.seed(seed)\n", USUAL),
    ],
)
def test_what_a_wrapper_hands_on_says_where_its_environment_is_seeded(
    d9mlint: Callable[..., Any], base: str, parameters: str, method: str, told: str
) -> None:
    init = "super().__init__(env)" if base == "gym.Wrapper" else "self.env = env"
    Path("train.py").write_text(WRAPPED.format(base=base, init=init, parameters=parameters, method=method))
    (one,) = d9mlint("train.py", "--format", "json", "--select", "own-rng-unseeded").json["findings"]
    assert one["remedy"].startswith(told)
    assert ("on the environment itself" in one["remedy"]) is (told != USUAL)


CARDS = """import gym


class Cards(gym.Env):
    def __init__(self):
        self.{seeds}()

    def {seeds}(self, seed=None):
        self.np_random, seed = gym.utils.seeding.np_random(seed)

    def reset(self{parameters}):
        return self.np_random.choice([1, 2])


print(Cards().reset())
"""


@pytest.mark.parametrize(
    ("seeds", "parameters", "told"),
    [
        ("seed", "", "call `env.seed(1)` once after the environment is made"),
        ("_seed", "", "call `env._seed(1)` once after the environment is made: `Cards` has no `seed`"),
        ("begin", "", "set `env.np_random = gym.utils.seeding.np_random(1)[0]` after"),
        ("begin", ", seed=None", "give the environment a seed after it is made: `env.reset(seed=1)` once, if"),
    ],
)
def test_a_class_of_environments_is_seeded_by_what_it_defines(
    d9mlint: Callable[..., Any], seeds: str, parameters: str, told: str
) -> None:
    Path("cards.py").write_text(CARDS.format(seeds=seeds, parameters=parameters))
    (one,) = d9mlint("cards.py", "--format", "json", "--select", "own-rng-unseeded").json["findings"]
    assert one["remedy"].startswith(told)


SHUFFLED = """import torch
from torch.utils.data import DataLoader, random_split

data = torch.load("data.pt")
{draw}
"""


@pytest.mark.parametrize(("version", "given"), [("1.5.1", False), ("1.13.1", True)])
@pytest.mark.parametrize(
    "draw",
    ["for batch in DataLoader(data, 4, shuffle=True):\n    print(batch)", "print(random_split(data, [3, 4])[0][0])"],
)
def test_a_generator_is_only_handed_over_where_the_release_takes_one(
    d9mlint: Callable[..., Any], draw: str, version: str, given: bool
) -> None:
    Path("train.py").write_text(SHUFFLED.format(draw=draw))
    arguments = ("--format", "json", "--target", f"torch=={version}")
    (one,) = d9mlint("train.py", *arguments).json["findings"]
    assert "`torch.manual_seed(1)`" in one["remedy"]
    assert ("generator=" in one["remedy"]) is given


@pytest.mark.parametrize(
    ("seeds", "more"), [("np.random.seed(args.seed)", ", or one made of `--seed`"), ("np.random.seed(1)", "")]
)
def test_a_generator_without_a_seed_is_told_of_the_flag_for_one(
    d9mlint: Callable[..., Any], seeds: str, more: str
) -> None:
    Path("train.py").write_text(
        "import argparse\nimport numpy as np\n\nparser = argparse.ArgumentParser()\n"
        f"parser.add_argument('--seed', type=int, default=1)\nargs = parser.parse_args()\n{seeds}\n"
        "print(np.random.default_rng().random())\n"
    )
    (one,) = d9mlint("train.py", "--format", "json", "--select", "entropy-seed").json["findings"]
    assert one["remedy"] == f"pass an integer: `np.random.default_rng(1)`{more}"


def test_a_seed_of_the_system_is_one_cause_whoever_hands_it_on(d9mlint: Callable[..., Any]) -> None:
    Path("lib.py").write_text("import torch\n\n\ndef pick():\n    return torch.seed()\n")
    rest = "print(torch.rand(3))\n"
    Path("a.py").write_text(f"import torch\nfrom lib import pick\n\ntorch.manual_seed(pick())\n{rest}")
    Path("b.py").write_text(f"import torch\nfrom lib import pick\n\npick()\n{rest}")
    (found,) = d9mlint(".", "--format", "json").json["findings"]
    assert found["entries"] == ["a.py", "b.py"]
    assert [(one["entry"], one["line"]) for one in found["programs"]] == [("a.py", 4), ("b.py", 4)]
