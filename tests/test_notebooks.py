"""Notebooks are programs: cells in document order, places told as cell and line."""

from __future__ import annotations

import ast
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d9mlint.python.source.notebooks import cells, installed, original, python
from d9mlint.python.source.reading import CannotRead

KEY = "b = jax.random.uniform(key)"


def notebook(*texts: str, runs: tuple[int, ...] = (), **metadata: Any) -> str:
    """A notebook with a title and these code cells."""
    made: list[dict[str, Any]] = [{"cell_type": "markdown", "metadata": {}, "source": ["# Title"]}]
    for number, text in enumerate(texts):
        run = runs[number] if runs else None
        made.append({"cell_type": "code", "execution_count": run, "source": text.splitlines(keepends=True)})
    return json.dumps({"cells": made, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}, indent=1)


def lines(*texts: str) -> list[str]:
    return python(notebook(*texts).encode()).decode().split("\n")


@pytest.mark.parametrize(
    ("line", "masked"),
    [
        ("x = 1", "x = 1"),
        ("x = a % b", "x = a % b"),
        ("%matplotlib inline", "pass  # %matplotlib inline"),
        ("!ls -l", "pass  # !ls -l"),
        ("    !ls", "    pass  # !ls"),
        ("?model", "pass  # ?model"),
        ("model.fit??", "pass  # model.fit??"),
        ("files = !ls", "files = get_ipython()  # files = !ls"),
        ("%time net.fit(x)", "net.fit(x)  # %time net.fit(x)"),
        ("    %prun a, b = f(x)  # slow", "    a, b = f(x)  # slow  # %prun a, b = f(x)  # slow"),
        ("%time f(x,", "pass  # %time f(x,"),
        ("%prun -s time f(x)", "pass  # %prun -s time f(x)"),
        ("%timeit f(x)", "pass  # %timeit f(x)"),
        ("x = 1  # %time is up", "x = 1  # %time is up"),
        ("%env A=1", "import os as _os; _os.environ['A'] = '1'  # %env A=1"),
        ("%set_env A b c", "import os as _os; _os.environ['A'] = 'b c'  # %set_env A b c"),
        ("%env A=$HOME", "pass  # %env A=$HOME"),
        ("%env", "pass  # %env"),
        ("%pylab inline --no-import-all", "pass  # %pylab inline --no-import-all"),
    ],
)
def test_lines(line: str, masked: str) -> None:
    found = lines("if x:\n" + line if line.startswith(" ") else line)
    assert masked in found
    if not line.startswith("files"):
        assert original(masked) == line


def test_pylab_brings_the_names_of_numpy(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("n.ipynb").write_text(
        notebook("%pylab inline\nimport torch", "noise = randn(3)\nprint(random.permutation(4), noise)")
    )
    ran = d9mlint("n.ipynb")
    assert "n.ipynb:cell 3:1:9: warning unseeded-numpy" in ran.out
    assert "line 2: `numpy.random.permutation` draws an order or a choice" in ran.out
    assert d9mlint("n.ipynb", "--fix").code == 0
    assert '"%pylab inline' in Path("n.ipynb").read_text()
    assert "np.random.seed(1)" in Path("n.ipynb").read_text()
    Path("n.ipynb").write_text(notebook("%pylab inline", "seed(1)\nprint(randn(3))"))
    assert d9mlint("n.ipynb").code == 0


def test_cells_of_other_languages_are_masked_and_timed_ones_are_not() -> None:
    assert lines("%%bash\npython train.py")[:2] == ["# %%bash", "# python train.py"]
    assert lines("%%time\nx = 1")[:2] == ["# %%time", "x = 1"]


def test_an_indented_cell_is_what_ipython_makes_of_it() -> None:
    assert lines(" with x:\n     y")[:2] == ["with x:", "    y"]


def test_where_the_cells_are() -> None:
    text = python(notebook("a\nb", "", "c", runs=(4, 5, 6)).encode()).decode()
    assert [(c.number, c.first, c.last, c.run) for c in cells(text)] == [(2, 1, 2, 4), (3, 3, 3, 5), (4, 4, 4, 6)]
    assert cells("x = 1\n") == ()


def test_format_3_and_other_languages() -> None:
    old = {"worksheets": [{"cells": [{"cell_type": "code", "input": ["x = 1"], "prompt_number": 3}]}], "nbformat": 3}
    assert python(json.dumps(old).encode()).startswith(b"x = 1\n")
    assert b"x <-" not in python(notebook("x <- 1", kernelspec={"language": "R"}).encode())


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "not a notebook: not valid JSON"),
        ("[" * 100_000, "not a notebook: not valid JSON"),
        ("[]", "not a notebook: no JSON object"),
        ("{}", "not a notebook: it has no list of cells"),
        ('{"cells": [3]}', "broken notebook: cell 1 is no JSON object"),
        ('{"cells": [{"cell_type": "code", "source": 3}]}', "broken notebook: the source of cell 1 is no text"),
    ],
)
def test_broken_notebooks(text: str, reason: str) -> None:
    with pytest.raises(CannotRead, match=f"^{reason}"):
        python(text.encode())


@given(st.lists(st.text(alphabet="ab =%!?\n\\#'\"", max_size=40), max_size=4))
def test_every_line_stays_a_line(texts: list[str]) -> None:
    text = python(notebook(*texts).encode()).decode()
    found = cells(text)
    assert [cell.last - cell.first + 1 for cell in found] == [max(1, len(one.split("\n"))) for one in texts]
    ast.parse("\n".join(["#"] * (text.count("\n"))))


