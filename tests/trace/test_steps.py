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


SAMPLES = f"""\
import struct, sys
sys.path.insert(0, {str(ROOT / "d9mlint" / "trace")!r})
from child import sampling
from child.places import Places
from child.recorder import Recorder
recorder, joined = Recorder(".", Places(["."])), sampling.Joined()
values = [0.5, float("inf"), -0.0, *map(float, range(40))]
for name, code in sampling.SIMPLE.items():
    joined.told(recorder, name, (3, 0, 40), struct.pack("43" + code, *values))
recorder.flush()
"""


def test_some_of_the_parameters_are_kept_and_read_back(tmp_path: Path) -> None:
    """Evenly spaced ones of each tensor, those of an empty one left out, in both types that need no framework."""
    subprocess.run([sys.executable, "-c", SAMPLES], cwd=tmp_path, check=True, timeout=120)
    first, second = read(tmp_path).samples
    assert (first.dtype, second.dtype, first.step) == ("float32", "float64", 1)
    assert first.values == second.values == (0.5, float("inf"), -0.0, 0.0, 5.0, 10.0, 15.0, 20.0, 25.0, 30.0, 35.0)
