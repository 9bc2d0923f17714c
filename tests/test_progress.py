"""The progress bar: for those who watch a terminal, after a while, and for nobody else."""

from __future__ import annotations

import os
import pty
import subprocess
import sys

import pytest

from d9mlint.cli.progress import progress

RUN = """
import time
from d9mlint.cli import progress
progress.DELAY = {delay}
with progress.progress(quiet={quiet}) as watch:
    for done, name in enumerate(("train.py", "eval\\x1b[2J.py")):
        if watch is not None:
            watch(done, 7, name)
        time.sleep(0.4)
"""


def _on_a_terminal(*, delay: float, quiet: bool) -> str:
    ours, theirs = pty.openpty()
    code = RUN.format(delay=delay, quiet=quiet)
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    subprocess.run([sys.executable, "-c", code], stderr=theirs, stdout=subprocess.DEVNULL, env=env, check=True)
    os.close(theirs)
    found = b""
    try:
        while part := os.read(ours, 65536):
            found += part
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    return found.decode()


def test_a_long_run_shows_how_far_it_is() -> None:
    shown = _on_a_terminal(delay=0.1, quiet=False)
    assert "1/7" in shown
    assert "train.py" in shown
    assert "eval\\x1b[2J.py" in shown  # a file name moves no cursor


@pytest.mark.parametrize(("delay", "quiet"), [(60.0, False), (0.1, True)])
def test_a_short_run_and_a_quiet_one_show_nothing(delay: float, quiet: bool) -> None:
    assert _on_a_terminal(delay=delay, quiet=quiet) == ""


def test_nothing_is_shown_where_nobody_looks() -> None:
    with progress(quiet=False) as watch:
        assert watch is None
