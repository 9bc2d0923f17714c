"""The cells of marimo notebooks run in the order of what they give and take, as code of the module."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d9mlint.python.source import facts as f
from d9mlint.python.source.parsing import parse
from tests.python.judging.test_causes import found

HEAD = "import marimo\n\napp = marimo.App()\n"
END = '\nif __name__ == "__main__":\n    app.run()\n'
NET = """
@app.cell
def _(torch):
    net = torch.nn.Linear(3, 2)
    return (net,)
"""
IMPORTS = """
@app.cell(hide_code=True)
def _():
    import torch
    return (torch,)
"""
TRAIN = """
@app.cell
def _(net, torch):
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for batch in torch.load("batches.pt"):
        net(batch).sum().backward()
        optimizer.step()
    torch.save(net.state_dict(), "net.pt")
    return
"""
SEED = """
@app.cell
def _(torch):
    torch.manual_seed(1)
    seeded = True
    return (seeded,)
"""


def body(source: str) -> tuple[f.Stmt, ...]:
    return parse(source.encode(), "train.py").body


@given(st.permutations([NET, IMPORTS, TRAIN]))
def test_cells_run_when_all_that_they_take_is_there(cells: list[str]) -> None:
    (one,) = found(HEAD + "".join(cells) + END, "unseeded-torch")
    line = (HEAD + "".join(cells)).splitlines().index("    net = torch.nn.Linear(3, 2)") + 1
    assert one.location.line == line


def test_a_seed_in_a_cell_that_comes_before_counts() -> None:
    net = NET.replace("_(torch)", "_(seeded, torch)")
    assert not found(HEAD + IMPORTS + net + TRAIN + SEED + END, "unseeded-torch", "seed-after-use")


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("@app.function\ndef f(x):\n    return x\n", [f.Def]),
        ("@app.class_definition\nclass C:\n    pass\n", [f.Class]),
        ("with app.setup:\n    import torch\n", [f.Import]),
        (
            "@app.cell\ndef _(a):\n    b = a\n    return b\n@app.cell\ndef _(b):\n    a = b\n    return a\n",
            [f.Assign] * 2,
        ),
        ("@app.cell\ndef _():\n    return\n", []),
        ("@other.cell\ndef _():\n    return\n", [f.Def]),
    ],
    ids=["a function", "a class", "setup", "a circle", "nothing", "no cell"],
)
def test_what_else_a_notebook_holds(text: str, kinds: list[type]) -> None:
    stmts = body(HEAD + text)[2:]
    assert [type(stmt) for stmt in stmts] == kinds
    assert not any(stmt.decorators for stmt in stmts if isinstance(stmt, (f.Def, f.Class)) and "other" not in text)


def test_a_module_that_only_names_it_stays_as_it_is() -> None:
    text = "import marimo\n@app.cell\ndef f():\n    return 1\n"
    assert [type(stmt) for stmt in body(text)] == [f.Import, f.Def]
