"""The end after the steps that were asked for, whatever the program makes of exceptions."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

from d9mlint.trace.child.leftovers import Leftovers
from d9mlint.trace.recording import read

START = f"""\
import sys
sys.path.insert(0, {str(ROOT / "d9mlint" / "trace")!r})
from child import stepping
from child.places import Places
from child.recorder import Recorder
steps = stepping.Steps(Recorder(".", Places(["."])), 2)
def step():
    steps.again()
    steps.stepped("SGD", "digest")
def train():
    while True:
        step()
"""
CASES = {
    "exceptions": "try:\n    train()\nexcept Exception:\n    print('caught')\nfinally:\n    print('cleaned')\n",
    "status": "try:\n    train()\nexcept SystemExit as end:\n    print(end.code)\n    raise\n",
    "around a step": "while True:\n    try:\n        step()\n    except:\n        pass\n",
    "around the loop": "stepping._PATIENCE = 0.2\nimport time\ntry:\n    train()\nexcept:\n    time.sleep(600)\n",
    "a thread": "import threading\nt = threading.Thread(target=train)\nt.start()\nt.join()\nprint('after')\n",
    "a thread that nobody waits for": (
        "import threading, time\ntry:\n    threading.Thread(target=train).start()\n    while True:\n        time.sleep(0.01)\nexcept Exception:\n    print('caught')\nfinally:\n    print('cleaned')\n"
    ),
}
SAID = {"exceptions": "cleaned\n", "status": "0\n", "a thread that nobody waits for": "cleaned\n"}


@pytest.mark.parametrize("name", CASES)
def test_the_program_is_ended(tmp_path: Path, name: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", START + CASES[name]], cwd=tmp_path, capture_output=True, text=True, check=False,
        timeout=120,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, SAID.get(name, ""), "")
    recording = read(tmp_path)
    assert len(recording.steps) == 2
    assert recording.end == "steps"


def test_memory_is_filled_in_some_steps_only() -> None:
    set_: list[tuple[int, int]] = []
    leftovers = Leftovers(85, lambda *words: set_.append(words))
    filled = [1]
    for done in range(1, 48):
        leftovers.stepped(done)
        if not set_ or set_[-1][1]:
            filled.append(done + 1)
    assert filled == [1, 2, 16, 32, 48]
    assert {one for one, _ in set_} == {-6}
    Leftovers(0, lambda *words: pytest.fail("it is the user's own")).stepped(2)
