"""What `hydra.main` hands to a function: what stands in the config files is the default of a setting."""

from __future__ import annotations

import pytest

from tests.python.judging.test_causes import found

PROGRAM = """import hydra
import numpy as np
from hydra.utils import instantiate


@hydra.main({given})
def main(cfg):
    if cfg.{asked}:
        np.random.seed(cfg.seed)
    print(np.random.permutation(9))


if __name__ == "__main__":
    main()
"""
GIVEN = 'version_base=None, config_path="conf", config_name="config"'
ON, OFF = "defaults: [run: {}]\nseed: 1\n", "fixed: {}\n"


def judged(files: dict[str, str], given: str = GIVEN, asked: str = "run.fixed") -> list[tuple[str, ...]]:
    text = PROGRAM.format(given=given, asked=asked)
    return [one.when for one in found(text, "unseeded-numpy", files=files)]


@pytest.mark.parametrize("given", [GIVEN, '"conf", "config"', 'config_path="conf", config_name="config.yaml"'])
def test_a_group_gives_the_default(given: str) -> None:
    files = {"conf/config.yaml": ON.format("plain"), "conf/run/plain.yaml": OFF.format("false")}
    assert judged(files, given) == [("run.fixed in plain.yaml is false (the default)",)]


def test_a_seed_that_is_on_by_default_is_one() -> None:
    assert judged({"conf/config.yaml": ON.format("plain"), "conf/run/plain.yaml": OFF.format("true")}) == []


def test_what_another_key_stands_for() -> None:
    files = {"conf/config.yaml": "strict: false\nseed: 1\nrun: {fixed: '${strict}', other: '${now:%H}'}\n"}
    assert judged(files) == [("strict in config.yaml is false (the default)",)]
    assert judged(files, asked="run.other") == []


def test_the_user_has_to_give_it() -> None:
    assert judged({"conf/config.yaml": "run:\n  fixed: ???\nseed: 1\n"}) == [
        ("run.fixed in config.yaml is not given",),
    ]
