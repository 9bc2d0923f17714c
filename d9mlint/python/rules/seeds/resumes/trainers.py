"""Weights alone that are loaded to go on, with a trainer that begins anew: PEFT's adapters, Lightning's modules.

Source: peft/utils/save_and_load.py (``set_peft_model_state_dict``), lightning/pytorch/core/saving.py
(``load_from_checkpoint``), transformers/trainer.py (``train``).
"""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument, Rule
from d9mlint.python.domain.conditions import Cond, both, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const
from d9mlint.python.frameworks.torch.lightning import TRAINER
from d9mlint.python.frameworks.torch.mode import truthy
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.judging.files.kept import besides_files
from d9mlint.python.rules.seeds.resumes.lost import EPOCH, OPTIMIZER, SCHEDULE, told
from d9mlint.python.rules.seeds.resumes.resuming import draws_on, resumes

_ADAPTERS, _PEFT = "peft.set_peft_model_state_dict", "peft.PeftModel.from_pretrained"
_MODULE = "lightning.pytorch.LightningModule.load_from_checkpoint"
_TRAINABLE = Argument(3, "is_trainable")
_TRAIN, _FIT = "transformers.Trainer.train", f"{TRAINER}.fit"
_GIVEN = {_TRAIN: Argument(0, "resume_from_checkpoint"), _FIT: Argument(4, "ckpt_path")}
_LOST = {_TRAIN: (OPTIMIZER, SCHEDULE, EPOCH), _FIT: (OPTIMIZER, EPOCH)}
_REMEDY = {
    _TRAIN: "hand the folder of the checkpoint to `trainer.train(resume_from_checkpoint=path)`, which takes up the "
    "optimizer, the schedule, the generators and the place in the data with the weights",
    _FIT: "hand the checkpoint to `trainer.fit(model, ckpt_path=path)`, which takes up the optimizer, the schedule and "
    "the number of steps with the weights; and keep the generators' states in `on_save_checkpoint`",
}


def of_weights(program: Program, rule: Rule) -> Iterator[Draft]:
    """At each place where weights alone are loaded to go on, before a trainer that is not given the checkpoint."""
    for load in program.calls(_ADAPTERS, _PEFT, _MODULE):
        if load.detached or not resumes(load) or (load.name == _PEFT and not _is_trained(load)):
            continue
        training = next((e for e in program.calls(*_GIVEN) if e.index > load.index and e.meets(load)), None)
        anew = _begins_anew(load, training) if training is not None else False
        if training is None or anew is False:
            continue
        yield draft(
            program, rule, load, cond=besides_files([anew]), related=[draws_on(training)],
            holds="the weights", lacks=told(_LOST[training.name]), remedy=_REMEDY[training.name],
        )  # fmt: skip
        return


def _is_trained(load: Event) -> bool:
    """Whether adapters are loaded to be trained: they are frozen unless that is asked for."""
    asked = load.argument(_TRAINABLE)
    return isinstance(asked, Const) and asked.value is True


def _begins_anew(load: Event, training: Event) -> Cond:
    """When a trainer is given no checkpoint where weights were loaded."""
    given = training.argument(_GIVEN[training.name])
    return both(*load.guards, *training.guards, True if given is None else negate(truthy(given)))
