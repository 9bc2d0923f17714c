"""Cases in op files: what they become, and complaints with file:line."""

from __future__ import annotations

from pathlib import Path

import pytest

from d9mlint.catalogue.schema.cases import read_cases
from d9mlint.model import Case, CatalogueError

HEAD = """\
framework: torch
ops:
  - op: mine
    calls: [mine.op]
    direction: {direction}
    devices: [gpu]
    status: [{{default: varies, deterministic_mode: varies}}]
    sources: [mine.cu]
"""


def cases(tmp_path: Path, text: str, direction: str = "forward") -> list[Case]:
    file = tmp_path / "ops.yaml"
    file.write_text(HEAD.format(direction=direction) + "".join(f"    {line}\n" for line in text.splitlines()))
    return [case for one in read_cases([file]) if one.op.name == "mine" for case in one.cases]


def complaint(tmp_path: Path, text: str, direction: str = "forward") -> str:
    with pytest.raises(CatalogueError) as error:
        cases(tmp_path, text, direction)
    assert f"{(tmp_path / 'ops.yaml').as_posix()}:" in str(error.value)
    return str(error.value).rpartition("ops.yaml:")[2]


def test_a_case_for_every_dtype_and_execution(tmp_path: Path) -> None:
    found = cases(
        tmp_path,
        "case:\n  run: torch.f(x)\n  inputs:\n    x: {shape: [4]}\n  dtype: [float32, float64]\n  execution: [eager, compiled]",
    )
    assert [(case.dtype, case.execution) for case in found] == [
        ("float32", "eager"), ("float32", "compiled"), ("float64", "eager"), ("float64", "compiled"),
    ]  # fmt: skip
    assert len({case.key for case in found}) == 4
    assert found[0].inputs[0].shape == (4,)
    assert found[0].about == ("gpu",)


def test_both_directions(tmp_path: Path) -> None:
    text = "case:\n  run: torch.f(x)\n  inputs:\n    x: {shape: [4]}\n  gradient: [x]"
    assert cases(tmp_path, text, "both")[0].direction == "both"
    assert cases(tmp_path, text, "backward")[0].direction == "backward"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("case: {}", "9: `case` lacks `run`"),
        ("case:\n  run: torch.f(", "10: `run` is no Python expression"),
        ("case:\n  run: torch.f(y)", "10: `y` in `run` is neither an input nor made"),
        ("case:\n  run: exec(torch)", "10: `exec` in `run` is not allowed in a case"),
        ("case:\n  run: torch.__loader__", "10: `run` uses the private attribute `__loader__`"),
        ("case:\n  run: torch.f()\n  runs: 3", "11: unknown key `runs`"),
        ("case:\n  run: torch.f()\n  dtype: float33", "11: `dtype` must be one of"),
        ("case:\n  run: torch.f(x)\n  inputs:\n    x: {values: normal}", "12: `x` lacks `shape`"),
        ("case:\n  run: torch.f(x)\n  inputs:\n    x: {shape: [0]}", "12: sizes in `shape` are at least 1"),
        ("case:\n  run: torch.f(x)\n  inputs:\n    x: {shape: [4], values: index}", "12: `below`"),
        ("case:\n  run: torch.f(x)\n  inputs:\n    x: {shape: [4], below: 2}", "12: `below`"),
        ("case: {run: torch.f()}\ncases: [{run: torch.g()}]", "9: give one of `case`, `cases` and `no_case`"),
        ("case: {run: torch.f()}\nno_case: nobody knows", "9: give one of"),
        ("case:\n  run: torch.f()\n  execution: xla", "11: `execution` must be one of"),
        ("case:\n  run: torch.f()\n  scale: {gpu: 0}", "11: a scale is between 1 and"),
        ("case:\n  run: torch.f()\n  scale: {abacus: 2}", "11: "),
        ("case:\n  run: torch.f(x)\n  inputs:\n    x: {shape: [4**]}", "12: "),
        ("case:\n  run: f()\n  define: f = 1", "11: `define` holds functions and nothing else"),
        ("case:\n  run: f()\n  define: 'def f(): import os'", "11: `define` must not import"),
        ("case:\n  run: f()\n  define: 'def f(): return open(1)'", "11: `open` in `define` is not allowed"),
        ("case:\n  run: f()\n  define: 'def f('", "11: `define` is no Python code"),
        ("cases: [{run: torch.f()}, {run: torch.g()}]", "9: two cases of `mine` are called the same"),
    ],
)
def test_complaints(tmp_path: Path, text: str, said: str) -> None:
    assert complaint(tmp_path, text).startswith(said)


def test_sizes_that_fill_the_device(tmp_path: Path) -> None:
    text = "case:\n  run: torch.f(x)\n  scale: {gpu: 16}\n  inputs:\n    x: {shape: [64*, 4]}\n    y: {shape: [64, 4]}"
    (found,) = cases(tmp_path, text)
    assert [one.shape for one in found.inputs] == [(64, 4), (64, 4)]
    assert [one.shape for one in found.on("gpu").inputs] == [(1024, 4), (64, 4)]
    assert found.on("cpu") == found


def test_functions_of_a_case(tmp_path: Path) -> None:
    text = "case:\n  run: twice(x)\n  inputs:\n    x: {shape: [4]}\n  define: |\n    def twice(x):\n        return torch.add(x, x)"
    (found,) = cases(tmp_path, text)
    assert found.define.startswith("def twice(x):")


def test_why_an_op_has_no_case(tmp_path: Path) -> None:
    assert cases(tmp_path, "no_case: it takes two machines") == []
    (mine,) = [one for one in read_cases([tmp_path / "ops.yaml"]) if one.op.name == "mine"]
    assert mine.without == "it takes two machines"


def test_a_backward_op_needs_a_gradient(tmp_path: Path) -> None:
    assert "needs `gradient`" in complaint(tmp_path, "case: {run: torch.f()}", "backward")


def test_all_cases_of_the_catalogue_can_be_told_apart() -> None:
    keys = [(case.framework, case.key) for one in read_cases() for case in one.cases]
    assert len(keys) == len(set(keys))
    assert len(keys) > 120
