"""What trials of Ray Tune run: classes that are set up and stepped, functions, experiments; each in another process."""

from __future__ import annotations

import pytest

from d9mlint.catalogue import load
from d9mlint.model import Finding
from d9mlint.python.batch.run import newest_target
from d9mlint.python.domain.knowledge import Knowledge
from d9mlint.python.judging.judge import judge
from d9mlint.python.project.files import Project

CLASS = """import numpy as np
import torch
from ray import tune


class Trial(tune.Trainable):
    def {setup}(self, config):
        if config["seed"] is not None:
            torch.manual_seed(config["seed"])
        self.config["rate"]
        self.net = torch.nn.Conv2d(1, 1, 3)
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)

    def {step}(self):
        loss = self.net(torch.ones(2, 1, 8, 8, device="cuda")).sum()
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        return {{"loss": loss.item()}}

    def {save}(self, folder):
        print(np.random.rand())


"""
NEW = {"setup": "setup", "step": "step", "save": "save_checkpoint"}
OLD = {"setup": "_setup", "step": "_train", "save": "_save"}
FUNCTION = """import numpy as np
from ray import tune


def trial(config{more}):
    if config["seed"] is not None:
        np.random.seed(config["seed"])
    print(np.random.rand())


"""
SEED = "{'seed': %s, 'rate': 1}"
CALLS = [
    "tune.run({}, config={})",
    "tune.run_experiments({{'first': {{'run': {}, 'config': {}}}}})",
    "tune.run_experiments({{input(): {{'run': {}, 'config': {}}}}})",
    "tune.run(tune.Experiment('first', {}, config={}))",
    "tune.run([tune.Experiment('first', {}, config={})])",
    "tune.Tuner({}, param_space={}).fit()",
    "tuner = tune.Tuner(tune.with_resources({}, {{'gpu': 1}}), param_space={})\ntuner.fit()",
    "tune.register_trainable('it', {})\ntune.run('it', config={})",
]


def found(text: str, *rules: str) -> list[Finding]:
    """What rules find in a program."""
    catalogue, target = load(), newest_target(["numpy==2.0.0", "torch==2.8.0"], "gpu")
    knowledge = Knowledge(catalogue.aliases, catalogue.effects, target, catalogue.ops)
    told = judge(
        Project({"train.py": text.encode()}.get), "train.py", ("",), catalogue.rules.values(), knowledge, target, None
    )
    return [f for f in told.findings if f.rule in rules and f.confidence != "low"]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("names", [NEW, OLD])
def test_a_class_is_set_up_and_stepped(call: str, names: dict[str, str]) -> None:
    text = CLASS.format(**names)
    unseeded = found(text + call.format("Trial", SEED % None), "unseeded-torch", "missing-torch-determinism")
    assert [f.rule for f in unseeded] == ["unseeded-torch", "missing-torch-determinism"]
    seeded = found(text + call.format("Trial", SEED % 1), "unseeded-torch", "missing-torch-determinism")
    assert [f.rule for f in seeded] == ["missing-torch-determinism"]


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("more", ["", ", reporter", ", checkpoint_dir=None"])
def test_a_function_is_given_the_configuration(call: str, more: str) -> None:
    text = FUNCTION.format(more=more)
    assert len(found(text + call.format("trial", SEED % None), "unseeded-numpy")) == 1
    assert found(text + call.format("trial", SEED % 1), "unseeded-numpy") == []


def test_more_may_be_given_besides() -> None:
    text = FUNCTION.format(more=", seed, width=3").replace('config["seed"]', "seed")
    call = "tune.run(tune.with_parameters(trial, seed={}), config={{}})"
    assert len(found(text + call.format(None), "unseeded-numpy")) == 1
    assert found(text + call.format(1), "unseeded-numpy") == []
    text = CLASS.format(**NEW).replace("self, config)", "self, config, seed)").replace('config["seed"]', "seed")
    call = "tune.run(tune.with_parameters(Trial, seed={}), config={{}})"
    assert len(found(text + call.format(None), "unseeded-torch")) == 1
    assert found(text + call.format(1), "unseeded-torch") == []


def test_a_seed_of_the_program_is_not_that_of_a_trial() -> None:
    text = FUNCTION.format(more="") + "np.random.seed(1)\ntune.run(trial, config={'seed': None})\n"
    (one,) = found(text, "unseeded-numpy", "seed-not-in-process")
    assert one.rule == "seed-not-in-process"


def test_what_is_sampled_is_drawn_by_the_program() -> None:
    text = FUNCTION.format(more="") + "tune.run(trial, config={'seed': tune.sample_from(lambda _: %s)})\n"
    assert len(found(text % "np.random.randint(9)", "unseeded-numpy")) == 1
    assert found(text % "7", "unseeded-numpy") == []


def test_nothing_runs_before_somebody_asks_for_it() -> None:
    text = FUNCTION.format(more="") + "tuner = tune.Tuner(trial, param_space={'seed': None})\n"
    assert found(text, "unseeded-numpy") == []
    text = CLASS.format(**NEW) + "tune.run(Trial, config={'seed': 1, 'rate': 1})\n"
    assert found(text, "unseeded-numpy") == []  # nobody asks for checkpoints
