"""Do two runs differ? With programs of the standard library only, in real processes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from conftest import ROOT
from tracing import traced

from d9mlint.model import TraceReport
from d9mlint.report.trace.words import headline
from d9mlint.trace.compare import compared
from d9mlint.trace.process import RAN, Ended
from d9mlint.trace.recording import Loss, Recording
from d9mlint.trace.run import Conditions, Run

Ran = Callable[..., Any]


def test_equal_runs(d9mlint: Ran) -> None:
    report = traced(d9mlint, "print('the same')\n")
    assert (report["code"], report["verdict"], report["step"]) == (0, "equal", None)
    assert report["bound"] == 0.95  # two runs exclude little, and the report says so
    assert [one["ended"] for one in report["runs"]] == ["came to its end"] * 2


def test_addresses_of_objects_are_no_difference(d9mlint: Ran) -> None:
    """A model that is printed shows where its functions lie."""
    assert traced(d9mlint, "print(object(), lambda: 1)\n")["verdict"] == "equal"
    assert traced(d9mlint, "import os\nprint(object(), os.urandom(8))\n")["verdict"] == "part"


def test_more_runs_give_a_better_bound(d9mlint: Ran) -> None:
    assert traced(d9mlint, "print('the same')\n", "--runs", "4")["bound"] == pytest.approx(0.632, abs=0.001)


def test_the_hash_seed_differs_between_runs(d9mlint: Ran) -> None:
    report = traced(d9mlint, "print(hash('text'))\n")
    assert (report["code"], report["verdict"]) == (1, "part")
    assert "standard output differs" in report["what"]


def test_a_hash_seed_of_the_user_stays(d9mlint: Ran, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONHASHSEED", "0")
    assert traced(d9mlint, "print(hash('text'))\n")["verdict"] == "equal"


def test_files_are_compared(d9mlint: Ran) -> None:
    report = traced(d9mlint, "import os\nopen('result.txt', 'w').write(os.urandom(4).hex())\n")
    assert (report["code"], report["verdict"]) == (1, "part")
    assert any("wrote `result.txt` differently" in note for note in report["notes"])
    assert report["runs"][0]["wrote"] == ["result.txt"]


def test_what_the_first_run_leaves_for_the_second_is_told(d9mlint: Ran) -> None:
    source = """\
import os
start = int(open("state").read()) if os.path.exists("state") else 0
with open("state", "w") as stream:
    stream.write(str(start + 1))
"""
    report = traced(d9mlint, source)
    assert report["verdict"] == "part"
    assert any("run 2 read `state`, which an earlier run had written" in note for note in report["notes"])


def test_a_file_that_a_run_writes_first_is_no_leftover(d9mlint: Ran) -> None:
    report = traced(d9mlint, "open('f', 'w').write('x')\nprint(open('f').read())\n")
    assert (report["verdict"], report["notes"]) == ("equal", [])


def test_arguments_and_modules(d9mlint: Ran, tmp_path: Path) -> None:
    (tmp_path / "package").mkdir()
    (tmp_path / "package" / "__init__.py").touch()
    (tmp_path / "package" / "__main__.py").write_text("import sys\nopen('args', 'w').write(repr(sys.argv[1:]))\n")
    ran = d9mlint("trace", "-m", "package", "--", "--seed", "1")
    assert ran.code == 0
    assert ran.out.startswith("-m package --seed 1: equal")
    assert Path("args").read_text() == "['--seed', '1']"


def test_a_program_that_fails_has_no_verdict(d9mlint: Ran) -> None:
    report = traced(d9mlint, "import sys\nsys.exit('no data')\n")
    assert (report["code"], report["verdict"], report["partial"]) == (3, "failed", True)
    assert report["stopped"] == "both runs ended with exit code 1: no data"


def test_a_program_that_fails_in_one_run_parts(d9mlint: Ran) -> None:
    source = "import os, sys\nif os.path.exists('x'):\n    sys.exit(4)\nopen('x', 'w').close()\n"
    report = traced(d9mlint, source)
    assert (report["code"], report["verdict"]) == (1, "part")
    assert report["what"] == "one run came to its end, the other ended with exit code 4"


def test_a_program_that_hangs_is_ended_with_all_it_has_started(d9mlint: Ran) -> None:
    source = """\
