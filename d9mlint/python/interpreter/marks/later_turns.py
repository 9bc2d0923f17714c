"""What a loop does in its later turns, where the first is known to stop at a ``continue``.

``while True: if obs is None: obs = env.reset(); continue; act(obs)`` acts from the second turn on.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from d9mlint.python.domain.conditions import literal, negate
from d9mlint.python.interpreter import comparisons, expressions
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.domain.events import Frame
    from d9mlint.python.interpreter.interpreter import Interpreter
    from d9mlint.python.interpreter.statements import Left


def run(interp: Interpreter, body: Sequence[f.Stmt], frame: Frame) -> Left:
    """Runs the body of a loop that is told in one turn, and what stands behind a ``continue`` that this one ends with.

    That is done where the test before it is not known to come out the same again, after what the turn has done.
    """
    frame.jump = None
    left = interp.block(body, frame)
    jump = frame.jump
    if left[1] is not True or jump is None or jump.kind != "continue":
        return left
    for index, node in enumerate(body):
        if isinstance(node, f.If) and (_ends(node.body, jump) or _ends(node.orelse, jump)):
            return _past(interp, node, _ends(node.body, jump), body[index + 1 :], frame)
    return left


def _ends(body: Sequence[f.Stmt], jump: f.Jump) -> bool:
    return bool(body) and body[-1] is jump


def _past(interp: Interpreter, node: f.If, when: bool, rest: Sequence[f.Stmt], frame: Frame) -> Left:
    """Runs what comes of a later turn, in which a test does not lead to the ``continue`` that ended the first."""
    text = comparisons.told(interp, node.test, node.text, frame)
    cond = comparisons.condition(interp, expressions.evaluate(interp, node.test, frame), text)
    other = node.orelse if when else node.body
    stays: Left = (False, True, False)
    if interp.path.truth(cond) is when:
        return stays
    goes_on = negate(cond) if when else cond
    test = literal(cond)
    if test is not None and test.opaque is not None:
        goes_on = True  # what a loop waits for comes about in some turn: nobody chooses whether
    return interp.under(goes_on, lambda: run(interp, [*other, *rest], frame)) or stays
