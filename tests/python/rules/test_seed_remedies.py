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
