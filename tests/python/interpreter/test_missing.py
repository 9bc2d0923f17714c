"""Imports of what the project's own package does not have: nothing behind them is reached."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

DATA = "import torch\n\n\ndef batch():\n    return torch.rand(3)\n"
TAKES = "from pkg.data import batch\n\n\ndef run():\n    from pkg.{module} import {name}\n    print({name}())\n\n\n"
RUNS = "run()\nprint(batch())\n"
CAUGHT = "try:\n    run()\nexcept ImportError:\n    pass\nprint(batch())\n"


def _checked(d9mlint: Callable[..., Any], data: str, train: str, beside: str) -> tuple[bool, list[str]]:
    Path("pkg").mkdir()
    Path("pkg/__init__.py").touch()
    Path("pkg/data.py").write_text(data)
    if beside:
        Path(beside).touch()
    Path("train.py").write_text(train)
    report = d9mlint("train.py", "--format", "json", "--select", "unseeded-torch").json
    return bool(report["findings"]), [one["reason"] for one in report["unchecked"]]


@pytest.mark.parametrize(
    ("module", "name", "data", "end", "beside", "ends"),
    [
        ("data", "other", DATA, RUNS, "", True),
        ("net", "build", DATA, RUNS, "", True),
        ("data", "other", DATA + "\ndef test(net):\n    net.eval()\n", RUNS, "", True),
        ("data", "batch", DATA, RUNS, "", False),
        ("data", "other", DATA, CAUGHT, "", False),
        ("data", "other", DATA + "\ndef __getattr__(name):\n    return batch\n", RUNS, "", False),
        ("data", "other", DATA + "from extra import *\n", RUNS, "", False),
        ("data", "other", DATA + "globals()['oth' + 'er'] = batch\n", RUNS, "", False),
        ("data", "other", DATA, "import sys\nsys.path.insert(0, 'more')\n" + RUNS, "", False),
        ("net", "build", DATA, RUNS, "setup.py", False),
        ("net", "build", DATA, RUNS, "pkg/net.pyx", False),
        ("net_pb2", "build", DATA, RUNS, "", False),
    ],
)
def test_an_import_that_fails_ends_the_program(
    d9mlint: Callable[..., Any], module: str, name: str, data: str, end: str, beside: str, ends: bool
) -> None:
    found, unchecked = _checked(d9mlint, data, TAKES.format(module=module, name=name) + end, beside)
    assert found is not ends
    assert unchecked == ([f"ends with ImportError: nothing is `{name}` in `pkg.{module}` (train.py:5)"] if ends else [])


def test_what_the_catalogue_describes_is_not_looked_for_in_a_checkout_of_it(d9mlint: Callable[..., Any]) -> None:
    Path("accelerate").mkdir()
    for name in ("__init__", "logging", "utils"):
        Path(f"accelerate/{name}.py").touch()
    found, unchecked = _checked(
        d9mlint,
        DATA,
        "from accelerate.logging import get_logger\nfrom accelerate.utils import set_seed\n"
        "from pkg.data import batch\nprint(batch())\n",
        "",
    )
    assert (found, unchecked) == (True, [])


def test_a_module_that_ends_so_ends_what_imports_it(d9mlint: Callable[..., Any]) -> None:
    Path("models.py").write_text("from pkg.data import batch, other\n")
    found, unchecked = _checked(d9mlint, DATA, "import models\nfrom pkg.data import batch\nprint(batch())\n", "")
    assert (found, unchecked) == (
        False,
        ["ends with ImportError: nothing is `other` in `pkg.data` (models.py:1)"],
    )


def test_calls_into_a_module_that_is_not_there_are_told(d9mlint: Callable[..., Any]) -> None:
    Path("pkg").mkdir()
    Path("pkg/__init__.py").touch()
    Path("train.py").write_text("import random\nfrom pkg.training import loop\n\nloop.run(random.Random(1))\n")
    ran = d9mlint("train.py", "--verbose")
    assert "No findings (1 call could not be followed" in ran.out
    assert "`run` was not followed: the package `pkg` of the program has no module `training`" in ran.out
