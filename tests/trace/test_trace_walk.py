"""The walk of `docs/trace.md`, from "my runs differ" to cured, taken as it is written."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from conftest import ROOT


def test_the_walk_of_the_page(d9mlint: Callable[..., Any]) -> None:
    page = (ROOT / "docs" / "trace.md").read_text(encoding="utf-8")
    walk = page[page.index('## From "my runs differ" to cured') :]
    program, first, last = re.findall(r"```(?:python|text)\n(.*?)```", walk, re.DOTALL)
    commands = re.findall(r"`d9mlint ([^`]+)`", walk)
    Path("train.py").write_text(program)
    codes = []
    for command, shown in zip(commands, (first, "", last), strict=True):
        ran = d9mlint(*command.split())
        codes.append(ran.code)
        for line in shown.splitlines():
            assert any(one.startswith(line) for one in ran.out.splitlines()), (line, ran.out)
    assert codes == [1, 0, 0]
    assert "random.seed(" in Path("train.py").read_text()
