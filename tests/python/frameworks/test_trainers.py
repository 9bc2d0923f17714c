"""What trainers call of the program's own classes, and objects that keep a generator of their own."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from d9mlint.catalogue import load
from d9mlint.python.batch.run import newest_target
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.knowledge import Knowledge
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging import objects
from d9mlint.python.judging.judge import interpret
from d9mlint.python.judging.seedings import seedings
from d9mlint.python.project.files import Project

CATALOGUE = load()
TARGET = newest_target(["lightning==2.4.0", "transformers==4.46.3", "albumentations==2.0.8"], "gpu")
KNOWLEDGE = Knowledge(CATALOGUE.aliases, CATALOGUE.effects, TARGET)
MODULE = """\
import {package} as pl
import marks

class Data(pl.LightningDataModule):
    def train_dataloader(self):
        marks.loader()
    def setup(self, stage=None):
        marks.setup()

class Net(pl.LightningModule):
    def training_step(self, batch, index):
        marks.step()
    def helper(self):
        marks.never()
    def configure_optimizers(self):
        marks.optimizers()
"""


def told(text: str) -> Program:
    story = interpret(Project({"train.py": text.encode()}.get), "train.py", ("",), KNOWLEDGE, TARGET)
    return Program(story, TARGET, KNOWLEDGE)


def marks(program: Program) -> list[str]:
    return [e.name for e in program.events if e.name.startswith("marks.") and not e.detached]


@pytest.mark.parametrize("package", ["lightning", "pytorch_lightning", "lightning.pytorch"])
@pytest.mark.parametrize("data", ["datamodule=Data()", "None, None, Data()", "Data()"])
def test_hooks_run_in_the_order_of_the_trainer(package: str, data: str) -> None:
    program = told(f"{MODULE.format(package=package)}pl.Trainer(max_epochs=1).fit(Net(), {data})\n")
    assert marks(program) == ["marks.setup", "marks.optimizers", "marks.loader", "marks.step"]
    assert all(e.deferred for e in program.events if e.name == "marks.step")
    assert [e.name for e in program.trains] == ["lightning.pytorch.Trainer.fit"]


def test_hooks_wait_for_fit() -> None:
    assert marks(told(f"{MODULE.format(package='lightning')}net = Net()\npl.Trainer(max_epochs=1)\n")) == []


def test_handlers_of_ignite_run_later() -> None:
    text = (
        "import marks\nfrom ignite.engine import Engine, Events\nengine = Engine(lambda e, b: marks.step())\n"
        "@engine.on(Events.STARTED)\ndef start():\n    marks.start()\n"
        "@marks.register\ndef other():\n    marks.unknown()\nengine.run([1])\n"
    )
    program = told(text)
    assert {"marks.step", "marks.start"} <= set(marks(program))
    assert "marks.unknown" not in marks(program)


def test_a_trainer_seeds_also_as_base_class() -> None:
    text = "from transformers import Trainer\nclass Mine(Trainer):\n    pass\nMine(model=None)\n"
    assert [s.generators for s in seedings(told(text)) if s.fixes is True] == [("python", "numpy", "torch")]


def test_prepare_gives_its_arguments_back() -> None:
    text = (
        "import gymnasium as gym\nfrom accelerate import Accelerator\nimport marks\n"
        "one, two = Accelerator().prepare(gym.make('A'), 2)\nthree = Accelerator().prepare(3)\nmarks.of(two, three)\n"
        "one.reset()\n"
    )
    program = told(text)
    (mark,) = [e for e in program.events if e.name == "marks.of"]
    assert [getattr(value, "value", None) for value in mark.args] == [2, 3]
    assert program.calls("gymnasium.Env.reset")


def _compose(program: Program) -> Event:
    return program.calls("albumentations.Compose")[-1]


@given(st.lists(st.sampled_from(["A.Resize(8, 8)", "A.HorizontalFlip()", "A.OneOf([A.Normalize()])", "unknown"])))
def test_an_object_draws_if_one_of_its_parts_does(parts: list[str]) -> None:
    event = _compose(told(f"import albumentations as A\nA.Compose([{', '.join(parts)}])\n"))
    (effect,) = event.effects
    assert objects.draws_by_parts(event, effect) == ("A.HorizontalFlip()" in parts)


def test_parts_are_looked_through_to_a_depth() -> None:
    nested = "A.HorizontalFlip()"
    for _ in range(30):
        nested = f"A.OneOf([{nested}])"
    event = _compose(told(f"import albumentations as A\nA.Compose([{nested}])\n"))
    assert not objects.draws_by_parts(event, event.effects[0])
