"""Whatever ends a program or takes its room: a partial report that says so, exit code 3, nothing left behind."""

from __future__ import annotations

import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT, validate

MANY_FILES = """\
import os
os.makedirs("data", exist_ok=True)
for n in range(300):
    open(f"data/{n}", "w").close()
print("done")
"""
CASES: dict[str, tuple[str, tuple[str, ...], str]] = {
    "fails at once": ("import no_such_module\n", (), "both runs ended with exit code 1: ModuleNotFoundError"),
    "is no Python": ("def\n", (), "both runs ended with exit code 1: SyntaxError"),
    "ends without a word": ("import os\nos._exit(5)\n", (), "both runs ended with exit code 5"),
    "crashes": ("import os\nos.abort()\n", (), "both runs were ended by signal 6"),
    "is killed": (
        "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)\n", (),
        "both runs were ended by signal 9, as by a system that has no memory left",
    ),
    "is killed once": (
        "import os, signal\nif os.path.exists('x'):\n    os.kill(os.getpid(), signal.SIGKILL)\nopen('x', 'w').close()\n", (),
        "a run was ended by signal 9, as by a system that has no memory left",
    ),
    "out of memory": (
        "import resource\nresource.setrlimit(resource.RLIMIT_AS, (2**29, 2**29))\nx = bytearray(2**32)\n", (),
        "both runs ended with exit code 1: MemoryError",
    ),
    "hangs": ("import time\nopen('pid', 'w').close()\ntime.sleep(600)\n", ("--time", "2"), " stopped after "),
    "hangs and ignores requests": (
        "import signal, time\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\ntime.sleep(600)\n", ("--time", "2"),
        " stopped after ",
    ),
    "the disk is full": (MANY_FILES, (), "could not be recorded to its end, as the disk is full"),
    "the disk is full of its output": ("print('x' * 100_000)\n", (), "File too large"),
}  # fmt: skip


def started(tmp_path: Path, source: str, *words: str, **options: Any) -> subprocess.Popen[str]:
    """The command on a program, with a folder of its own for what is temporary."""
    (tmp_path / "program.py").write_text(source)
    (tmp_path / "temporary").mkdir()
    command = [sys.executable, "-m", "d9mlint", "trace", "--format", "json", *words, "program.py"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(tmp_path / "temporary")}
    return subprocess.Popen(
        command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )


def report_of(process: subprocess.Popen[str], tmp_path: Path) -> Any:
    """The report of a command that has ended and left nothing behind."""
    out, err = process.communicate(timeout=120)
    assert list((tmp_path / "temporary").iterdir()) == []
    assert not carrying(str(tmp_path / "temporary"))
    assert process.returncode == 3, err
    report = json.loads(out)
    validate(report, "trace")
    assert report["partial"]
    return report


def carrying(marker: str) -> list[str]:
    """Processes that still run with a run's settings."""
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        try:
            if f"D9MLINT_TRACE={marker}".encode() in path.read_bytes():
                found.append(path.parent.name)
        except OSError:
            continue
    return found


def small_files() -> None:
    resource.setrlimit(resource.RLIMIT_FSIZE, (20_000, 20_000))


@pytest.mark.parametrize("name", CASES)
def test_the_report_says_what_has_happened(tmp_path: Path, name: str) -> None:
    source, words, said = CASES[name]
    limited = {"preexec_fn": small_files} if "disk" in name else {}
    report = report_of(started(tmp_path, source, *words, **limited), tmp_path)
    assert report["verdict"] == "failed"
    assert said in report["stopped"]


LATER = """\
import os, time
runs = int(open("runs").read()) if os.path.exists("runs") else 0
open("runs", "w").write(str(runs + 1))
if runs >= 2:
    open("waits", "w").close()
    time.sleep(600)
print(os.urandom(4))
"""


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_what_was_found_before_an_interruption_is_kept(tmp_path: Path, number: signal.Signals) -> None:
    process = started(tmp_path, LATER, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler))
    end = time.monotonic() + 60
    while not (tmp_path / "waits").exists():
        assert time.monotonic() < end
        time.sleep(0.05)
    process.send_signal(number)
    report = report_of(process, tmp_path)
    assert (report["verdict"], report["stopped"]) == ("part", "interrupted")


def test_no_time_to_look_where_they_part(tmp_path: Path) -> None:
    report = report_of(started(tmp_path, LATER, "--time", "4"), tmp_path)
    assert (report["verdict"], report["culprits"]) == ("part", [])
    assert report["stopped"] == "no time was left to look where they part: --time"


def test_nothing_can_be_written_at_all(d9mlint: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder for what is temporary is not there: no traceback, no verdict."""
    Path("a.py").touch()

    def full(*args: object, **options: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tempfile.TemporaryDirectory", full)
    ran = d9mlint("trace", "a.py")
    assert ran.code == 3
    assert "No space left on device" in ran.out
