"""Networks of Detectron2: made of what registries hold under names in settings, with what ``from_config`` gives."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]

NET = """from detectron2.config import configurable, get_cfg
from detectron2.engine import DefaultTrainer
from detectron2.modeling import META_ARCH_REGISTRY, SEM_SEG_HEADS_REGISTRY, build_sem_seg_head
from detectron2.utils.registry import Registry
import torch.nn.functional as F
from torch import nn

DECODERS = Registry("DECODERS")


@DECODERS.register()
class Wide(nn.Module):
    def __init__(self, cfg):
        super().__init__()

    def forward(self, x):
        return F.interpolate(x, scale_factor=2, mode={mode})


@SEM_SEG_HEADS_REGISTRY.register()
class Head(nn.Module):
    @configurable
    def __init__(self, *, decoder, mixed):
        super().__init__()
        self.decoder, self.mixed = decoder, mixed

    @classmethod
    def from_config(cls, cfg, input_shape):
        return {"decoder": DECODERS.get({name})(cfg), "mixed": nn.Linear(8, 8)}

    def forward(self, x):
        return self.decoder(self.mixed(x))


@META_ARCH_REGISTRY.register()
class Net(nn.Module):
    @configurable
    def __init__(self, *, head):
        super().__init__()
        self.head = head

    @classmethod
    def from_config(cls, cfg):
        return {"head": build_sem_seg_head(cfg, None)}

    def forward(self, inputs):
        return {"loss": self.head(inputs).mean()}


cfg = get_cfg()
cfg.merge_from_file("net.yaml")
trainer = DefaultTrainer(cfg)
trainer.train()
"""


def computed(d9mlint: Run, program: str) -> bool:
    """Whether an interpolation whose gradient varies is told where the trainer trains."""
    Path("train_net.py").write_text(program)
    told = d9mlint("train_net.py", "--select", "missing-torch-determinism", "--verbose").out
    return "the gradient of `torch.nn.functional.interpolate` varies" in told


@pytest.mark.parametrize("name", ["cfg.MODEL.DECODER", '"Wide"'])
def test_networks_are_made_of_what_registries_hold(d9mlint: Run, name: str) -> None:
    program = NET.replace("{name}", name)
    assert computed(d9mlint, program.replace("{mode}", '"bilinear"'))
    assert not computed(d9mlint, program.replace("{mode}", '"nearest-exact"').replace("interpolate(x", "pad(x"))


def test_what_is_given_explicitly_is_no_configuration(d9mlint: Run) -> None:
    """A constructor that is given its arguments by name takes them as they are."""
    program = NET.replace("{name}", '"Wide"').replace("{mode}", '"bilinear"')
    given = "Head(decoder=nn.Identity(), mixed=nn.Identity())"
    plain = program.replace("build_sem_seg_head(cfg, None)", given)
    assert not computed(d9mlint, plain)
