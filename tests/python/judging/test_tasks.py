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


def test_the_seed_of_a_task_belongs_into_its_function() -> None:
    catalogue, target = load(), newest_target(["numpy==2.0.0"], "cpu")
    knowledge = Knowledge(catalogue.aliases, catalogue.effects, target)
    rules = [catalogue.rules["unseeded-python"]]
    (one,) = judge(Project({"train.py": TEXT}.get), "train.py", ("",), rules, knowledge, target).findings
    assert "(where `walk` runs in a process of its own, at its start: no seed of the parent reaches it)" in one.remedy
