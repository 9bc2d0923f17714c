"""What a network is made of is looked at once, however often the program loads its weights or saves it."""

from __future__ import annotations

import pytest

from d9mlint.catalogue import load
from d9mlint.python.batch.run import newest_target
from d9mlint.python.domain.knowledge import Knowledge
from d9mlint.python.frameworks.torch.parameters import untrained, weights
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.judge import interpret
from d9mlint.python.judging.randomness import draws
from d9mlint.python.project.files import Project

CATALOGUE, TARGET = load(), newest_target([], "cpu")
NETWORK = """
import sys
import torch
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([{layers}])


net = Net()
"""
LOADS = 'if "{i}" in sys.argv:\n    net.load_state_dict(torch.load("{i}.pt"))\n'
SAVES = 'torch.save(net.state_dict(), "{i}.out")\n'
FILLS = "nn.init.xavier_uniform_(sys.stdin)\n"
LAYERS = 12


def told(uses: str, times: int) -> Program:
    network = NETWORK.format(layers=", ".join(["nn.Linear(8, 8)"] * LAYERS))
    text = network + "".join(uses.format(i=i) for i in range(times))
    knowledge = Knowledge(CATALOGUE.aliases, CATALOGUE.effects, TARGET)
    story = interpret(Project({"convert.py": text.encode()}.get), "convert.py", ("",), knowledge, TARGET)
    return Program(story, TARGET, knowledge)


def looks(monkeypatch: pytest.MonkeyPatch, uses: str, times: int) -> int:
    """How many layers are looked at when the draws of such a program are judged."""
    program, seen = told(uses, times), list[str]()
    inner = weights._of_object
    with monkeypatch.context() as patched:
        patched.setattr(weights, "_of_object", lambda leaf, made: (seen.append(leaf.type), inner(leaf, made))[1])
        found = draws(program)
        for one in found:
            untrained.drawn(program, one.event)
            weights.kept(program, one.event)
    return sum(one == "torch.nn.Linear()" for one in seen)


@pytest.mark.parametrize("uses", [LOADS, SAVES], ids=["loads", "saves"])
def test_work_does_not_grow_with_loads_times_layers(monkeypatch: pytest.MonkeyPatch, uses: str) -> None:
    few, many = looks(monkeypatch, uses, 2), looks(monkeypatch, uses, 20)
    assert few >= LAYERS
    assert many == few


def disjunctions(monkeypatch: pytest.MonkeyPatch, inits: int) -> int:
    """How many conditions are put together when layers nobody knows are filled that often, and all is loaded later."""
    program, made = told(FILLS * inits + LOADS.format(i=1) + LOADS.format(i=2), 1), list[int]()
    either = weights.either
    filled = [e for e in program.events if e.kind == "call" and e.name.startswith("torch.nn.init.")]
    assert len(filled) == inits
    program.once("loaded-weights", weights._loads)
    with monkeypatch.context() as patched:
        patched.setattr(weights, "either", lambda *conds: (made.append(len(conds)), either(*conds))[1])
        for one in filled:
            weights.kept(program, one)
    return len(made)


def test_conditions_of_loads_do_not_grow_with_inits_times_layers(monkeypatch: pytest.MonkeyPatch) -> None:
    assert 0 < disjunctions(monkeypatch, 20) == disjunctions(monkeypatch, 2) < LAYERS


def test_members_are_those_of_parts_under_any_condition() -> None:
    program = told(LOADS, 1)
    net = next(e.receiver for e in program.ending(".load_state_dict", "call"))
    assert net is not None
    found = {made for made, _ in weights.parts(net)}
    assert weights.Members().of(net) == found
    assert len(found) > LAYERS
