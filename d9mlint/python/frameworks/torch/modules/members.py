"""What a module registers under a name: a buffer, parameter or module is an attribute of it from then on.

``register_buffer``, ``register_parameter`` and ``add_module`` of torch/nn/modules/module.py.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import Const, Inst, Value
from d9mlint.python.interpreter.library.environment import place_of
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.hooks import Transfer
    from d9mlint.python.interpreter.interpreter import Interpreter

REGISTER_BUFFER = "torch.nn.Module.register_buffer"
_NAME, BUFFER, _PARAMETER = Argument(0, "name"), Argument(1, "tensor"), Argument(1, "param")


def _buffer(interp: Interpreter, event: Event, frame: Frame) -> None:
    _register(interp, event, frame, BUFFER)


def _parameter(interp: Interpreter, event: Event, frame: Frame) -> None:
    _register(interp, event, frame, _PARAMETER)


def _register(interp: Interpreter, event: Event, frame: Frame, given: Argument) -> None:
    name, value = event.argument(_NAME), event.argument(given)
    if isinstance(event.receiver, Inst) and value is not None:
        add_member(interp, event.receiver, name, value, frame, place_of(event))


def add_member(
    interp: Interpreter, module: Inst, name: Value | None, value: Value, frame: Frame, place: f.Place
) -> bool:  # fmt: skip
    """``self.add_module("conv", Conv())`` is ``self.conv = Conv()``; whether the name is known."""
    if not isinstance(name, Const) or not isinstance(name.value, str):
        return False
    interp.set_attribute(module, name.value, value, frame, place)
    return True


TRANSFER: dict[str, Transfer] = {REGISTER_BUFFER: _buffer, "torch.nn.Module.register_parameter": _parameter}
