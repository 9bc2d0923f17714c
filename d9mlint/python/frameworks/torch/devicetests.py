"""Conditions about the device that do not test what they seem to: ``device == "cuda"``, a function without its call."""

from __future__ import annotations

from typing import TYPE_CHECKING

from d9mlint.python.domain.events import Frame
from d9mlint.python.domain.values import Const, Obj, Ref, Seq, Value
from d9mlint.python.interpreter import expressions
from d9mlint.python.source import facts as f
from d9mlint.python.source import queries

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

DEVICE = "torch.device"
KIND = "constant-test"
"""The kind of the events that are told here: the outcome, the words of what it guards, how it is written."""
_NAMES = ("cuda", "cpu", "mps", "gpu")
_ASKING = "is_available"


def note(interp: Interpreter, node: f.If, frame: Frame) -> None:
    """Makes an event of an ``if`` whose test can only come out one way."""
    test, outcome = node.test, True
    if isinstance(test, f.Op) and test.op == "not" and len(test.operands) == 1:
        test, outcome = test.operands[0], False
    if isinstance(test, f.Attr):
        if test.name != _ASKING:
            return
        value = expressions.evaluate(interp, test, frame)
        if not isinstance(value, Ref) or not value.name.startswith("torch."):
            return
        name = value.name
    elif isinstance(test, f.Compare) and _compares_device(interp, test, frame):
        name, outcome = DEVICE, (test.op == "!=") is outcome
    else:
        return
    body = node.body if not outcome else node.orelse
    never = Seq("tuple", [Const(word) for word in sorted(queries.words(body))])
    kwargs: dict[str, Value] = {"outcome": Const(outcome), "text": Const(node.text)}
    interp.event(KIND, name, frame, node.place, (never,), kwargs=kwargs)


def _compares_device(interp: Interpreter, test: f.Compare, frame: Frame) -> bool:
    """A ``torch.device`` is never equal to a string (torch/csrc/Device.cpp: THPDevice_rc wants a device)."""
    right = test.right
    if test.op not in ("==", "!=") or not isinstance(right, f.Const) or not isinstance(right.value, str):
        return False
    if not right.value.startswith(_NAMES) or not isinstance(test.left, (f.Name, f.Attr)):
        return False
    if isinstance(test.left, f.Attr) and not isinstance(test.left.value, f.Name):
        return False
    left = expressions.evaluate(interp, test.left, frame)
    return isinstance(left, Obj) and left.type == DEVICE
