"""Actors and tasks of Ray: what runs where, which numbers they give, and who reads what others change."""

from __future__ import annotations

import pytest

from d9mlint.catalogue import load
from d9mlint.model import Finding
from d9mlint.python.batch.run import newest_target
from d9mlint.python.domain.knowledge import Knowledge
from d9mlint.python.judging.judge import judge
from d9mlint.python.project.files import Project

HEAD = """
import numpy as np
import ray
import torch


@ray.remote
class Kept:
    def __init__(self):
        self.value, self.items, self.calls = None, [], 0

    def get(self):
        return self.value

    def set(self, value):
        self.value = value

    def count(self):
        self.calls += 1
        return self.calls

    def add(self, item):
        self._keep(item)

    def _keep(self, item):
        self.items.append(item)

    def all(self):
        return self.items


@ray.remote
class Worker:
    def __init__(self, seed=None):
        if seed is not None:
            np.random.seed(seed)

    def draw(self):
        return np.random.rand()

    def fill(self, kept):
        for number in range(9):
            kept.add.remote(number)

    def look(self, kept):
        return ray.get(kept.get.remote())

    def tick(self, kept):
        return ray.get(kept.count.remote())


"""


def found(rule: str, text: str) -> list[Finding]:
    """What a rule finds in a program that begins with the actors above."""
    catalogue, target = load(), newest_target(["numpy==2.0.0", "torch==2.8.0"], "cpu")
    knowledge = Knowledge(catalogue.aliases, catalogue.effects, target)
    project = Project({"train.py": f"{HEAD}{text}".encode()}.get)
    return [*judge(project, "train.py", ("",), [catalogue.rules[rule]], knowledge, target).findings]


DRAWS = "np.save('x.npy', np.array(ray.get({})))\n"


@pytest.mark.parametrize(
    "call",
    [
        "Worker.remote(1).draw.remote()",
        "Worker.options(num_cpus=2).remote(1).draw.options(num_returns=1).remote()",
        "[one.draw.remote() for one in [Worker.remote(seed) for seed in range(4)]]",
    ],
)
def test_an_actor_that_seeds_itself_is_seeded(call: str) -> None:
    assert not found("unseeded-numpy", DRAWS.format(call))
    assert found("unseeded-numpy", DRAWS.format(call.replace("remote(1)", "remote()").replace("(seed)", "()")))


def test_the_seed_of_one_actor_is_none_for_another_nor_for_the_program() -> None:
    both = "one, other = Worker.remote(1), Worker.remote()\nray.get(one.draw.remote())\n"
    assert found("unseeded-numpy", both + DRAWS.format("other.draw.remote()"))
    assert found("unseeded-numpy", "one = Worker.remote(1)\nnp.save('x.npy', np.random.rand(3))\n")


def test_a_seed_of_the_program_reaches_no_actor() -> None:
    (one,) = found("seed-not-in-process", "np.random.seed(1)\n" + DRAWS.format("Worker.remote().draw.remote()"))
    assert "in `__init__` of the actor `Worker`" in one.remedy
    notes = [related.note for related in one.related]
    assert notes == ["seeds it in the parent process", "is an actor, which has a process of its own"]


def test_an_actor_is_known_by_its_name() -> None:
    named = "Worker.options(name='one').remote(1)\nworker = ray.get_actor('one')\n"
    assert not found("unseeded-numpy", named + DRAWS.format("worker.draw.remote()"))


def test_arguments_are_the_values_of_references() -> None:
    text = "seed = ray.put(None)\n" + DRAWS.format("Worker.remote(seed).draw.remote()")
    assert found("unseeded-numpy", text)


def test_what_a_class_calls_options_itself_is_its_own() -> None:
    text = "class Plain:\n    options = 3\n\n\nnp.save('x.npy', np.zeros(Plain.options))\n"
    assert not found("unseeded-numpy", text)


