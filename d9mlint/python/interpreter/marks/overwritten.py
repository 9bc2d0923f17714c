"""Numbers that are drawn for nothing: replaced before use, dropped by a slice, read in training only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from d9mlint.python.domain.conditions import either
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import UNKNOWN, Const, Inst, Obj, Seq, Value, alternatives
from d9mlint.python.interpreter.library.containers import sequences
from d9mlint.python.interpreter.marks import discards
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_TRAINING = "training"


def assigned(interp: Interpreter, node: f.Assign, value: Value, start: int, frame: Frame) -> None:
    """Marks draws of an assignment, told from event ``start`` on, and those whose numbers it takes the place of."""
    if not isinstance(node.value, f.Call) or frame.func is None or len(node.targets) != 1:
        return
    target = node.targets[0]
    if isinstance(target, f.Name):
        drawn = _drawn(interp, start)
        if drawn and _read_in_training_only(interp, frame.func.node, target.id):
            for event in drawn:
                if event.location.line == node.value.place[0]:
                    interp.heap.mark(event, in_training=True)
    if isinstance(target, f.Attr) and isinstance(target.value, f.Name) and frame.func.name == "__init__":
        holder = frame.vars.get(target.value.id)
        if isinstance(holder, Inst) and _is_network(interp, holder):
            _replaced(interp, (holder, target.name), value, _drawn(interp, start), frame)


def _drawn(interp: Interpreter, start: int) -> list[Event]:
    """The draws that were told from event ``start`` on."""
    return [
        e for e in interp.story.events[start:] if e.effects and e.kind == "call" and any(x.draws for x in e.effects)
    ]


def _replaced(
    interp: Interpreter, place: tuple[Inst, str], value: Value, drawn: list[Event], frame: Frame
) -> None:  # fmt: skip
    """A part of a network that its constructor replaces before anything looks at it: its weights reach nothing."""
    holder, name = place
    key = ("part", id(holder), name)
    before: tuple[Event, ...] = interp.noted(key) or ()
    if before and not _reads_attribute(frame, name):
        cond = interp.since(holder.born)
        for event in before:
            interp.heap.mark(event, idle=either(event.idle, cond))
    if all(_is_module(interp, leaf) for _, leaf in alternatives(value)):
        interp.note(key, (*before, *drawn))


def _is_module(interp: Interpreter, leaf: Value) -> bool:
    if isinstance(leaf, Inst):
        return _is_network(interp, leaf)
    return isinstance(leaf, Obj) and leaf.event is not None and leaf.event.name.startswith(interp.hooks.layers)


def _is_network(interp: Interpreter, instance: Inst) -> bool:
    return not interp.hooks.network_bases.isdisjoint(instance.cls.external())


def _reads_attribute(frame: Frame, name: str) -> bool:
    """Whether a function reads an attribute of this name, of whatever."""
    pending: list[Any] = [frame.func.node.body] if frame.func is not None else []
    while pending:
        one = pending.pop()
        if isinstance(one, f.Attr) and one.name == name:
            return True
        if isinstance(one, f.Assign):
            pending.append(one.value)
            pending += [t.value if isinstance(t, f.Attr) else t for t in one.targets]
        elif isinstance(one, tuple):
            pending.extend(one)
    return False


def _read_in_training_only(interp: Interpreter, node: f.Def | f.Lambda, name: str) -> bool:
    """Whether a function reads a name behind ``self.training and ...`` or ``if self.training:`` only, and does so."""
    if _TRAINING not in interp.project.words(node):
        return False
    pending: list[Any] = [node.body]
    behind = False
    while pending:
        one = pending.pop()
        if isinstance(one, f.Name):
            if one.id == name:
                return False
        elif isinstance(one, f.Assign):
            pending += [one.value, *(t for t in one.targets if not isinstance(t, f.Name))]
        elif isinstance(one, f.Op) and one.op == "and" and _asks(one.operands[0]):
            behind = True
        elif isinstance(one, (f.If, f.IfExp)) and _asks(one.test):
            behind = True
            pending.append(one.orelse)
        elif isinstance(one, tuple):
            pending.extend(one)
    return behind


def _asks(test: f.Expr) -> bool:
    """Whether a test holds only where a module is in training mode."""
    if isinstance(test, f.Op) and test.op == "and":
        return _asks(test.operands[0])
    return isinstance(test, f.Attr) and test.name == _TRAINING


def _number(end: f.Expr) -> Value:
    """A number that stands in the program, ``-1`` among them."""
    minus = isinstance(end, f.Op) and end.op == "neg"
    plain = end.operands[0] if isinstance(end, f.Op) and minus else end
    if not isinstance(plain, f.Const) or type(plain.value) is not int:
        return UNKNOWN
    return Const(-plain.value if minus else plain.value)


def returned(interp: Interpreter, node: f.Return, frame: Frame) -> None:
    """Marks what made the items that ``return x[:-1]`` leaves out."""
    one = node.value
    if not isinstance(one, f.Sub) or one.bounds is None or not isinstance(one.value, f.Name):
        return
    index = Seq("tuple", [_number(end) for end in one.bounds if end is not None])
    for _, holder in alternatives(interp.load(one.value.id, frame)):
        kept = sequences.cut(holder, one, index) if isinstance(holder, Seq) else None
        if kept is None or not isinstance(holder, Seq):
            continue
        for item in holder.items or ():
            if not any(item is other for other in kept):
                discards.gone(interp, item)
