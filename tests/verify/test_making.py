"""Calls out of a file of the user's: what is read of it, and that it runs in the children only."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support import commanded

from d9mlint.model import UsageError
from d9mlint.verify import making

FILE = '''\
"""Sums of a few numbers.

More.
"""
import helper

FRAMEWORK = "torch"


def make():
    return {"x": [1.0, 2.0], "scale": 3.0}


def run(x, scale):
    return helper.scaled(x, scale)
'''


def read(text: str, *executions: str) -> making.Made:
    Path("call.py").write_text(text)
    return making.read(Path("call.py"), "my.op", executions)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_what_a_file_says_of_itself() -> None:
    made = read(FILE.replace("import helper", 'import helper\nGRADIENT = ["x"]\nDEVICES = ["cpu"]'))
    case = made.case
    assert made.packages == ("helper",)
    assert (case.op, case.framework, case.run) == ("my.op", "torch", "run(x=x, scale=scale)")
    assert (case.name, case.direction, case.devices) == ("Sums of a few numbers.", "backward", ("cpu",))


def test_the_framework_is_the_one_that_is_imported() -> None:
    assert read("import jax.numpy\ndef make(): ...\ndef run(): ...\n").case.framework == "jax"
    assert read("from tensorflow import keras\ndef make(): ...\ndef run(): ...\n", "xla").case.execution == "xla"


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("def run(): ...\n", "needs a function `make`"),
        ("def make(): ...\n", "needs a function `run`"),
        ("def (:\n", "call.py:1: no Python"),
        ("def make(): ...\ndef run(): ...\n", "it imports none"),
        ("import torch, jax\ndef make(): ...\ndef run(): ...\n", "it imports jax and torch"),
        ("import torch\nGRADIENT = ['y']\ndef make(): ...\ndef run(x): ...\n", "GRADIENT names 'y'"),
        ("import torch\nGRADIENT = 'x'\ndef make(): ...\ndef run(x): ...\n", "GRADIENT must be a list of texts"),
        ("import torch\nEXECUTION = 'jit'\ndef make(): ...\ndef run(x): ...\n", "choose one of eager, compiled"),
        ("import torch\nDTYPE = name\ndef make(): ...\ndef run(x): ...\n", "DTYPE must be a literal"),
        ("import torch\ndef make(): ...\ndef run(**x): ...\n", "takes the inputs by name"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(text: str, said: str) -> None:
    with pytest.raises(UsageError) as error:
        read(text)
    assert said in str(error.value)


@pytest.fixture
def verify(d9mlint: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    return commanded(d9mlint, tmp_path, monkeypatch)


def test_a_call_is_executed_with_the_package_that_it_is_about(verify: Callable[..., Any]) -> None:
    Path("call.py").write_text(FILE)
    Path("helper.py").write_text(
        "open('imported', 'a').close()\ncount = 0\n"
        "def scaled(x, by):\n    global count\n    count += 1\n    return [by * one + count for one in x]\n"
    )
    ran = verify("--op", "my.op", "--make", "call.py", "--format", "json")
    assert (ran.code, ran.json["evidence"][0]["verdict"]) == (1, "det-mode-leaks")
    assert "will execute code of yours: call.py, which imports helper" in ran.err
    assert Path("imported").exists()


def test_a_package_that_is_not_there_is_a_failure_of_the_case(verify: Callable[..., Any]) -> None:
    Path("call.py").write_text(FILE)
    ran = verify("--op", "my.op", "--make", "call.py")
    assert ran.code == 3
    assert "the op raised ModuleNotFoundError: No module named 'helper'" in ran.out


def test_a_make_goes_with_one_op(verify: Callable[..., Any]) -> None:
    Path("call.py").write_text(FILE)
    assert "goes with one --op" in verify("--make", "call.py").err
    assert verify("--op", "x", "--make", "gone.py").code == 2