import os, subprocess, sys, time
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"], start_new_session=True)
open("pid", "w").write(str(child.pid))
time.sleep(600)
"""
    report = traced(d9mlint, source, "--time", "4")
    assert (report["code"], report["verdict"], report["partial"]) == (3, "failed", True)
    assert "was stopped after" in report["stopped"]
    pid = int(Path("pid").read_text())
    end = time.monotonic() + 5
    while _is_running(pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert not _is_running(pid)


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_leaves_a_partial_report_and_nothing_else(tmp_path: Path, number: signal.Signals) -> None:
    (tmp_path / "program.py").write_text("import os, time\nopen('pid', 'w').write(str(os.getpid()))\ntime.sleep(600)\n")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    command = [sys.executable, "-m", "d9mlint", "trace", "program.py"]
    env = {**os.environ, "PYTHONPATH": str(ROOT), "TMPDIR": str(temporary)}
    process = subprocess.Popen(command, cwd=tmp_path, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    end = time.monotonic() + 60
    while not (tmp_path / "pid").exists() or not (tmp_path / "pid").read_text():
        assert time.monotonic() < end
        time.sleep(0.05)
    process.send_signal(number)
    out, _ = process.communicate(timeout=30)
    assert process.returncode == 3
    assert b"partial report: interrupted" in out
    assert not _is_running(int((tmp_path / "pid").read_text()))
    assert list(temporary.iterdir()) == []


def test_the_users_own_sitecustomize_comes_first(d9mlint: Ran, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "sitecustomize.py").write_text("import builtins\nbuiltins.own = 'chained'\n")
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "own"))
    source = "import sitecustomize\nopen('own.txt', 'w').write(own + sitecustomize.__file__)\n"
    assert traced(d9mlint, source)["verdict"] == "equal"
    assert Path("own.txt").read_text() == f"chained{tmp_path / 'own' / 'sitecustomize.py'}"


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_workers_do_not_record_into_the_file_of_the_program(d9mlint: Ran, method: str) -> None:
    source = f"""\
import multiprocessing, random
def work(n):
    return n * 2
if __name__ == "__main__":
    with multiprocessing.get_context("{method}").Pool(2) as pool:
        print(pool.map(work, range(4)))
"""
    report = traced(d9mlint, source)
    assert (report["code"], report["verdict"]) == (0, "equal")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "name a script, a module with -m, or a launcher"),
        (["a.py", "-m", "b"], "name a script, a module with -m, or a launcher"),
        (["--", "no-such-launcher", "a.py"], "launcher not found: no-such-launcher"),
        (["gone.py"], "path not found: gone.py"),
        (["."], "not a file: ."),
        (["a.py", "--runs", "1"], "Invalid value"),
        (["a.py", "--python", "nowhere/python"], "interpreter not found: nowhere/python"),
    ],
)
def test_usage_errors(d9mlint: Ran, words: list[str], said: str) -> None:
    Path("a.py").touch()
    ran = d9mlint("trace", *words)
    assert ran.code == 2
    assert said in ran.err


def test_it_says_before_what_it_will_run(d9mlint: Ran) -> None:
    Path("a.py").touch()
    err = d9mlint("trace", "a.py").err
    assert err.startswith("d9mlint: will run `a.py` at least 2 times with this interpreter in this folder")


@pytest.mark.parametrize(("other", "verdict"), [((1.0, 2.0), "equal"), ((1.0,), "equal"), ((1.0, 3.0), "part")])
def test_losses_without_an_optimizer(other: tuple[float, ...], verdict: str) -> None:
    """A program that applies its gradients by hand: its losses are what is compared, and the report says so."""
    found = compared([_lost(1.0, 2.0), _lost(*other)])
    assert found.verdict == verdict
    if verdict == "equal":
        assert found.what == f"the first {len(other)} losses are the same; no step of an optimizer was seen"
        assert headline(TraceReport("a.py", found)) == "equal: the runs have the same losses"


def _lost(*losses: float) -> Run:
    seen = tuple(Loss(one.hex(), one.hex(), 0) for one in losses)
    return Run(Conditions(), 0, Ended(RAN, 0, 1.0), Recording(losses=seen, end="exit", started=True), "", {})
