"""Config files of which a run is given one: what all that fit say of a key is its default."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

HEAD = """import argparse
import json
import os
import numpy as np
import torch
import yaml
from yacs.config import CfgNode

parser = argparse.ArgumentParser()
parser.add_argument("--cfg"{given})
args = parser.parse_args()
"""
LOADED = "cfg = yaml.safe_load(open({path}))\n"
MERGED = """cfg = CfgNode()
cfg.seed = None
cfg.data = CfgNode({{"shuffle": False, "kind": "image"}})
cfg.merge_from_file({path})
"""
USE = """if cfg["seed"] is not None:
    np.random.seed(cfg["seed"])
if cfg["data"]["shuffle"]:
    print(np.random.permutation(9))
"""
ON, OFF, SEEDED = (
    "seed:\ndata: {shuffle: true}\n",
    "seed:\ndata: {shuffle: false}\n",
    "seed: 1\ndata: {shuffle: true}\n",
)
REQUIRED = ", required=True"
SHUFFLES, NO_SEED = "data.shuffle in the config file is true", "seed in the config file is not given"


@pytest.fixture
def when(d9mlint: Callable[..., Any]) -> Callable[..., list[list[str]]]:
    """The conditions of each use of NumPy's generator that nothing seeds, with such config files."""

    def judged(text: str, files: dict[str, str], *arguments: str) -> list[list[str]]:
        for name, content in {"train.py": text, **files}.items():
            Path(name).parent.mkdir(parents=True, exist_ok=True)
            Path(name).write_text(content)
        report = d9mlint("train.py", "--format", "json", "--select", "unseeded-numpy", *arguments).json
        return [sorted(found["when"]) for found in report["findings"]]

    return judged


def program(reads: str, path: str = "args.cfg", given: str = REQUIRED) -> str:
    return HEAD.format(given=given) + reads.format(path=path) + USE


@pytest.mark.parametrize("reads", [LOADED, MERGED])
@pytest.mark.parametrize(
    ("one", "other", "told"),
    [
        (ON, ON, [[f"{SHUFFLES} (the default)", NO_SEED]]),
        (ON, OFF, [[SHUFFLES, NO_SEED]]),
        (OFF, OFF, [[SHUFFLES, NO_SEED]]),
        (SEEDED, SEEDED, []),
    ],
)
def test_what_all_files_say_is_the_default(
    when: Callable[..., list[list[str]]], reads: str, one: str, other: str, told: list[list[str]]
) -> None:
    assert when(program(reads), {"conf/a.yaml": one, "conf/b.yaml": other}) == told


@pytest.mark.parametrize("reads", [LOADED, MERGED])
@pytest.mark.parametrize(
    "others",
    [
        {"environment.yml": "name: x\nchannels: [a]\ndependencies: [b]\n"},
        {"conf/odd.yaml": "seed: 1\nshuffle: 2\nwidth: 3\n"},
        {"conf/list.yaml": "[1, 2]"},
        {"conf/broken.yaml": "seed: [1"},
        {"conf/big.yaml": "seed: 1\ndata: {}\n" + "#" * 20_000},
        {".github/workflows/test.yml": "seed: 1\n"},
    ],
)
def test_files_of_something_else_say_nothing(
    when: Callable[..., list[list[str]]], reads: str, others: dict[str, str]
) -> None:
    told = [[f"{SHUFFLES} (the default)", NO_SEED]]
    assert when(program(reads), {"conf/a.yaml": ON, **others}) == told


