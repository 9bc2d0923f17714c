"""Trainers of libraries that go on from their own checkpoints, in which no state of a generator is.

Sources: detectron2/engine/defaults.py (``resume_or_load``) and train_loop.py (``state_dict``) of 0.6; mmengine/runner/
runner.py (``save_checkpoint``, ``resume``) of 0.10.7, which keeps the seed and seeds with it again;
mmcv/runner/base_runner.py (``resume``) and epoch_based_runner.py (``save_checkpoint``) of 1.7.2: ``meta`` is saved.
"""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument, Rule
from d9mlint.python.domain.conditions import is_symbolic
from d9mlint.python.frameworks.torch.mode import truthy
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.rules.seeds.resumes.lost import told
from d9mlint.python.rules.seeds.resumes.resuming import draws_on

_TRAINER, _RUNNER = "detectron2.engine.DefaultTrainer", "mmengine.runner.Runner"
_LOAD = f"{_TRAINER}.resume_or_load"
_RESUMES = "mmcv.runner.Runner.resume"
_RESUME = {_LOAD: Argument(0, "resume"), _RUNNER: Argument(None, "resume"), _RESUMES: None}
"""The calls, and the argument that asks for it; of one without it is asked by the call itself."""
_KEEP = (
    "keep `torch.get_rng_state()`, `torch.cuda.get_rng_state_all()`, `np.random.get_state()` and `random.getstate()`"
)
_REMEDY = {
    _LOAD: f"{_KEEP} in the trainer's `state_dict`, which is saved as well, and set them in its `load_state_dict`",
    _RUNNER: f"{_KEEP} in `before_save_checkpoint` of a hook, and set them in its `after_load_checkpoint`",
    _RESUMES: f"{_KEEP} in `runner.meta` (in a hook before that of the checkpoints), and set them after `resume`",
}
_TRAIN = (f"{_TRAINER}.train", f"{_TRAINER}.run_step", f"{_RUNNER}.train", "mmcv.runner.Runner.run")


def of_runners(program: Program, rule: Rule) -> Iterator[Draft]:
    """Where a trainer is told to go on, before it trains."""
    for load in program.calls(*_RESUME):
        asks = _RESUME[load.name]
        given = None if asks is None else load.argument(asks)
        asked = load.name in (_LOAD, _RESUMES) if given is None else truthy(given)
        training = next((e for e in program.calls(*_TRAIN) if e.index > load.index and e.meets(load)), None)
        if load.detached or training is None or asked is False or not is_symbolic(asked):
            continue
        yield draft(
            program, rule, load, cond=asked, related=[draws_on(training)], holds="the weights and the optimizer",
            lacks=told(()), remedy=_REMEDY[load.name],
        )  # fmt: skip
        return
