"""missing-paddle-determinism: training on a GPU with Paddle's choice of deterministic cuDNN algorithms off."""

from __future__ import annotations

from collections.abc import Iterator

from d9mlint.model import Argument, Related, Rule
from d9mlint.python.domain.conditions import Cond, both, by_default, either, is_symbolic, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Dict, Value, alternatives
from d9mlint.python.interpreter.program import Program
from d9mlint.python.judging.drafts import Draft, draft
from d9mlint.python.rules.switches import _missing_switch

_FLAG = "FLAGS_cudnn_deterministic"
_SET = ("paddle.set_flags", "paddle.fluid.set_flags", "paddle.base.set_flags", "paddle.framework.set_flags")
_FLAGS, _NAME = Argument(0, "flags"), Argument(0, "device")
_DEVICE = ("paddle.set_device", "paddle.device.set_device")
_OFF = frozenset({"", "0", "false", "off", "no"})
_CONVOLVES = (
    *(f"paddle.nn.Conv{n}D{kind}" for n in (1, 2, 3) for kind in ("", "Transpose")),
    *(f"paddle.nn.functional.conv{n}d{kind}" for n in (1, 2, 3) for kind in ("", "_transpose")),
    "paddle.vision.models.*",
)


def check_program(program: Program, rule: Rule) -> Iterator[Draft]:
    """At the first call that trains, where the program has convolutions."""
    if program.story.local or not program.imports("paddle") or program.target.device != "gpu":
        return
    trained = [event for event in program.trains if not event.detached]
    layers = [event for event in program.calls(*_CONVOLVES) if not event.detached]
    off = both(negate(either(*_asked(program))), negate(either(*_on_cpu(program))))
    if not trained or not layers or by_default(off) is False or not is_symbolic(off):
        return
    first = {event.raw: event for event in reversed(layers)}.values()
    told = sorted(first, key=lambda event: event.index)[:3]
    yield draft(
        program, rule, _missing_switch.any_of(trained[0], trained), cond=off,
        related=[Related(event.location, f"the gradient of `{event.name}` varies") for event in told],
        name=_missing_switch.method(trained[0].raw), ops=_missing_switch.computed_by([event.name for event in told]),
    )  # fmt: skip


def _asked(program: Program) -> Iterator[Cond]:
    """When the flag is set, by Paddle's function or in the environment; a value that is not known may be true."""
    for event in program.env(_FLAG):
        yield from (_true(value, event) for value in event.args[:1])
    for event in program.calls(*_SET):
        for cond, leaf in alternatives(event.argument(_FLAGS)):
            if not isinstance(leaf, Dict):
                yield both(cond, *event.guards)  # some file may hold it
            elif _FLAG in leaf.items:
                yield both(cond, _true(leaf.items[_FLAG], event))


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