STARTS = "kept = Kept.remote()\nworkers = [Worker.remote(seed) for seed in range(4)]\n"
RACING = {
    "several add": "ray.get([one.fill.remote(kept) for one in workers])\nprint(ray.get(kept.all.remote()))\n",
    "one adds, the program looks": "workers[0].fill.remote(kept)\nprint(ray.get(kept.all.remote()))\n",
    "one looks, the program sets": "ref = workers[0].look.remote(kept)\nkept.set.remote(3)\nprint(ray.get(ref))\n",
    "the program sets in each turn": (
        "for turn in range(9):\n"
        "    refs = [one.look.remote(kept) for one in workers]\n"
        "    kept.set.remote(turn)\n"
        "    print(ray.get(refs))\n"
    ),
}
IN_TURN = {
    "one adds, and is waited for": "ray.get(workers[0].fill.remote(kept))\nprint(ray.get(kept.all.remote()))\n",
    "each is waited for": (
        "for one in workers:\n    ray.get(one.fill.remote(kept))\nprint(ray.get(kept.all.remote()))\n"
    ),
    "set before": "ray.get(kept.set.remote(3))\nprint(ray.get([one.look.remote(kept) for one in workers]))\n",
    "set in turns": (
        "for turn in range(9):\n"
        "    ray.get(kept.set.remote(turn))\n"
        "    print(ray.get([one.look.remote(kept) for one in workers]))\n"
    ),
    "each has its own": (
        "pairs = [(Worker.remote(seed), Kept.remote()) for seed in range(4)]\n"
        "refs = [worker.fill.remote(own) for worker, own in pairs]\n"
        "print(ray.get(refs), ray.get([own.all.remote() for _, own in pairs]))\n"
    ),
    "numbers that only count": "refs = [one.tick.remote(kept) for one in workers]\nprint(sum(ray.get(refs)))\n",
}


@pytest.mark.parametrize("name", RACING)
def test_what_is_read_while_others_change_it_depends_on_timing(name: str) -> None:
    assert found("async-training", STARTS + RACING[name])


@pytest.mark.parametrize("name", IN_TURN)
def test_what_happens_in_turns_does_not(name: str) -> None:
    assert not found("async-training", STARTS + IN_TURN[name])


def test_what_an_actor_keeps_may_have_changed_by_then() -> None:
    text = "kept = Kept.remote()\nif ray.get(kept.get.remote()) is not None:\n    np.save('x.npy', np.random.rand(3))\n"
    assert found("unseeded-numpy", text)


def test_each_of_several_lists_of_actors_is_followed() -> None:
    actors = "workers = [Worker.remote(seed) for seed in range(4)]\nall_actors = workers + [Worker.remote()]\n"
    assert found("unseeded-numpy", actors + DRAWS.format("[one.draw.remote() for one in all_actors]"))
    assert not found("unseeded-numpy", actors + DRAWS.format("[one.draw.remote() for one in workers + workers]"))


def test_of_several_actors_the_one_that_draws_is_named() -> None:
    quiet = "@ray.remote\nclass Quiet:\n    def draw(self):\n        return 0\n\n\n"
    actors = f"{quiet}actors = [Worker.remote(), Quiet.remote()]\n"
    (one,) = found("unseeded-numpy", actors + DRAWS.format("[one.draw.remote() for one in actors]"))
    assert "in `__init__` of the actor `Worker`" in one.remedy


def test_processes_of_a_pool_have_no_seed_of_the_program() -> None:
    draw = (
        "from ray.util.multiprocessing import Pool\n\n\ndef draw(number):\n    return np.random.rand() + number\n\n\n"
    )
    text = f"{draw}np.random.seed(1)\nnp.save('x.npy', np.array(Pool(4).map(draw, range(9))))\n"
    (one,) = found("seed-not-in-process", text)
    assert "`draw` runs in a process of its own" in one.remedy
    assert not found("completion-order", text)
    assert found(
        "completion-order",
        text.replace(".map(draw, range(9))", ".imap_unordered(draw, range(9))").replace("np.array(", "list("),
    )
