"""What is drawn in tasks of joblib: where its seed belongs."""

from __future__ import annotations

from d9mlint.catalogue import load
from d9mlint.python.batch.run import newest_target
from d9mlint.python.domain.knowledge import Knowledge
from d9mlint.python.judging.judge import judge
from d9mlint.python.project.files import Project

TEXT = b"""
import random
from joblib import Parallel, delayed

def walk(start):
    return [start, random.random()]

if __name__ == "__main__":
    print(Parallel(n_jobs=4)(delayed(walk)(start) for start in range(9)))
"""


def test_a_task_draws_by_a_number_of_its_own() -> None:
    catalogue, target = load(), newest_target(["numpy==2.0.0"], "cpu")
    knowledge = Knowledge(catalogue.aliases, catalogue.effects, target)
    rules = [catalogue.rules["unseeded-python"]]
    (one,) = judge(Project({"train.py": TEXT}.get), "train.py", ("",), rules, knowledge, target).findings
    # A constant at its start would give all tasks the same numbers.
    assert one.remedy.startswith("hand each task a number of its own, `delayed(work)(index)`, and draw there")