@pytest.mark.parametrize(
    ("path", "given"),
    [
        ("os.path.join('conf', args.cfg)", REQUIRED),
        ("os.path.join('conf', args.cfg + '.yaml')", REQUIRED),
        ("f'conf/{args.cfg}.yaml'", REQUIRED),
        ("args.cfg", ", default='conf/a.yaml'"),
        ("f'conf/{args.cfg}.yaml'", ", default='a'"),
    ],
)
@pytest.mark.parametrize("reads", [LOADED, MERGED])
def test_a_path_may_tell_which_files_are_meant(
    when: Callable[..., list[list[str]]], reads: str, path: str, given: str
) -> None:
    ((*told,),) = when(program(reads, path, given), {"conf/a.yaml": ON, "seeded/b.yaml": SEEDED})
    assert [words.replace("a.yaml", "the config file") for words in told] == [f"{SHUFFLES} (the default)", NO_SEED]


def test_arguments_name_the_file(when: Callable[..., list[list[str]]]) -> None:
    files = {"conf/a.yaml": ON, "conf/b.yaml": OFF}
    assert when(program(MERGED), files, "--", "--cfg", "conf/a.yaml") == [[]]
    assert when(program(MERGED), files, "--", "--cfg", "conf/b.yaml") == []


def test_a_file_that_is_edited_is_read_again(when: Callable[..., list[list[str]]]) -> None:
    assert when(program(MERGED), {"conf/a.yaml": SEEDED}) == []
    assert when(program(MERGED), {"conf/a.yaml": ON}) == [[f"{SHUFFLES} (the default)", NO_SEED]]
    assert when(program(MERGED), {"conf/b.yaml": OFF}) == [[SHUFFLES, NO_SEED]]


@pytest.mark.parametrize(
    "use",
    [
        'if cfg.get("seed"):\n    np.random.seed(1)\n',
        'seed = cfg.get("seed", None)\nif seed is not None:\n    np.random.seed(seed)\n',
        'if "seed" in cfg:\n    np.random.seed(cfg["seed"])\n',
        'seed = cfg.pop("seed") if "seed" in cfg else None\nif seed is not None:\n    np.random.seed(seed)\n',
    ],
)
def test_what_only_some_files_have_is_not_given_in_others(when: Callable[..., list[list[str]]], use: str) -> None:
    text = (
        HEAD.format(given=REQUIRED)
        + LOADED.format(path="args.cfg")
        + use
        + "print(cfg['data'], np.random.permutation(9))\n"
    )
    without, seeded = {"conf/a.yaml": "data: {shuffle: true}\n"}, {"conf/b.yaml": SEEDED}
    assert when(text, {**without, **seeded}) == [[NO_SEED]]
    assert when(text.replace("args.cfg", '"conf/b.yaml"'), {}) == []


@pytest.mark.parametrize("reads", ['cfg.get("seed", 1)', 'cfg["seed"]', 'cfg["seed"] if "seed" in cfg else 1'])
def test_what_stands_in_for_a_setting_is_a_seed(when: Callable[..., list[list[str]]], reads: str) -> None:
    use = f"np.random.seed({reads})\nprint(cfg['data'], np.random.permutation(9))\n"
    text = HEAD.format(given=REQUIRED) + LOADED.format(path="args.cfg") + use
    assert when(text, {"conf/a.yaml": "data: {shuffle: true}\n", "conf/b.yaml": SEEDED}) == []


def test_what_only_some_files_have_below_is_not_known(when: Callable[..., list[list[str]]]) -> None:
    use = 'if cfg["data"].get("seed"):\n    np.random.seed(1)\nprint(np.random.permutation(9))\n'
    text = HEAD.format(given=REQUIRED) + LOADED.format(path="args.cfg") + use
    assert when(text, {"conf/a.yaml": "data: {seed: 1, x: 2}\n", "conf/b.yaml": "data: {x: 2}\n"}) == []


def test_literals_in_texts_are_read_as_yacs_does(when: Callable[..., list[list[str]]]) -> None:
    text = program(MERGED).replace('cfg["data"]["shuffle"]', 'cfg["seed"] == 1e-3').replace("is not None", "== 2")
    assert when(text, {"conf/a.yaml": "seed: '1e-3'\n"}) == [["seed in the config file is 0.001 (the default)"]]
