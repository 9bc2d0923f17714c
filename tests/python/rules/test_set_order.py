"""How sure `set-order` is of sets whose items may be numbers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]


@pytest.mark.parametrize(
    ("items", "confidence"),
    [
        ('open("names.txt").read().split()', "high"),
        ("table.columns", "high"),
        ("table.user", "medium"),
        ("table.user.values", "medium"),
        ('table[table.stars > 3]["user"]', "medium"),
        ('table["user"].unique().tolist()', "medium"),
        ('set(table["user"]).intersection(table.other.values)', "medium"),
    ],
)
def test_a_set_made_of_a_table_may_hold_numbers(d9mlint: Run, items: str, confidence: str) -> None:
    Path("train.py").write_text(
        f'import pandas as pd\n\ntable = pd.read_csv("ratings.csv")\nused = list(set({items}))\nprint(pd.DataFrame(used))\n'
    )
    run = d9mlint("check", "--format", "json", "--select", "set-order", "train.py")
    (finding,) = run.json["findings"]
    assert finding["confidence"] == confidence
