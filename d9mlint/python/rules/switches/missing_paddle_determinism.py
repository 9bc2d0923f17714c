"""missing-paddle-determinism: training on a GPU with Paddle's choices of deterministic algorithms off."""

from __future__ import annotations

import re
from collections.abc import Iterator

from d9mlint.model import Argument, Related, Rule
from d9mlint.python.domain.conditions import Cond, both, by_default, either, is_symbolic, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Dict, Value, alternatives
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.rules.switches import _missing_switch

_SET = ("paddle.set_flags", "paddle.fluid.set_flags", "paddle.base.set_flags", "paddle.framework.set_flags")
_FLAGS, _NAME = Argument(0, "flags"), Argument(0, "device")
_DEVICE = ("paddle.set_device", "paddle.device.set_device")
_OFF = frozenset({"", "0", "false", "off", "no"})
_OF_EMBEDDINGS = "FLAGS_embedding_deterministic"
_VARYING = {
    "FLAGS_cudnn_deterministic": (
        *(f"paddle.nn.Conv{n}D{kind}" for n in (1, 2, 3) for kind in ("", "Transpose")),
        *(f"paddle.nn.functional.conv{n}d{kind}" for n in (1, 2, 3) for kind in ("", "_transpose")),
        "paddle.vision.models.*",
    ),
    _OF_EMBEDDINGS: ("paddle.nn.Embedding", "paddle.nn.functional.embedding"),
}
"""What varies where a flag is off (paddle/phi/kernels/gpu/embedding_grad_kernel.cu: ``EmbeddingGrad``)."""
_NETWORKS = re.compile(r"paddlenlp\.transformers\.\w+(?<!Tokenizer)\.from_(pretrained|config)")
"""Networks with an embedding."""


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first call that trains, where the program has convolutions or embeddings."""
    if program.story.local or not program.imports("paddle") or program.target.device != "gpu":
        return
    trained = [event for event in program.trains if not event.detached]
    if not trained:
        return
    on_gpu = negate(either(*_on_cpu(program)))
    found = {flag: (cond, layers) for flag in _VARYING for cond, layers in _varying(program, flag, on_gpu)}
    layers = sorted((event for _, some in found.values() for event in some), key=lambda event: event.index)
    told = list({event.raw: event for event in reversed(layers)}.values())[::-1][:3]
    if told:
        yield draft(
            program, rule, _missing_switch.any_of(trained[0], trained), cond=either(*(c for c, _ in found.values())),
            related=[Related(event.location, f"the gradient of `{event.name}` varies") for event in told],
            name=_missing_switch.method(trained[0].raw), flags=" and ".join(f"`{flag}`" for flag in found),
            ops=_missing_switch.computed_by([event.name for event in told]),
        )  # fmt: skip


def _varying(program: Program, flag: str, on_gpu: Cond) -> Iterator[tuple[Cond, list[Event]]]:
    """When a flag is off, and the layers whose gradients then vary; nothing where it is not, or not known to be."""
    layers = [event for event in program.calls(*_VARYING[flag]) if not event.detached]
    if flag == _OF_EMBEDDINGS:
        layers += [e for e in program.named(_NETWORKS.fullmatch, "call") if not e.detached]
    off = both(negate(either(*_asked(program, flag))), on_gpu)
    if layers and by_default(off) is not False and is_symbolic(off):
        yield off, layers


def _asked(program: Program, flag: str) -> Iterator[Cond]:
    """When a flag is set, by Paddle's function or in the environment; a value that is not known may be true."""
    for event in program.env(flag):
        yield from (_true(value, event) for value in event.args[:1])
    for event in program.calls(*_SET):
        for cond, leaf in alternatives(event.argument(_FLAGS)):
            if not isinstance(leaf, Dict):
                yield both(cond, *event.guards)  # some file may hold it
            elif flag in leaf.items:
                yield both(cond, _true(leaf.items[flag], event))


def _true(value: Value, event: Event) -> Cond:
    told = ((cond, leaf) for cond, leaf in alternatives(value) if not _is_off(leaf))
    return both(either(*(cond for cond, _ in told)), *event.guards)


def _is_off(value: Value) -> bool:
    return isinstance(value, Const) and str(value.value or "").lower() in _OFF


def _on_cpu(program: Program) -> Iterator[Cond]:
    """When the program computes on the CPU."""
    for event in program.calls(*_DEVICE):
        for cond, leaf in alternatives(event.argument(_NAME)):
            if isinstance(leaf, Const) and leaf.value == "cpu":
                yield both(cond, *event.guards)
