"""Towers of one TF1 graph, one for each GPU, that share variables: an op of each of them writes the same variable."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from d9mlint.python.domain.conditions import Cond, flag_test, is_symbolic, negate
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, FlagValue, Seq, Text, Value, alternatives
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers, made_of, results

_DEVICE, _WAITS, _SCOPE = "tensorflow.device", "tensorflow.control_dependencies", "tensorflow.variable_scope"
_RANGES = ("builtins.range", "xrange")
"""What counts the towers, in Python 2 also under a name that is not known any more."""
_ASSIGNS = ("tensorflow.assign", "tensorflow.assign_add", "tensorflow.assign_sub")
_VARIABLE = "tensorflow.get_variable"
"""What gives each tower the same variable, where a scope has its variables used again."""
_REUSES = ".reuse_variables"
_STEPS = (".minimize", ".apply_gradients")
_DEPTH = 6


def races(program: Program) -> Iterator[tuple[Event, Event, Cond]]:
    """Assignments of what was read from the same variable that all towers make, their device, and when there are two.

    Assignments for which nothing waits may never be run.
    """
    writes = [one for one in program.calls(*_ASSIGNS) if one.loops and not one.detached]
    makers = results(program) if writes else Makers()
    for device in (one for one in program.calls(_DEVICE) if writes and one.loops and _counts_gpus(one)):
        loop = device.loops[-1]
        inside = [one for one in program.events[device.index :] if loop in one.loops]
        steps = [one for one in program.events[device.index :] if one.name.endswith(_STEPS) and loop not in one.loops]
        if not steps or not _reuses(inside):
            continue
        several = _are_several(program, device)
        awaited = {id(made) for one in inside if one.name == _WAITS for made in _given(one, makers)}
        for write in (one for one in writes if loop in one.loops and id(one) in awaited and several is not False):
            own = [cond for cond in write.guards if cond not in device.guards]  # (of one tower: `if i == 0`)
            if all(map(is_symbolic, own)) and _reads_itself(write, loop, makers) and steps[0].meets(write, device):
                yield write, device, several


def _counts_gpus(device: Event) -> bool:
    """Whether a device is that of a number: ``tf.device("/gpu:%d" % i)``."""
    parts: Sequence[Value] = next((leaf.parts for one in device.args for leaf in (one,) if isinstance(leaf, Text)), ())
    texts = [str(part.value).lower() for part in parts if isinstance(part, Const)]
    return len(texts) < len(parts) and any("gpu" in text for text in texts)


def _reuses(inside: Sequence[Event]) -> bool:
    """Whether the towers after the first are given the variables of the first: no scope has another name in each."""
    scopes = [one for one in inside if one.name == _SCOPE]
    if any(isinstance(leaf, Text) for one in scopes for value in one.args[:1] for _, leaf in alternatives(value)):
        return False
    return any(one.name.endswith(_REUSES) for one in inside) or any("reuse" in one.kwargs for one in scopes)


def _are_several(program: Program, device: Event) -> Cond:
    """When there is more than one tower, by the number that the loop counts to; True where that is not known."""
    before = (one for one in reversed(program.events[: device.index]) if one.stack == device.stack)
    counts = next((one for one in before if one.name in _RANGES and one.loops == device.loops[:-1]), None)
    number = counts.args[-1] if counts is not None and len(counts.args) == 1 else None
    if isinstance(number, FlagValue):
        return negate(flag_test(number.flag, "==", 1))
    return not (isinstance(number, Const) and number.value in (0, 1))


def _given(event: Event, makers: Makers) -> Iterator[Event]:
    """The calls that made what a call is given in a list."""
    for leaf in (leaf for value in event.args for _, leaf in alternatives(value)):
        for item in (leaf.items or ()) if isinstance(leaf, Seq) else ():
            yield from made_of(item, makers)


def _reads_itself(write: Event, loop: int, makers: Makers) -> bool:
    """Whether what is assigned to a variable of the towers is computed from that variable."""
    target = next(iter(made_of(write.args[0], makers)), None) if len(write.args) > 1 else None
    if target is None or target.name != _VARIABLE or loop not in target.loops:
        return False
    return write.name != _ASSIGNS[0] or _comes_from(write.args[1], target, makers, _DEPTH)


def _comes_from(value: Value, target: Event, makers: Makers, depth: int) -> bool:
    for made in made_of(value, makers):
        given = (*made.args, *((made.receiver,) if made.receiver is not None else ()))
        if made is target or (depth and any(_comes_from(one, target, makers, depth - 1) for one in given)):
            return True
    return False
