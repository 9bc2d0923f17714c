"""Whatever a child does, it costs one line: the others go on, and no process is left."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT, until_there
from support import PLAIN, case, executed, is_running

from d9mlint.verify.process import SCRIPT

GOOD = case("[1.0, 2.0]", "good")


def only_the_first_fails(bad: str, **settings: object) -> str:
    broken, good = executed(case(bad, "bad"), GOOD, **settings)
    assert broken.verdict == "harness-error"
    assert not broken.runs
    assert good.verdict == "not-reproduced"
    assert good.deterministic_mode == "not-reproduced"
    return broken.note


def test_a_crash() -> None:
    assert "SIGABRT" in only_the_first_fails("os.abort()")


def test_an_exit() -> None:
    assert "exit code 7" in only_the_first_fails("os._exit(7)")


def test_a_hang() -> None:
    before = time.monotonic()
    assert "gave no answer within 0.5 s" in only_the_first_fails("time.sleep(600)", timeout=0.5)
    assert time.monotonic() - before < 20


@pytest.mark.parametrize("text", [b"garbage\\n", b"[1, 2]\\n", b"{}\\n", b"\\xff\\n"])
def test_garbage_on_the_pipe(text: bytes) -> None:
    literal = text.decode("latin-1")
    assert "no answer" in only_the_first_fails(f"os.write(REPLIES, b'{literal}')")


def test_what_is_printed_does_not_get_in_between() -> None:
    (found,) = executed(case("[float(os.write(1, b'{}\\n') + os.write(2, b'noise\\n'))]"))
    assert found.verdict == "not-reproduced"


def test_out_of_memory() -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("only Linux tells how much memory a process has")
    bad = "[time.sleep(5) for hog in [b'x' * 2**28]]"
    assert "GiB of memory" in only_the_first_fails(bad, memory=2**27)


def test_an_exception_of_the_op() -> None:
    assert only_the_first_fails("me.fail('wrong shape')") == "the op raised RuntimeError: wrong shape"


def test_a_crash_in_deterministic_mode_is_told() -> None:
    (found,) = executed(case("os.abort() if me.deterministic() else 1.0"))
    assert found.verdict == "not-reproduced"
    assert found.deterministic_mode == "not-run"
    assert "SIGABRT" in found.note


def test_a_crash_of_some_processes_never_reads_as_equal() -> None:
    (found,) = executed(case("os.abort() if me.threads() == 16 else 1.0"))
    assert found.verdict == "harness-error"


def test_an_interpreter_without_the_framework() -> None:
    command = (sys.executable, "-I", "-S", str(SCRIPT))
    from d9mlint.model import Case
    from d9mlint.verify.judge import judged
    from d9mlint.verify.run import Machine, Settings, observe

    wanted = [Case(op=name, framework="torch", direction="forward", run="1") for name in "ab"]
    with Machine("torch", Settings(command)) as machine:
        found = [judged(seen) for seen in observe(wanted, machine)]
    assert [one.verdict for one in found] == ["harness-error"] * 2
    assert all("No module named 'torch'" in one.note for one in found)


def test_no_such_interpreter() -> None:
    (found,) = executed(GOOD, command=("no-such-python", str(SCRIPT)))
    assert found.verdict == "harness-error"
    assert "cannot start no-such-python" in found.note


def test_what_a_child_started_is_ended_too(tmp_path: Path) -> None:
    note = tmp_path / "pids"
    start = "subprocess.Popen(['sleep', '600']).pid"
    run = f"[open({str(note)!r}, 'a').write(str({start}) + ' ' + str(os.getpid())), time.sleep(600)]"
    executed(case(run), timeout=0.5)
    pids = [int(word) for word in note.read_text().split()]
    assert len(pids) == 2
    assert not [pid for pid in pids if is_running(pid)]


CATALOGUE = """\
framework: torch
ops:
  - op: quick
    calls: [mine.quick]
    direction: forward
    devices: [cpu]
    status: [{default: varies, deterministic_mode: varies}]
    sources: [mine.cu]
    case: {run: "1.0"}
  - op: slow
    calls: [mine.slow]
    direction: forward
    devices: [cpu]
    status: [{default: varies, deterministic_mode: varies}]
    sources: [mine.cu]
    case: {run: "[torch.slow()]"}
"""


def test_ctrl_c_leaves_a_partial_report_and_no_process(tmp_path: Path) -> None:
    pids = tmp_path / "pids"
    wrapper = tmp_path / "python"
    script = ["#!/bin/sh", f"echo $$ >> {pids}", f'exec {sys.executable} {PLAIN} "$2" "$3"', ""]
    wrapper.write_text("\n".join(script))
    wrapper.chmod(0o755)
    (tmp_path / "ops.yaml").write_text(
        CATALOGUE.replace("[torch.slow()]", "torch.tell() and [torch.next() for _ in range(10**12)]")
    )
    (tmp_path / "d9mlint.toml").write_text('catalogues = ["ops.yaml"]\n')
    words = ["verify", "--op", "quick", "--op", "slow", "--python", str(wrapper), "--format", "json"]
    with subprocess.Popen(
        [sys.executable, "-m", "d9mlint", *words], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PLAIN_UNDER_WAY": str(tmp_path / "under way")},
    ) as process:  # fmt: skip
        until_there(tmp_path / "under way")
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=30)
    assert process.returncode == 3, err.decode()
    report = json.loads(out)
    assert report["partial"]
    assert report["stopped"] == "interrupted"
    assert [one["op"] for one in report["evidence"]] == ["quick"]
    assert [one["op"] for one in report["unfinished"]] == ["slow / forward / eager / float32"]
    started = [int(word) for word in pids.read_text().split()]
    assert len(started) >= 6
    assert not [pid for pid in started if is_running(pid)]


def test_children_die_with_a_killed_parent(tmp_path: Path) -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("prctl is Linux")
    code = (
        "import sys, time; sys.path.insert(0, sys.argv[1])\n"
        "from support import PLAIN; from d9mlint.verify.process import Child\n"
        "child = Child((sys.executable, str(PLAIN)), __import__('os').environ, 2**33)\n"
        "child.ask({'do': 'start', 'framework': 'plain', 'threads': 0, 'mode': 'default', 'device': 'cpu'}, 20)\n"
        "print(child._process.pid, flush=True); time.sleep(600)"
    )
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", code, str(Path(__file__).parent)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=env) as parent:
        assert parent.stdout is not None
        pid = int(parent.stdout.readline())
        assert is_running(pid)
        parent.kill()
    end = time.monotonic() + 10
    while is_running(pid) and time.monotonic() < end:
        time.sleep(0.05)
    assert not is_running(pid)
