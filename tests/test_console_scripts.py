"""Console scripts: the function that one calls is run, whoever else calls it or not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Ran

Run = Callable[..., Ran]
CLI = """\
import torch
def train():
    net = torch.nn.Linear(3, 1)
    optimizer = torch.optim.SGD(net.parameters(), lr=0.1)
    for _ in range(3):
        net(torch.ones(1, 3)).sum().backward()
        optimizer.step()
def show():
    print(torch.rand(3))
"""


@pytest.fixture(autouse=True)
def project(d9mlint: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where d9mlint runs, a package whose functions nothing but console scripts calls, and a cache of its own."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    Path("tool").mkdir()
    Path("tool/__init__.py").write_text("")
    Path("tool/cli.py").write_text(CLI)


def _declared(*scripts: str) -> None:
    Path("setup.py").write_text(
        f"from setuptools import setup\nsetup(entry_points={{'console_scripts': {scripts!r}}})\n"
    )


def _found(d9mlint: Run) -> list[tuple[str, int, list[str]]]:
    report = d9mlint("check", "--device", "cpu", "--format", "json", ".").json
    return [(one["rule"], one["line"], one["when"]) for one in report["findings"]]


def test_the_function_of_a_script_is_run(d9mlint: Run) -> None:
    _declared("fit = tool.cli:train")
    assert _found(d9mlint) == [("unseeded-torch", 3, [])]


def test_another_function_is_another_program(d9mlint: Run) -> None:
    """What is kept of a file is not what another script calls in it."""
    _declared("fit = tool.cli:train")
    _found(d9mlint)
    Path("tool/cli.py").write_text(CLI + "def nothing():\n    pass\n")
    _declared("fit = tool.cli:nothing")
    assert _found(d9mlint) == []


def test_of_several_scripts_each_is_a_command(d9mlint: Run) -> None:
    Path("tool/cli.py").write_text(
        CLI.replace("def show", "def seeded():\n    torch.manual_seed(1)\n    train()\ndef show")
    )
    _declared("fit = tool.cli:train", "again = tool.cli:seeded")
    (found,) = _found(d9mlint)
    assert found[:2] == ("unseeded-torch", 3)
    assert any("train" in one for one in found[2])


def test_a_function_that_the_module_calls_itself_is_run_once(d9mlint: Run) -> None:
    Path("tool/cli.py").write_text(CLI + "if __name__ == '__main__':\n    torch.manual_seed(1)\n    train()\n")
    _declared("fit = tool.cli:train")
    assert _found(d9mlint) == []
