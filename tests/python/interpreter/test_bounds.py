"""Nothing is cut in silence: each bound that is met is told with its place, and changes the exit code."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran

from d9mlint.python.interpreter.extent import bounds

TRAIN = """\
import torch

def step():
    weight = torch.randn(3)
    return weight

for epoch in range(3):
    step()
    print(epoch)
"""


def _unchecked(ran: Ran) -> list[tuple[str, str]]:
    return [(one["path"], one["reason"]) for one in ran.json["unchecked"]]


def test_a_program_that_is_too_long_is_told_where_it_was_left(
    d9mlint: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MAX_STEPS", 5)
    (tmp_path / "train.py").write_text(TRAIN)
    ran = d9mlint("check", "train.py", "--no-cache", "--format", "json")
    reason = "after 5 steps at train.py:4: what the program does from there on was not looked at"
    assert (ran.code, _unchecked(ran)) == (3, [("train.py", reason)])


def test_the_exit_code_says_so_whatever_the_findings(
    d9mlint: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    cut = "import numpy\nimport torch\nrng = numpy.random.default_rng()\ntorch.tensor(rng.random()).backward()\n"
    (tmp_path / "train.py").write_text(cut + "x = 1\n" * 9)
    assert d9mlint("check", "train.py", "--no-cache").code == 1
    monkeypatch.setattr(bounds, "MAX_STEPS", 5)
    ran = d9mlint("check", "train.py", "--no-cache")
    assert ran.code == 3
    assert "entropy-seed" in ran.out
    assert "train.py: after 5 steps at train.py:6: what the program does" in " ".join(ran.out.split())


def test_a_long_import_uses_up_nothing_that_the_script_needs(
    d9mlint: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(bounds, "MAX_STEPS", 10_000)
    (tmp_path / "table.py").write_text("".join(f"NAME_{n} = {n}\n" for n in range(9_000)))
    (tmp_path / "train.py").write_text("import table\nimport torch\ntorch.randn(3).sum().backward()\n")
    ran = d9mlint("check", "train.py", "--no-cache", "--format", "json")
    assert (ran.code, _unchecked(ran)) == (1, [])
    assert "unseeded-torch" in [one["rule"] for one in ran.json["findings"]]


def test_calls_that_are_too_deep_are_told(d9mlint: Callable[..., Ran], tmp_path: Path) -> None:
    deep = bounds.MAX_CALLS + 20
    functions = "".join(f"def f{n}():\n    return f{n + 1}()\n" for n in range(deep))
    (tmp_path / "train.py").write_text(f"import random\n{functions}def f{deep}():\n    return 1\nf0()\n")
    ran = d9mlint("check", "train.py", "--no-cache", "--format", "json")
    last = bounds.MAX_CALLS
    reason = f"calls inside {last} others were not followed: `f{last}` at train.py:{2 * last + 1}"
    assert (ran.code, _unchecked(ran)) == (3, [("train.py", reason)])


def test_an_entry_that_takes_too_long_is_told_and_looked_at_again(
    d9mlint: Callable[..., Ran], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "train.py").write_text("import torch\n" + "torch.relu(1)\n" * 2000)
    monkeypatch.setattr(bounds, "_CLOCK", 1)
    first = d9mlint("check", "train.py", "--format", "json", "--timeout", "0.000001")
    assert first.code == 3
    ((path, reason),) = _unchecked(first)
    assert path == "train.py"
    assert reason == ("timed out after 1e-06 s, at train.py:1: what the program does from there on was not looked at")
    assert _unchecked(d9mlint("check", "train.py", "--format", "json", "--timeout", "600")) == []


@pytest.mark.parametrize("value", ["0", "-1", "soon"])
def test_a_time_limit_is_a_number_above_zero(d9mlint: Callable[..., Ran], value: str) -> None:
    ran = d9mlint("check", ".", "--timeout", value)
    assert ran.code == 2
    assert "--timeout" in ran.err


def test_a_function_that_is_called_often_is_not_lost(d9mlint: Callable[..., Ran], tmp_path: Path) -> None:
    """The last of many calls with other arguments is looked at, too."""
    calls = "".join(f"initialize({n}, 0.{n}, None)\n" for n in range(bounds.MAX_RUNS + 5))
    (tmp_path / "train.py").write_text(
        "import torch\n\ndef initialize(size, scale, noise):\n    if noise is not None:\n        return noise()\n"
        f"    return torch.zeros(size) * scale\n\n{calls}"
        "initialize(3, 0.5, lambda: torch.rand(3)).sum().backward()\n"
    )
    ran = d9mlint("check", "train.py", "--no-cache", "--format", "json")
    assert _unchecked(ran) == []
    assert "unseeded-torch" in [one["rule"] for one in ran.json["findings"]]


RECURSIVE = """\
import functools
import random

import jax

print(random.random())

def grid(key, shape):
    if not shape:
        return key
    return jax.vmap(functools.partial(grid, shape=shape[1:]))(key)

print(grid(jax.random.PRNGKey(1), tuple(map(int, input().split()))))
"""


def test_a_function_that_calls_itself_by_another_name_is_no_depth(d9mlint: Callable[..., Ran], tmp_path: Path) -> None:
    (tmp_path / "train.py").write_text(RECURSIVE)
    ran = d9mlint("check", "train.py", "--no-cache", "--format", "json")
    assert _unchecked(ran) == []
    assert "unseeded-python" in [one["rule"] for one in ran.json["findings"]]


@pytest.mark.parametrize(("drawn", "sure"), [("before", True), ("after", False)])
def test_what_was_drawn_before_a_cut_is_surely_not_seeded_behind_it(
    d9mlint: Callable[..., Ran], tmp_path: Path, drawn: str, sure: bool
) -> None:
    deep = bounds.MAX_CALLS + 20
    functions = "".join(f"def f{n}():\n    return f{n + 1}()\n" for n in range(deep))
    draw = "print(random.random())\n"
    first, last = (draw, "") if drawn == "before" else ("", draw)
    (tmp_path / "train.py").write_text(f"import random\n{functions}def f{deep}():\n    return 1\n{first}f0()\n{last}")
    ran = d9mlint("check", "train.py", "--no-cache", "--format", "json", "--min-confidence", "low")
    (found,) = ran.json["findings"]
    assert (found["rule"], found["confidence"] == "low") == ("unseeded-python", not sure)


def test_a_dict_that_holds_itself_is_handed_on(d9mlint: Callable[..., Ran], tmp_path: Path) -> None:
    program = (
        "import torch\nheld = {}\nheld['held'] = held\ndef draw(held):\n    return torch.rand(3)\nprint(draw(held))\n"
    )
    (tmp_path / "train.py").write_text(program)
    ran = d9mlint("check", "train.py", "--no-cache", "--format", "json")
    assert _unchecked(ran) == []
    assert [one["rule"] for one in ran.json["findings"]] == ["unseeded-torch"]
