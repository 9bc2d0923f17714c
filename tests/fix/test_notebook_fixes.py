"""Notebooks are patched in the text of their cells; nothing else of the file changes."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d9mlint.app import fixing
from d9mlint.fix.beginnings import insertion
from d9mlint.fix.notebooks import CannotEdit, edited, sources
from d9mlint.model import Edit, Location

Run = Callable[..., Any]
PROGRAM = (
    "!pip install torch==2.1",
    "%%time\nimport os\nimport numpy as np\nimport torch",
    "names = os.listdir('data')  # größe\nx = [open(n).read() for n in names]\nnp.save('a', np.array(x))",
    "import pandas as pd\nprint(torch.rand(3), np.random.rand(3))",
)
PATCHED = (
    PROGRAM[0],
    f"{PROGRAM[1]}\n\nnp.random.seed(1)\ntorch.manual_seed(1)",
    PROGRAM[2].replace("os.listdir('data')", "sorted(os.listdir('data'))"),
    PROGRAM[3],
)


def lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def notebook(*texts: str, as_list: bool = True, **more: Any) -> dict[str, Any]:
    """A notebook with a title and these code cells, which were run."""
    made: list[dict[str, Any]] = [{"cell_type": "markdown", "metadata": {}, "source": ["# Title"]}]
    for number, text in enumerate(texts, 1):
        made.append({
            "cell_type": "code", "execution_count": number, "metadata": {"tags": ["é"]},
            "outputs": [{"output_type": "stream", "name": "stdout", "text": ["0.5\n"]}],
            "source": lines(text) if as_list else text,
        })  # fmt: skip
    return {"cells": made, "metadata": {}, "nbformat": 4, "nbformat_minor": 5, **more}


def texts(path: str = "n.ipynb") -> tuple[str, ...]:
    return tuple(sources(Path(path).read_bytes()).values())


def edit(cell: int, line: int, column: int, end: int, text: str) -> Edit:
    return Edit(Location("n.ipynb", line, column, line, end, cell), text)


LAYOUTS: dict[str, Callable[[Any], bytes]] = {
    "jupyter": lambda one: (json.dumps(one, indent=1, ensure_ascii=False) + "\n").encode(),
    "escaped": lambda one: json.dumps(one, indent=2).encode(),
    "one line": lambda one: json.dumps(one).encode(),
    "compact": lambda one: json.dumps(one, separators=(",", ":"), ensure_ascii=False).encode(),
    "tabs": lambda one: json.dumps(one, indent="\t", sort_keys=True).encode(),
    "windows": lambda one: json.dumps(one, indent=4).replace("\n", "\r\n").encode(),
    "mark": lambda one: b"\xef\xbb\xbf" + json.dumps(one, indent=1).encode() + b"\n\n",
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("as_list", [True, False])
def test_statements_and_edits_in_place_in_any_layout(d9mlint: Run, layout: str, as_list: bool) -> None:
    write = LAYOUTS[layout]
    Path("n.ipynb").write_bytes(write(notebook(*PROGRAM, as_list=as_list)))
    ran = d9mlint("n.ipynb", "--fix")
    assert ran.err.startswith("fixed 2 findings\n")
    assert Path("n.ipynb").read_bytes() == write(notebook(*PATCHED, as_list=as_list))
    assert d9mlint("n.ipynb", "--fix").err.startswith("fixed 0 findings\n")
    assert Path("n.ipynb").read_bytes() == write(notebook(*PATCHED, as_list=as_list))


def test_the_diff_is_that_of_the_cells(d9mlint: Run) -> None:
    before = LAYOUTS["jupyter"](notebook(*PROGRAM))
    Path("n.ipynb").write_bytes(before)
    ran = d9mlint("n.ipynb", "--diff")
    assert (ran.code, ran.err) == (1, "would fix 2 findings\n")
    assert ran.out == (
        "--- n.ipynb:cell 3\n+++ n.ipynb:cell 3\n@@ -2,3 +2,6 @@\n import os\n import numpy as np\n import torch\n+\n"
        "+np.random.seed(1)\n+torch.manual_seed(1)\n"
        "--- n.ipynb:cell 4\n+++ n.ipynb:cell 4\n@@ -1,3 +1,3 @@\n-names = os.listdir('data')  # größe\n"
        "+names = sorted(os.listdir('data'))  # größe\n x = [open(n).read() for n in names]\n np.save('a', np.array(x))\n"
    )
    assert Path("n.ipynb").read_bytes() == before


DRAW = "print(torch.rand(3))"
SEED = "torch.manual_seed(1)"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (["import torch", DRAW], [f"import torch\n\n{SEED}", DRAW]),
        ([f"import torch\n{DRAW}"], [f"import torch\n\n{SEED}\n\n{DRAW}"]),
        (["import torch\n", DRAW], [f"import torch\n\n{SEED}\n", DRAW]),
        (["%matplotlib inline\n!ls", "import torch", DRAW], ["%matplotlib inline\n!ls", f"import torch\n\n{SEED}", DRAW]),
        (["import torch\n%matplotlib inline\nx = 1", DRAW], [f"import torch\n\n{SEED}\n\n%matplotlib inline\nx = 1", DRAW]),
        (["%env A=1\n!ls", "import numpy", f"import torch\n{DRAW}", "import pandas"],
         ["%env A=1\n!ls", "import numpy", f"import torch\n\n{SEED}\n\n{DRAW}", "import pandas"]),
        (["import tools", f"import torch\n{DRAW}"], ["import tools", f"import torch\n\n{SEED}\n\n{DRAW}"]),
        (["  import torch\n  x = 1", DRAW], [f"  import torch\n\n  {SEED}\n\n  x = 1", DRAW]),
        (["%%bash\nls", "# first\nimport torch", DRAW], ["%%bash\nls", f"# first\nimport torch\n\n{SEED}", DRAW]),
        (["import torch\r\nx = 1\r\n", DRAW], [f"import torch\r\n\r\n{SEED}\r\n\r\nx = 1\r\n", DRAW]),
        (["", "# %%", "import torch", DRAW], ["", "# %%", f"import torch\n\n{SEED}", DRAW]),
        (["'''Text.'''", f"from torch import rand\n{DRAW[:6]}rand(3))"],
         ["'''Text.'''", f"from torch import rand\nimport torch\n\n{SEED}\n\n{DRAW[:6]}rand(3))"]),
    ],
)  # fmt: skip
def test_where_statements_go(d9mlint: Run, before: list[str], after: list[str]) -> None:
    Path("tools.py").write_text("X = 1\n")
    Path("n.ipynb").write_bytes(LAYOUTS["jupyter"](notebook(*before)))
    assert d9mlint("n.ipynb", "--fix").err == "fixed 1 finding\n"
    assert list(texts()) == after


def test_before_an_import_that_draws(d9mlint: Run) -> None:
    Path("table.py").write_text("import numpy as np\n\nTABLE = np.random.rand(3)\n")
    program = ("!ls\nimport numpy as np\nfrom table import TABLE", "print(TABLE, np.random.rand(2))")
    Path("n.ipynb").write_bytes(LAYOUTS["jupyter"](notebook(*program)))
    assert d9mlint("n.ipynb", "--fix").err == "fixed 1 finding\n"
    assert texts()[0] == "!ls\nimport numpy as np\n\nnp.random.seed(1)\n\nfrom table import TABLE"


def test_a_variable_set_by_a_magic_gives_no_name(d9mlint: Run) -> None:
    trains = (
        "net = torch.nn.Conv2d(3, 3, 1).cuda()\noptimizer = torch.optim.SGD(net.parameters(), lr=0.1)\n"
        "net(torch.ones(1, 3, 8, 8).cuda()).sum().backward()\noptimizer.step()"
    )
    Path("n.ipynb").write_bytes(LAYOUTS["jupyter"](notebook("%env A=1\nimport torch", trains)))
    ran = d9mlint("n.ipynb", "--fix", "--unsafe-fixes", "--target", "torch==2.1")
    assert ran.err == "fixed 2 findings\n", ran.out
    assert texts()[0] == (
        '%env A=1\nimport torch\nimport os\n\nos.environ["CUBLAS_WORKSPACE_CONFIG"] = ":4096:8"\ntorch.manual_seed(1)\n'
        "torch.use_deterministic_algorithms(True)"
    )


def test_ready_fixes_are_told_with_their_cell_and_made(d9mlint: Run) -> None:
    program = (
        "import torch\ntorch.use_deterministic_algorithms\ntorch.manual_seed(1)",
        "net = torch.nn.Conv2d(3, 8, 3).cuda()\nnet(torch.ones(2, 3, 9, 9).cuda()).sum().backward()",
    )
    Path("n.ipynb").write_bytes(LAYOUTS["jupyter"](notebook(*program)))
    (found,) = d9mlint("n.ipynb", "--format", "json").json["findings"]
    (made,) = found["fixes"][0]["edits"]
    assert made == {
        "path": "n.ipynb", "cell": 2, "line": 2, "column": 35, "end_line": 2, "end_column": 35, "text": "(True)"
    }  # fmt: skip
    assert "fixes" not in d9mlint("n.ipynb", "--format", "sarif").json["runs"][0]["results"][0]
    assert d9mlint("n.ipynb", "--fix").err == "fixed 1 finding\n"
    assert texts()[0].split("\n")[1] == "torch.use_deterministic_algorithms(True)"


def test_a_module_and_a_notebook_that_share_a_cause(d9mlint: Run) -> None:
    Path("net.py").write_text("import torch\n\n\ndef make():\n    return torch.rand(3)\n")
    Path("a.py").write_text("from net import make\n\nif __name__ == '__main__':\n    print(make())\n")
    Path("n.ipynb").write_bytes(LAYOUTS["jupyter"](notebook("from net import make", "print(make())")))
    assert d9mlint(".", "--fix").err == "fixed 1 finding\n"
    assert Path("a.py").read_text().startswith(f"import torch\n\nfrom net import make\n\n{SEED}\n")
    assert texts()[0] == f"from net import make\nimport torch\n\n{SEED}"


def test_a_notebook_on_standard_input(d9mlint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    data = LAYOUTS["jupyter"](notebook("import torch", DRAW))
    Path("n.ipynb").write_bytes(LAYOUTS["jupyter"](notebook("x = 1")))
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(data)))
    ran = d9mlint("-", "--stdin-filename", "n.ipynb", "--diff")
    assert (ran.code, ran.err) == (1, "would fix 1 finding\n")
    assert ran.out.startswith("--- n.ipynb:cell 2\n") and ran.out.endswith(f"+{SEED}\n")


# -- what stays as it is -------------------------------------------------------------------------------------------

OLD = {
    "worksheets": [{"cells": [{"cell_type": "code", "input": ["import torch\n", DRAW], "prompt_number": 1}]}],
    "metadata": {}, "nbformat": 3,
}  # fmt: skip


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (json.dumps(OLD), "unseeded-torch: notebooks of format 3 are not patched (`jupyter nbconvert --to notebook`"),
        (json.dumps(notebook("# coding: latin-1\nimport torch", DRAW)),
         "unseeded-torch: a cell declares another encoding than that of notebooks"),
        (json.dumps(notebook("import torch", DRAW)).replace('["import torch"]', '["import torch", 3]'),
         "unseeded-torch: the source of cell 2 is no text"),
    ],
)  # fmt: skip
def test_what_cannot_be_patched_is_told(d9mlint: Run, data: str, reason: str) -> None:
    Path("n.ipynb").write_text(data)
    ran = d9mlint("n.ipynb", "--fix")
    assert ran.code == 1
    assert ran.err.startswith("fixed 0 findings\n") and reason in ran.err
    assert Path("n.ipynb").read_text() == data


def test_nothing_is_put_into_a_cell_that_runs_several_times(d9mlint: Run) -> None:
    data = LAYOUTS["jupyter"](notebook("%%timeit\nimport torch", DRAW))
    Path("n.ipynb").write_bytes(data)
    ran = d9mlint("n.ipynb", "--fix", "--format", "json")
    assert ran.code == 3
    assert ran.json["unchecked"] == [
        {"path": "n.ipynb", "reason": "not fixed: statements would stand under `%%timeit`"}
    ]
    assert Path("n.ipynb").read_bytes() == data


def test_a_line_of_ipython_is_not_edited(d9mlint: Run) -> None:
    data = LAYOUTS["jupyter"](notebook("%env HOROVOD_AUTOTUNE=1\nimport horovod.torch as hvd\nhvd.init()", "x = !ls"))
    Path("n.ipynb").write_bytes(data)
    ran = d9mlint("n.ipynb", "--fix", "--unsafe-fixes")
    assert "horovod-autotune" in ran.out
    assert "fixed 0 findings\n  not fixed: n.ipynb:cell 2:1 horovod-autotune: " in ran.err
    assert Path("n.ipynb").read_bytes() == data


def test_a_notebook_that_would_read_otherwise_is_left_alone(d9mlint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    data = LAYOUTS["jupyter"](notebook("import torch", DRAW))
    Path("n.ipynb").write_bytes(data)
    monkeypatch.setattr("d9mlint.fix.notebooks.edited_text", lambda text, edits: text + "\n1")
    ran = d9mlint("n.ipynb", "--fix", "--format", "json")
    assert ran.code == 3
    assert ran.json["unchecked"] == [{"path": "n.ipynb", "reason": "not fixed: its cells would not read as meant"}]
    assert Path("n.ipynb").read_bytes() == data


def test_empty_and_broken_notebooks(d9mlint: Run) -> None:
    Path("empty.ipynb").write_text(json.dumps(notebook()))
    Path("none.ipynb").write_text(json.dumps(notebook("", "# nothing")))
    ran = d9mlint("empty.ipynb", "none.ipynb", "--fix")
    assert (ran.code, ran.err) == (0, "fixed 0 findings\n")
    Path("broken.ipynb").write_text("{")
    ran = d9mlint(".", "--fix")
    assert (ran.code, ran.err) == (3, "fixed 0 findings\n")
    assert "broken.ipynb: not a notebook: not valid JSON" in ran.out
    assert Path("broken.ipynb").read_text() == "{"


def test_a_notebook_that_changes_meanwhile_is_left_alone(d9mlint: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("n.ipynb").write_bytes(LAYOUTS["jupyter"](notebook("import torch", DRAW)))
    other = LAYOUTS["jupyter"](notebook("import torch", DRAW, "x = 1"))
    real = fixing.cure

    def slow(*args: Any) -> Any:
        done = real(*args)
        Path("n.ipynb").write_bytes(other)
        return done

    monkeypatch.setattr(fixing, "cure", slow)
    ran = d9mlint("n.ipynb", "--fix", "--format", "json")
    assert ran.code == 3
    assert ran.json["unchecked"] == [{"path": "n.ipynb", "reason": "not fixed: it has changed in the meantime"}]
    assert Path("n.ipynb").read_bytes() == other


def test_a_link_out_of_the_tree_is_never_written(d9mlint: Run, tmp_path_factory: pytest.TempPathFactory) -> None:
    away = tmp_path_factory.mktemp("away") / "n.ipynb"
    data = LAYOUTS["jupyter"](notebook("import torch", DRAW))
    away.write_bytes(data)
    Path("n.ipynb").symlink_to(away)
    assert d9mlint("n.ipynb", "--fix").code != 0
    assert away.read_bytes() == data
    assert Path("n.ipynb").is_symlink()


# -- the text of a notebook ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "it is no notebook"),
        (b"\xff", "it is no notebook"),
        (b"[]", "it is no notebook"),
        (b'{"cells": 3}', "it is no notebook"),
        (b'{"cells": [', "it is no notebook"),
        (b"[" * 100_000, "it is no notebook"),
        (json.dumps(OLD).encode(), "notebooks of format 3"),
        (b'{"cells": [{"cell_type": "code", "source": [["x"]]}]}', "the source of cell 1 is no text"),
        (b'{"cells": [{"cell_type": "markdown", "source": "x"}]}', "it has no code cell 1"),
        (b'{"cells": [3, {"cell_type": "code", "source": "x"}]}', "it has no code cell 1"),
        (b'{"cells": [{"cell_type": "code", "source": ""}]}', "an edit lies outside of cell 1"),
    ],
)
def test_what_cannot_be_edited(data: bytes, reason: str) -> None:
    with pytest.raises(CannotEdit, match=f"^{reason}"):
        edited(data, [edit(1, 1, 1, 2, "y")])


@pytest.mark.parametrize(
    ("before", "changes", "after"),
    [
        (r'["a\/b\n", "c\u00e9\n", "d"]', [edit(1, 3, 1, 2, "e")], r'["a\/b\n", "c\u00e9\n", "e"]'),
        (r'["a\ud800"]', [edit(1, 1, 1, 2, "b")], r'["b\ud800"]'),
        ('["é\\ud800"]', [edit(1, 1, 1, 2, "b")], r'["b\ud800"]'),
        (r'"aé\n"', [edit(1, 1, 1, 2, "b")], r'"bé\n"'),
        ("[]", [edit(1, 1, 1, 1, "x\ny")], r'["x\n", "y"]'),
        (r'["a\nb", "c"]', [edit(1, 2, 1, 3, "x")], r'["a\n", "x"]'),
        ('[ "a" ]', [edit(1, 1, 2, 2, "\nb")], r'[ "a\n", "b" ]'),
        (r'["x\u000cy\n", "z"]', [edit(1, 2, 1, 2, "w")], r'["x\u000cy\n", "w"]'),
        (r'["x\f", "y\n", "z"]', [edit(1, 2, 1, 2, "w")], r'["x\f", "y\n", "w"]'),
        ('["a"], "source": ["b"]', [edit(1, 1, 1, 2, "c")], '["a"], "source": ["c"]'),
        (r'["a\r\n", "b\r\n"]', [edit(1, 1, 2, 2, "\nc"), edit(1, 2, 1, 2, "d")], r'["a\r\n", "c\r\n", "d\r\n"]'),
    ],
)
def test_only_what_is_edited_is_written(before: str, changes: list[Edit], after: str) -> None:
    text = '{"cells": [{"source": %s, "cell_type": "code"}], "x": [NaN, "source", {"source": "a"}]}'
    assert edited((text % before).encode(), changes).decode() == text % after


LINE = st.sampled_from(["x = 1", "é = '\u2028'", "    y", "", "%magic", "a\x0cb", '# \\ " \t', "😀", "print(f'{x}')"])
CELL = st.builds(
    lambda first, others, joined: joined.join([first, *others]),
    st.sampled_from(["import x", "%%time", "ü"]), st.lists(LINE, max_size=4), st.sampled_from(["\n", "\r\n"]),
)  # fmt: skip


def at_line_feeds(text: str) -> list[str]:
    """The lines as browsers divide them."""
    return list(io.StringIO(text, newline="\n"))


@given(st.lists(CELL, min_size=1, max_size=4), st.data(), st.sampled_from(sorted(LAYOUTS)), st.booleans())
def test_all_else_stays(cells: list[str], data: st.DataObject, layout: str, as_list: bool) -> None:
    split: Callable[[str], list[str]] = data.draw(st.sampled_from([lines, at_line_feeds]))
    changes: list[Edit] = []
    after = list(cells)
    for number in data.draw(st.sets(st.integers(0, len(cells) - 1))):
        newline = "\r\n" if "\r\n" in cells[number] else "\n"
        rows = cells[number].split(newline)
        row = data.draw(st.integers(0, len(rows) - 1))
        end = len(rows[row]) + 1
        if rows[row] and data.draw(st.booleans()):
            changes.append(edit(number + 2, row + 1, 1, 2, "sorted("))
            rows[row] = f"sorted({rows[row][1:]}"
        else:
            changes.append(edit(number + 2, row + 1, end, end, "\nseed(1)"))
            rows.insert(row + 1, "seed(1)")
        after[number] = newline.join(rows)
    made = [notebook(*one, as_list=as_list) for one in (cells, after)]
    if as_list:
        for one, told in zip(made, (cells, after), strict=True):
            for cell, text in zip(one["cells"][1:], told, strict=True):
                cell["source"] = split(text)
    before, wanted = map(LAYOUTS[layout], made)
    done = edited(before, changes)
    assert json.loads(done.decode("utf-8-sig")) == made[1]
    assert done == wanted


def test_what_stands_outside_of_the_cells_of_marimo_does_not_run() -> None:
    source = b"import marimo\n\napp = marimo.App()\n\n\n@app.cell\ndef _():\n    import torch\n    return (torch,)\n"
    assert "marimo runs the cells" in str(insertion("n.py", source, ["torch.manual_seed(1)"]))
