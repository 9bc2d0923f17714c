"""Programs of several processes: each that trains is recorded and compared by itself, under a name that stays."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from d9mlint.model.trace import EQUAL, PART
from d9mlint.trace import compare, ranks
from d9mlint.trace.process import RAN, Ended
from d9mlint.trace.recording import Recording, read
from d9mlint.trace.run import OPS, Conditions, Program, Run, Settings, run

LAUNCHER = """\
import os, subprocess, sys
several = [subprocess.Popen([sys.executable, *sys.argv[1:]], env={**os.environ, "RANK": str(n)}) for n in range(2)]
sys.exit(max(one.wait() for one in several))
"""
DRAWING = "import random\nrandom.random()\n"
WORKING = """\
import multiprocessing, random, sys
def work(n):
    return random.random()
if __name__ == "__main__":
    context = multiprocessing.get_context(sys.argv[1])
    process = context.Process(target=work, args=(1,))
    process.start()
    process.join()
    with context.Pool(1) as pool:
        pool.map(work, range(2))
"""


def drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *words: str) -> set[str]:
    """The processes in which something was drawn, by name."""
    monkeypatch.chdir(tmp_path)
    program = Program(sys.executable, words, (), (str(tmp_path),))
    ran = run(program, Settings(0), Conditions(OPS), 0, 60)
    assert ran.whole, ran.ended
    events = ran.recording.events
    return {name for name, several in events if any(event.kind == "draw" and event.place[1] for event in several)}


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes_that_the_program_starts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, method: str) -> None:
    (tmp_path / "work.py").write_text(WORKING)
    assert drawn(tmp_path, monkeypatch, "work.py", method) == {"process-1", "worker-2"}


def test_ranks_of_a_launcher(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "launcher.py").write_text(LAUNCHER)
    (tmp_path / "work.py").write_text(WORKING)
    (tmp_path / "draw.py").write_text(DRAWING)
    assert drawn(tmp_path, monkeypatch, "launcher.py", "draw.py") == {"rank-0", "rank-1"}
    found = drawn(tmp_path, monkeypatch, "launcher.py", "work.py", "spawn")
    assert found == {f"rank-{n}{process}" for n in (0, 1) for process in ("-process-1", ".worker-2")}
    monkeypatch.setenv("RANK", "0")  # of a job that d9mlint itself runs in
    assert drawn(tmp_path, monkeypatch, "draw.py") == {"main"}


def test_commands_have_the_same_name_in_each_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "draw.py").write_text(DRAWING)
    (tmp_path / "all.py").write_text(
        "import subprocess, sys\nfor _ in range(2):\n    subprocess.run([sys.executable, 'draw.py'])\n"
    )
    first = drawn(tmp_path, monkeypatch, "all.py")
    assert len(first) == 2
    assert all(one.startswith("command-") for one in first)
    assert drawn(tmp_path, monkeypatch, "all.py") == first


def test_a_launcher_on_the_command_line(d9mlint: Callable[..., Any], tmp_path: Path) -> None:
    (tmp_path / "launch").write_text(f"#!{sys.executable}\n{LAUNCHER}")
    (tmp_path / "launch").chmod(0o755)
    (tmp_path / "program.py").write_text("import os, sys\nprint(sys.argv[1:], file=open(os.environ['RANK'], 'w'))\n")
    ran = d9mlint("trace", "--", "./launch", "program.py", "--", "--seed", "1")
    assert ran.code == 0
    assert ran.err.startswith("d9mlint: will run `./launch program.py --seed 1` at least 2 times")
    assert [Path(name).read_text() for name in "01"] == ["['--seed', '1']\n"] * 2
    (tmp_path / "program.py").write_text("import os\nprint(os.urandom(4))\n")
    report = d9mlint("trace", "--format", "json", "--", "./launch", "program.py").json
    assert (report["verdict"], report["culprits"][0]["path"], report["culprits"][0]["line"]) == (
        "part",
        "program.py",
        2,
    )


@pytest.mark.parametrize("words", [("no-such-launcher", "absent.py"), ("no-such-launcher", "-m", "..")])
def test_a_launcher_that_is_not_there(d9mlint: Callable[..., Any], words: tuple[str, ...]) -> None:
    """Nor is its script: that was an internal error."""
    ran = d9mlint("trace", "--", *words)
    assert (ran.code, ran.err) == (2, "d9mlint: launcher not found: no-such-launcher\n")


def recorded(folder: Path, **losses: list[str]) -> Recording:
    """A recording of ranks with these losses, each with a step."""
    folder.mkdir()
    (folder / "main.jsonl").write_text('["start","main","3",1]\n')
    (folder / "whole").touch()
    for name, several in losses.items():
        events = [
            event
            for number, text in enumerate(several, 1)
            for event in (["loss", "main", text, "0x1.0p+0", "float32"], ["step", "main", number, "SGD", "same", 0.0])
        ]
        text = "".join(json.dumps(event) + "\n" for event in events)
        (folder / f"{name.replace('_', '-')}.jsonl").write_text(text)
    return read(folder)


def compared(one: Recording, other: Recording) -> Any:
    conditions, ended = Conditions(), Ended(RAN, 0, 1.0)
    return compare.compared([Run(conditions, n, ended, each, "", {}) for n, each in enumerate((one, other))])


def test_they_are_compared_rank_by_rank(tmp_path: Path) -> None:
    one = recorded(tmp_path / "1", rank_0=["a", "b"], rank_2=["c", "d"], rank_10=["e", "f"])
    assert [name for name, _ in one.parts] == ["rank-0", "rank-2", "rank-10"]
    assert compared(one, one)[:2] == (EQUAL, None)
    other = recorded(tmp_path / "2", rank_0=["a", "b"], rank_2=["c", "d"], rank_10=["e", "x"])
    found = compared(one, other)
    assert (found.verdict, found.step, found.what) == (PART, 2, "in rank 10 the loss differs (1 and 1)")
    fewer = recorded(tmp_path / "3", rank_0=["a", "b"], rank_2=["c", "d"])
    assert compared(one, fewer).what == "only one of the runs has rank 10"
    shorter = recorded(tmp_path / "4", rank_0=["a", "b"], rank_2=["c"], rank_10=["e", "f"])
    assert compared(one, shorter).what == "in rank 2 one run makes 2 steps, the other 1"


def exchange(folder: Path, sent: list[str], came: str) -> Recording:
    """Two ranks that send a tensor each, and use what has come."""
    folder.mkdir()
    (folder / "main.jsonl").write_text('["start","main","3",1]\n')
    for rank, text in enumerate(sent):
        events = [
            ["place", "main", 1, "train.py", 5, "main"],
            ["op", "main", 1, "op", "aten.neg", "forward", "", [["x", "float32", [1], 0]], [text], [], ""],
            ["op", "main", 1, "collective", "c10d.allreduce_", "", "", [[text, "float32", [1], 2]], [], [], ""],
            ["op", "main", 1, "op", "aten.mul", "forward", "", [[came, "float32", [1], 3]], [came + "!"], [], ""],
        ]
        (folder / f"rank-{rank}.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events))
    return read(folder)


def test_what_another_rank_sends_is_no_cause(tmp_path: Path) -> None:
    one, other = exchange(tmp_path / "1", ["a", "b"], "c"), exchange(tmp_path / "2", ["a", "x"], "y")
    found = ranks.culprits(one, other)
    assert [(each.op, each.kind) for each in found] == [("aten.neg", "op")]
    assert found[0].note.endswith("(in rank 1)")


def test_a_reduction_that_varies_is_the_cause(tmp_path: Path) -> None:
    one, other = exchange(tmp_path / "1", ["a", "b"], "c"), exchange(tmp_path / "2", ["a", "b"], "y")
    found = ranks.culprits(one, other)
    assert [(each.op, each.kind) for each in found] == [("c10d.allreduce_", "op")]
    assert "another order" in found[0].note
