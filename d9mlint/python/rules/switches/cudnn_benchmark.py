"""cudnn-benchmark: cuDNN's algorithms are chosen by timing them."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Rule
from d9mlint.python.domain.conditions import both, is_symbolic, truth
from d9mlint.python.frameworks.torch import gpu as torchgpu
from d9mlint.python.frameworks.torch import mode as torchmode
from d9mlint.python.frameworks.torch.mode import Setting
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft

_MODELS = ("torchvision", "timm", "transformers", "diffusers", "segmentation_models_pytorch", "monai")
"""Packages whose networks may hold convolutions."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """Assignments of True that no later one takes back."""
    if not _may_convolve(program):
        return
    settings = torchmode.cudnn(program, "benchmark")
    asked = both(torchmode.cudnn_deterministic(program)) is True or torchmode.torch_mode(program).on is True
    for one in settings:
        cond = both(one.true, torchgpu.on_gpu(program))
        if truth(cond, one.event.guards) is False or not is_symbolic(cond) or _taken_back(one, settings):
            continue
        yield draft(
            program,
            rule, one.event, cond=cond, name=one.event.name,
            among=" (among deterministic ones here, which still differ from each other)" if asked else "",
        )  # fmt: skip


def _may_convolve(program: Program) -> bool:
    """Whether a convolution may run: one is seen, or a network that another package or file makes."""
    if program.imports(*_MODELS) or program.story.unresolved:
        return True
    return any("conv" in event.name.lower() for event in program.events if event.kind == "call")


def _taken_back(one: Setting, settings: list[Setting]) -> bool:
    """Whether a later assignment surely says otherwise wherever this one happens."""
    return any(
        s.event.index > one.event.index and s.true is False and not s.event.detached
        and all(g in one.event.guards for g in s.event.guards)
        for s in settings
    )  # fmt: skip
