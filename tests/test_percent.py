"""Scripts in percent format are programs; findings in them name the cell besides the line of the file."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d9mlint.discover.percent import cell_lines, is_percent

HEADER = "# ---\n# jupyter:\n#   jupytext:\n#     text_representation:\n#       format_name: percent\n# ---\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("# %%\nx\n# %% [markdown]\n# t\n#%%\ny\n", [(1, 2), (3, 4), (5, 7)]),
        ("# (c)\n\n# %% first\nx\n# %%% second\n", [(1, 2), (3, 4), (5, 6)]),
        (HEADER + "\n# %%\nx", [(8, 9)]),
        (HEADER.replace("percent", "light") + "\n# %%\nx", []),
        ("# %%\nx = 1\n", []),  # one mark may be any comment
        ("# %%timeit\n# %%time\nx\n", []),  # magics that are commented out
        ("def f():\n    # %%\n    # %%\n", []),
    ],
)
def test_cells(text: str, lines: list[tuple[int, int]]) -> None:
    assert cell_lines(text) == lines
    assert is_percent(text.encode()) == bool(lines)


@given(st.lists(st.sampled_from(["# %%", "#%% a", "x", "# ---", "", "# format_name: percent"]), max_size=12))
def test_cells_follow_each_other_to_the_end(lines: list[str]) -> None:
    found = cell_lines("\n".join(lines))
    assert all(one[1] + 1 == other[0] for one, other in zip(found, found[1:], strict=False))
    assert all(first <= last for first, last in found)
    assert not found or found[-1][1] == max(1, len(lines))


SCRIPT = """\
# %%
# !pip install torch==2.1.0
import random

# %% [markdown]
# # Title

# %%
print(random.random())
"""


def test_findings_name_the_cell_and_the_line_of_the_file(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("t.py").write_text(SCRIPT)
    ran = d9mlint(".")
    assert "t.py:9:7: warning unseeded-python [D9M101] (cell 3) " in ran.out
    assert "    9 | print(random.random())\n" in ran.out
    report = d9mlint("t.py", "--format", "json").json
    assert [(f["rule"], f["cell"], f["line"]) for f in report["findings"]] == [("unseeded-python", 3, 9)]
    assert report["entries"] == ["t.py"]
    assert "torch 2.1.0 (t.py:cell 1:2)" in ran.out
    assert "line=9," in d9mlint("t.py", "--format", "github").out
    place = d9mlint("t.py", "--format", "sarif").json["runs"][0]["results"][0]["locations"][0]
    assert place["logicalLocations"] == [{"name": "cell 3", "kind": "cell"}]
    assert place["physicalLocation"]["region"]["startLine"] == 9


def test_fixes_are_made_in_such_a_script(d9mlint) -> None:  # type: ignore[no-untyped-def]
    text = (
        "# %%\nimport torch\n\ntorch.manual_seed(1)\ntorch.use_deterministic_algorithms\n\n# %%\n"
        "net = torch.nn.Conv2d(3, 8, 3).cuda()\nnet(torch.ones(2, 3, 9, 9).cuda()).sum().backward()\n"
    )
    Path("t.py").write_text(text)
    d9mlint("t.py", "--fix")
    assert Path("t.py").read_text() == text.replace("algorithms\n", "algorithms(True)\n")


def test_seeds_go_into_the_cell_that_imports_what_they_seed(d9mlint) -> None:  # type: ignore[no-untyped-def]
    text = "# %%\nimport torch\n\n# %%\nprint(torch.rand(3))\n\n# %%\nimport pandas\n"
    Path("train.py").write_text(text)
    assert d9mlint("train.py", "--fix").err == "fixed 1 finding\n"
    assert Path("train.py").read_text() == text.replace("import torch\n", "import torch\n\ntorch.manual_seed(1)\n")
