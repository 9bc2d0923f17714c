"""The progress bar: for those who watch a terminal, after a while, and for nobody else."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys

import pytest

from d9mlint.cli.progress import progress

RUN = """
import sys, time
from d9mlint.cli import progress
progress.DELAY = {delay}
with progress.progress(quiet={quiet}) as watch:
    for done, name in enumerate(("train.py", "eval\\x1b[2J.py")):
        if watch is None:
            time.sleep(0.2)  # what would be shown has the time for it
        else:
            watch(done, 7, name)
        sys.stdin.readline()  # until it was seen
"""


def _on_a_terminal(*expected: str, delay: float, quiet: bool) -> str:
    """What the run shows; it goes on to its next file when the next of the expected texts was shown."""
    ours, theirs = pty.openpty()
    code = RUN.format(delay=delay, quiet=quiet)
    env = {**os.environ, "TERM": "xterm", "COLUMNS": "100"}
    child = subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stderr=theirs, env=env)
    os.close(theirs)
    assert child.stdin is not None
    found = b""
    for text in expected:
        while text.encode() not in found:
            assert select.select([ours], [], [], 60)[0], found  # (of a hang, not of time)
            found += os.read(ours, 65536)
        child.stdin.write(b"\n")
        child.stdin.flush()
    child.stdin.close()
    try:
        while part := os.read(ours, 65536):
            found += part
    except OSError:  # the other end is closed
        pass
    os.close(ours)
    assert child.wait() == 0
    return found.decode()


def test_a_long_run_shows_how_far_it_is() -> None:
    shown = _on_a_terminal("train.py", "eval\\x1b[2J.py", delay=0.1, quiet=False)  # a file name moves no cursor
    assert "1/7" in shown


@pytest.mark.parametrize(("delay", "quiet"), [(60.0, False), (0.1, True)])
def test_a_short_run_and_a_quiet_one_show_nothing(delay: float, quiet: bool) -> None:
    assert _on_a_terminal(delay=delay, quiet=quiet) == ""


def test_nothing_is_shown_where_nobody_looks() -> None:
    with progress(quiet=False) as watch:
        assert watch is None
