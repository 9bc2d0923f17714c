"""How sure `set-order` is of sets whose items may be numbers, and that Python 2 has one order."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.python.judging.test_causes import found

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


@pytest.mark.parametrize(("python", "count"), [("2.7", 0), ("3.2", 0), ("3.3", 1), ("3.12", 1)])
def test_hashes_of_text_have_a_salt_since_python_3_3(python: str, count: int) -> None:
    text = 'import numpy as np\n\nwords = set(open("words.txt").read().split())\nnp.save("words.npy", np.array(list(words)))\n'
    assert len(found(text, "set-order", target=f"python=={python}")) == count
