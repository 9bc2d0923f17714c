"""What is said of a listing is about the call that lists, and no place is told twice."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("source", "remedy"),
    [
        ("import glob\nimport numpy as np\n\nnp.save('x', np.load(glob.glob('*.npy')[0]))\n",
         "wrap the listing in `sorted(...)`"),
        ("import os\nimport numpy as np\n\nrows = []\nfor folder, dirs, files in os.walk('.'):\n    for name in files:\n"
         "        rows.append(len(name))\nnp.save('x', np.array(rows))\n",
         "`dirs.sort()` in the loop and `for name in sorted(files)`"),
        ("import os\nimport numpy as np\n\n\ndef listed(top):\n    return [len(name) for folder, _, files in os.walk(top) "
         "for name in files]\n\n\nnp.save('x', np.array(listed('.')))\n",
         "wrap the whole comprehension in `sorted(...)`"),
    ],
)  # fmt: skip
def test_it_is_about_this_call(d9mlint: Callable[..., Any], source: str, remedy: str) -> None:
    Path("train.py").write_text(source)
    (finding,) = d9mlint("train.py", "--format", "json", "--select", "unsorted-listing").json["findings"]
    assert finding["remedy"] == remedy
    assert all(one["line"] != finding["line"] for one in finding["related"])


def test_a_number_of_seeds_is_no_seed(d9mlint: Callable[..., Any]) -> None:
    source = (
        "import argparse\nimport random\n\nparser = argparse.ArgumentParser()\n"
        "parser.add_argument('--{}', type=int)\nargs = parser.parse_args()\nprint(random.random())\n"
    )
    for flag, wanted in (("num-seed", False), ("seed", True)):
        Path("train.py").write_text(source.format(flag))
        found = d9mlint("train.py", "--format", "json").json["findings"]
        told = [one["message"] for one in found] + [other["note"] for one in found for other in one["related"]]
        assert any("runs reads it" in text for text in told) is wanted
