"""What Hydra composes out of config files: groups, packages, the order of a defaults list."""

from __future__ import annotations

from typing import Any

import pytest

from d9mlint.python.source.composing import Said, Tree, composed

MAIN = "conf/main.yaml"


def values(tree: Tree) -> dict[str, Any]:
    return {key: one.value if isinstance(one, Said) else values(one) for key, one in tree.items()}


def made(files: dict[str, str], name: str = "main") -> dict[str, Any] | None:
    found = composed(lambda path: files[path].encode() if path in files else None, "conf", name)
    return None if found is None else values(found)


@pytest.mark.parametrize(
    ("main", "expected"),
    [
        ("seed: 1\nrate: 1e-3\n", {"seed": 1, "rate": 0.001}),
        ("defaults: [model: small]\nseed: 1\n", {"seed": 1, "model": {"size": 8, "deep": {"layers": 2}}}),
        ("defaults: [model: small]\nmodel: {size: 9}\n", {"model": {"size": 9, "deep": {"layers": 2}}}),
        ("defaults: [_self_, model: small]\nmodel: {size: 9}\n", {"model": {"size": 8, "deep": {"layers": 2}}}),
        ("defaults: [model@net: small]\n", {"net": {"size": 8, "deep": {"layers": 2}}}),
        ("defaults: [base]\nseed: 1\n", {"seed": 1, "steps": 5}),
        ("defaults: [model/small]\n", {"model": {"size": 8, "deep": {"layers": 2}}}),
        ("defaults: [experiment: first]\nseed: 1\n", {"seed": 1, "steps": 7}),
        ("defaults: [_self_, experiment: first]\nseed: 1\n", {"seed": 3, "steps": 7}),
        ("defaults: [{optional model: none}, {hydra/launcher: joblib}]\nseed: 1\n", {"seed": 1}),
        ("defaults: [model: null]\nseed: 1\n", {"seed": 1}),
        ("defaults:\n  - model: ???\nseed: 1\n", {"seed": 1}),
        ("defaults: [both: [one, two]]\n", {"both": {"first": 1, "second": 2}}),
        ("defaults: [nested: outer]\n", {"nested": {"own": 1, "inner": {"depth": 4}}}),
        ("defaults: [nested: outer, override nested/inner: deep]\n", {"nested": {"own": 1, "inner": {"depth": 9}}}),
    ],
)
def test_a_config_is_composed_in_the_order_of_its_defaults(main: str, expected: dict[str, Any]) -> None:
    others = {
        "conf/model/small.yaml": "size: 8\ndeep: {layers: 2}\n",
        "conf/base.yaml": "seed: 0\nsteps: 5\n",
        "conf/experiment/first.yaml": "# a first try\n# @package _global_\nseed: 3\nsteps: 7\n",
        "conf/both/one.yaml": "first: 1\n",
        "conf/both/two.yml": "second: 2\n",
        "conf/nested/outer.yaml": "defaults: [inner: flat]\nown: 1\n",
        "conf/nested/inner/flat.yaml": "depth: 4\n",
        "conf/nested/inner/deep.yaml": "depth: 9\n",
    }
    assert made({MAIN: main, **others}) == expected


def test_a_file_that_names_itself_ends() -> None:
    assert made({MAIN: "defaults: [main]\nseed: 1\n"}) == {"seed": 1}


def test_there_is_nothing_without_the_file() -> None:
    assert made({MAIN: "seed: 1\n"}, "other") is None