def test_what_is_installed() -> None:
    text = python(
        notebook("!pip install -q tensorflow-gpu==2.4.1 'numpy<2'\n%tensorflow_version 1.x").encode()
    ).decode()
    found = [(one.package, one.specifier, one.reason) for one in installed(text, "n.ipynb")]
    assert found == [
        ("tensorflow", "==2.4.1", "n.ipynb:cell 2:1"),
        ("numpy", "<2", "n.ipynb:cell 2:1"),
        ("tensorflow", "<2.0", "n.ipynb:cell 2:2"),
    ]


TRAIN = (
    "!pip install tensorflow==2.4.1\n%env TF_DETERMINISTIC_OPS=yes\nimport random\nimport numpy as np\nimport tensorflow as tf",
    "%%time\nprint(random.random())\nprint(np.random.rand())  # d9m: ignore[unseeded-numpy] only shown",
)


def test_findings_name_cell_and_line(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("n.ipynb").write_text(notebook(*TRAIN))
    ran = d9mlint("n.ipynb")
    assert ran.code == 1
    assert "n.ipynb:cell 2:2:1: " in ran.out
    assert "    2 | %env TF_DETERMINISTIC_OPS=yes\n" in ran.out
    assert "n.ipynb:cell 3:2:7: warning unseeded-python" in ran.out
    assert "tensorflow 2.4.1 (n.ipynb:cell 2:1)" in ran.out
    report = d9mlint(".", "--format", "json").json
    found = [(f["rule"], f["cell"], f["line"], f["column"]) for f in report["findings"]]
    assert found == [("determinism-value", 2, 2, 1), ("unseeded-python", 3, 2, 7)]
    assert report["suppressed"] == 1
    assert report["entries"] == ["n.ipynb"]
    github = d9mlint("n.ipynb", "--format", "github").out
    assert "::warning file=n.ipynb,title=unseeded-python" in github
    assert "::cell 3, line 2%0A" in github
    sarif = d9mlint("n.ipynb", "--format", "sarif").json["runs"][0]["results"][-1]["locations"][0]
    assert sarif["message"]["text"] == "cell 3, line 2, column 7"


def test_a_seed_in_an_earlier_cell_counts_and_fixes_leave_the_file_alone(d9mlint) -> None:  # type: ignore[no-untyped-def]
    text = notebook("import numpy as np\nnp.random.seed(1)", "print(np.random.rand())")
    Path("n.ipynb").write_text(text)
    assert d9mlint("n.ipynb", "--fix").code == 0
    assert Path("n.ipynb").read_text() == text


def test_the_order_in_which_cells_were_run(d9mlint) -> None:  # type: ignore[no-untyped-def]
    texts = ("import numpy as np\nnp.random.seed(1)", "np.random.rand()")
    Path("n.ipynb").write_text(notebook(*texts, runs=(3, 2)))
    (found,) = d9mlint("n.ipynb", "--format", "json").json["findings"]
    assert (found["rule"], found["cell"], found["severity"]) == ("cells-out-of-order", 3, "info")
    assert found["related"] == [
        {"path": "n.ipynb", "cell": 2, "line": 2, "column": 1, "note": "seeded in cell 2, run as [3]"}
    ]
    Path("n.ipynb").write_text(notebook(*texts, runs=(3, 4)))
    assert d9mlint("n.ipynb").out.startswith("No findings.")


def test_lines_of_other_cells_are_named_with_their_cell(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("n.ipynb").write_text(notebook("import jax", "key = jax.random.key(1)\na = jax.random.normal(key)", KEY))
    (found,) = d9mlint("n.ipynb", "--format", "json", "--select", "key-reuse").json["findings"]
    assert (found["cell"], found["line"]) == (4, 1)
    assert "used in line 2 of cell 3" in found["message"]
    assert {(one["cell"], one["line"]) for one in found["related"]} == {(3, 1), (3, 2)}


def test_a_place_in_a_notebook_that_belongs_to_a_finding_in_a_module_has_its_cell(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("tools.py").write_text("import random\n\n\ndef draw():\n    return random.random()\n")
    Path("n.ipynb").write_text(notebook("import random\nimport tools", "x = tools.draw()\ny = random.random()"))
    (found,) = d9mlint("n.ipynb", "--format", "json").json["findings"]
    assert found["path"] == "tools.py"
    assert [(one["path"], one["cell"], one["line"]) for one in found["related"]] == [("n.ipynb", 3, 2)]


def test_broken_notebooks_are_told(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("a.ipynb").write_text("no")
    Path("b.ipynb").write_text(notebook("x = 1", "y = ("))
    ran = d9mlint(".")
    assert ran.code == 3
    assert "a.ipynb: not a notebook: not valid JSON" in ran.out
    assert "b.ipynb: syntax error at line 1 of cell 3" in ran.out


def test_programs_of_a_finding_that_are_notebooks_name_their_cell(d9mlint) -> None:  # type: ignore[no-untyped-def]
    Path("lib.py").write_text("import numpy as np\n\n\ndef draw():\n    return np.random.rand(3)\n")
    Path("a.py").write_text("from lib import draw\n\nprint(draw())\n")
    Path("b.ipynb").write_text(notebook("import lib", "x = 1\nprint(lib.draw())"))
    found = d9mlint(".", "--format", "json").json["findings"]
    programs = [(one["entry"], one.get("cell"), one["line"]) for one in found[0]["programs"]]
    assert programs == [("a.py", None, 3), ("b.ipynb", 3, 2)]
