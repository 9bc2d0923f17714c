"""Functions of autograd that a program writes itself: ``apply`` runs ``forward``, and ``backward`` for the gradient.

torch/autograd/function.py: no gradient is recorded in either of them, so what they call adds none of its own.
"""

from __future__ import annotations

from functools import partial

from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import UNKNOWN, Class, Value, alternatives
from d9mlint.python.frameworks.torch.tensors import NO_GRAD
from d9mlint.python.interpreter import attributes, calls
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.interpreter import Interpreter
from d9mlint.python.interpreter.library.environment import place_of
from d9mlint.python.interpreter.scopes import within

APPLY = "torch.autograd.Function.apply"
INSIDE = "autograd-function"
"""The context of what such a function computes."""


def _apply(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """Both methods, the second with gradients that nobody knows; what comes out is a tensor.

    Where no gradient is recorded around the call (``with torch.no_grad():``), the second never runs.
    """
    methods = [("forward", event.args), ("backward", (UNKNOWN,))][: 1 if event.inside(NO_GRAD) else 2]
    for _, leaf in alternatives(event.receiver):
        if isinstance(leaf, Class):
            for name, args in methods:
                within(interp, INSIDE, partial(_run, interp, leaf, name, [UNKNOWN, *args], event, frame))
    return None


def _run(interp: Interpreter, cls: Class, name: str, args: list[Value], event: Event, frame: Frame) -> None:
    if name in cls.frame.vars:
        method = attributes.attribute(interp, cls, name, frame, place_of(event))
        calls.call(interp, method, args, {}, frame, place_of(event), star=name == "backward")


TRANSFER: dict[str, Transfer] = {APPLY: _apply}
