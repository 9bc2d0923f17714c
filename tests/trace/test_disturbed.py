"""Where recording op by op changes what a program computes, the report says so by itself."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from tracing import traced

from d9mlint.trace.compare import disturbed
from d9mlint.trace.process import RAN, Ended
from d9mlint.trace.recording import Loss, Recording
from d9mlint.trace.run import Conditions, Run

SOURCE = """\
import json, os
recorded = json.load(open(os.environ["D9MLINT_TRACE"]))["stage"] == "ops"
print(hash("text") % 1000 + CHANGED)
"""


@pytest.mark.parametrize(("changed", "told"), [("recorded", True), ("0", False)])
def test_a_program_that_computes_something_else_when_it_is_recorded(
    d9mlint: Callable[..., Any], changed: str, told: bool
) -> None:
    report = traced(d9mlint, SOURCE.replace("CHANGED", changed))
    assert report["verdict"] == "part"
    assert any(one["decides"] for one in report["switches"])
    said = [note for note in report["notes"] if note.startswith("recording op by op changes what the program computes")]
    assert bool(said) == told


def _run(*losses: float) -> Run:
    seen = tuple(Loss(one.hex(), one.hex(), number) for number, one in enumerate(losses))
    recording = Recording(steps=tuple(one.hex() for one in losses), losses=seen, end="exit", started=True)
    return Run(Conditions(), 0, Ended(RAN, 0, 1.0), recording, "", {})


@pytest.mark.parametrize(
    ("one", "other", "recorded", "step"),
    [
        ((1, 2, 3), (1, 2, 3), (1, 2, 3), None), ((1, 2, 3), (1, 2, 3), (1, 9, 3), 2),
        ((1, 2, 3), (1, 2, 4), (1, 9, 3), 2), ((1, 2, 3), (1, 2, 4), (1, 2, 9), None), ((1, 2, 3), (7, 2, 4), (8, 2, 9), None),
    ],
)  # fmt: skip
def test_it_is_told_up_to_where_the_runs_themselves_part(
    one: tuple[float, ...], other: tuple[float, ...], recorded: tuple[float, ...], step: int | None
) -> None:
    found = disturbed([_run(*map(float, each)) for each in (one, other)], _run(*map(float, recorded)))
    assert (found.step if found else None) == step
