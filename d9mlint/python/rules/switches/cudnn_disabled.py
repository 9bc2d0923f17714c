"""cudnn-disabled: cuDNN is switched off, which is no way to deterministic results."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import both, is_symbolic, negate, truth
from d9mlint.python.frameworks.torch import gpu as torchgpu
from d9mlint.python.frameworks.torch import mode as torchmode
from d9mlint.python.interpreter.program import Program, matches
from d9mlint.python.judging.drafts import Draft, draft


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """Assignments of False while deterministic algorithms are off."""
    if torchmode.hidden(program) or not (torchgpu.trainings(program) or program.story.local):
        return
    for event in program.find("set", f"{torchmode.CUDNN}.enabled"):
        off = matches(event.args[0] if event.args else None, False)
        cond = both(off, negate(torchmode.torch_mode(program).on), torchgpu.on_gpu(program))
        if truth(cond, event.guards) is not False and is_symbolic(cond):
            yield draft(program, rule, event, cond=cond, name=event.name)
