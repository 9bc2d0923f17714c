"""Evaluates expressions to symbolic values."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from d9mlint.python.domain.choices import choose, choose_of_pairs
from d9mlint.python.domain.conditions import ORDERINGS, both, either, negate
from d9mlint.python.domain.diagrams import meets
from d9mlint.python.domain.events import Frame
from d9mlint.python.domain.taint import Computed, begins_path, filled_in, further, holds_numbers, mixed, taint, text_of
from d9mlint.python.domain.tellable import is_of_config
from d9mlint.python.domain.values import (
    UNKNOWN,
    CondValue,
    Const,
    Dict,
    FlagValue,
    Obj,
    Phi,
    Ref,
    Seq,
    Setting,
    Text,
    Unknown,
    Value,
    alternatives,
)
from d9mlint.python.interpreter import (
    attributes,
    calls,
    comparisons,
    comprehensions,
    definitions,
    narrowing,
    subscripts,
)
from d9mlint.python.interpreter.hooks import ask
from d9mlint.python.interpreter.library import operators
from d9mlint.python.interpreter.library.containers import mappings, sequences
from d9mlint.python.interpreter.library.containers.sets import joined
from d9mlint.python.interpreter.marks import bounded, patterns, thresholds
from d9mlint.python.interpreter.scopes import tell_together
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

MAX_SPELLED = 60
"""Characters of a call beyond which a condition does not spell it."""
MAX_TEXT = 10_000
MAX_NUMBER = 10**15


_PATH = "pathlib.Path"
_JOINS = ("+", "/")


def evaluate(interp: Interpreter, node: f.Expr, frame: Frame) -> Value:
    """The value of an expression; its calls become events on the way."""
    return _EXPRESSIONS[type(node)](interp, node, frame)


def _const(interp: Interpreter, node: f.Const, frame: Frame) -> Value:
    return Const(node.value)


def _name(interp: Interpreter, node: f.Name, frame: Frame) -> Value:
    return interp.load(node.id, frame)


def _attr(interp: Interpreter, node: f.Attr, frame: Frame) -> Value:
    holder = evaluate(interp, node.value, frame)
    return attributes.attribute(interp, holder, node.name, frame, node.place)


def _call(interp: Interpreter, node: f.Call, frame: Frame) -> Value:
    found = patterns.listed(interp, node, calls.call_expression(interp, node, frame), frame)
    key = key_asked(node)
    return subscripts.asked(interp, found, key, node) if key else found


def _items(interp: Interpreter, node: f.Items, frame: Frame) -> Value:
    items: list[Value] = []
    known = True
    for item in node.items:
        starred = isinstance(item, f.Opaque) and len(item.parts) == 1
        value = evaluate(interp, item.parts[0] if isinstance(item, f.Opaque) and starred else item, frame)
        if starred and isinstance(value, Seq) and value.items is not None:
            items.extend(value.items)
        else:
            items.append(value)
            known = known and not isinstance(item, f.Opaque)
    made = Seq(node.kind, items) if known else Seq(node.kind, None, Unknown(*taint(items)))
    made.born = interp.order_loops[-1] if interp.order_loops else None
    return made


def _mapping(interp: Interpreter, node: f.Mapping, frame: Frame) -> Value:
    out = Dict({})
    for key, value in node.items:
        inner = evaluate(interp, value, frame)
        if key is None:
            mappings.merge(interp, out, inner)
            continue
        known = mappings.as_key(evaluate(interp, key, frame))
        if isinstance(known, Const) and isinstance(known.value, (str, int, float, bool, bytes, type(None), tuple)):
            interp.heap.put(out, known.value, True, inner)
        else:
            mappings.add(interp, out, known, inner)
    return out


def _lambda(interp: Interpreter, node: f.Lambda, frame: Frame) -> Value:
    return definitions.lambda_function(interp, node, frame)


def _op(interp: Interpreter, node: f.Op, frame: Frame) -> Value:
    if node.op in ("and", "or"):
        return _short_circuit(interp, node.op, node.operands, frame)
    operands = [evaluate(interp, operand, frame) for operand in node.operands]
    if node.op == "not":
        tested = node.operands[0]
        text = comparisons.told(interp, tested, worded(tested) or "not", frame)
        cond = comparisons.condition(interp, operands[0], text)
        return Const(not cond) if isinstance(cond, bool) else CondValue(negate(cond))
    return operators.apply(interp, node.op, operands, frame)


def _short_circuit(interp: Interpreter, op: str, operands: tuple[f.Expr, ...], frame: Frame) -> Value:
    value = evaluate(interp, operands[0], frame)
    for number, operand in enumerate(operands[1:]):
        text = comparisons.told(interp, operands[0], spelled(operands[0]), frame) if number == 0 else ""
        cond = comparisons.condition(interp, value, text or op)
        stop = cond if op == "or" else negate(cond)
        if stop is True:
            return value
        following = interp.under(negate(stop), partial(evaluate, interp, operand, frame))
        if following is None:
            return value
        if stop is False:
            value = following
        elif isinstance(value, CondValue) and isinstance(following, (CondValue, Const)):
            text = comparisons.told(interp, operand, spelled(operand), frame)
            right = comparisons.condition(interp, following, text or op)
            value = CondValue(either(cond, right) if op == "or" else both(cond, right))
        else:
            value = choose([(stop, value), (negate(stop), following)])
    return value


def arithmetic(interp: Interpreter, op: str, operands: list[Value]) -> Value:
    """An arithmetic operator on values; only small constants are computed."""
    if len(operands) <= 2 and Phi in map(type, operands):
        right = alternatives(operands[-1]) if len(operands) == 2 else ((True, UNKNOWN),)
        pairs = [
            (left_cond, right_cond, [one, other][: len(operands)])
            for left_cond, one in alternatives(operands[0]) for right_cond, other in right
            if meets(left_cond, right_cond)
        ]  # fmt: skip
        return choose_of_pairs((one, other, arithmetic(interp, op, pair)) for one, other, pair in pairs)
    constants = [o.value for o in operands if isinstance(o, Const)]
    if len(constants) == len(operands):
        found = _compute(op, constants)
        if found is not None:
            return found
    first = operands[0]
    if isinstance(first, Seq) and len(operands) == 2:
        return _sequence_arithmetic(op, first, operands[1])
    made = ask(interp.hooks.arithmetic, operands)
    if made is not None:
        return made  # type: ignore[no-any-return]
    if isinstance(first, Obj) and (op == "+" or (op == "/" and first.type.startswith(_PATH))):
        return further(first, operands[1:]) if begins_path(first) else first
    if all(map(holds_numbers, operands)):
        return Unknown(*taint(operands))
    if op == "%" and isinstance(first, Const) and isinstance(first.value, str):
        given = operands[1]
        return filled_in(first.value, "%", given.items if isinstance(given, Seq) and given.items else [given])
    if op not in _JOINS or not any(map(_is_text, operands)):
        return Computed(mixed(operands), all(map(_is_setting, operands)))
    return text_of([operands[0], Const("/"), *operands[1:]], path=True) if op == "/" else text_of(operands)


def _is_setting(value: Value) -> bool:
    """Whether a value is a flag, a number in the program, or computed from such alone."""
    return isinstance(value, (Const, FlagValue)) or (isinstance(value, Computed) and value.of_settings)


def _is_text(value: Value) -> bool:
    return isinstance(value, Text) or (isinstance(value, Const) and isinstance(value.value, str))


def _sequence_arithmetic(op: str, left: Seq, right: Value) -> Value:
    if op == "+" and isinstance(right, Seq):
        known = [*left.items, *right.items] if left.items is not None and right.items is not None else None
        element = left.element or right.element
        if known is None and (objects := sequences.chained(left, right)) is not None:
            return objects
        return Seq(left.kind, known, element, left.order or right.order, (*left.sources, *right.sources))
    if op == "*" and left.kind in ("list", "tuple"):
        return _repeated(left, right)
    if op in ("-", "|", "&", "^"):  # of sets, or of the keys of a dict
        return joined([left, right] if op in "|^" else [left], alike=True)
    return mixed([left, right])


def _repeated(left: Seq, count: Value) -> Seq:
    """``[transform] * count``: one item stands for all where it is not known how many there are."""
    if left.items is None or not left.items:
        return Seq(left.kind, left.items, left.element, left.order, left.sources)
    number = count.value if isinstance(count, Const) else None
    if isinstance(number, int) and len(left.items) * number <= sequences.MAX_LOOP_ITEMS:
        return Seq(left.kind, left.items * number, left.element, left.order, left.sources)
    return Seq(left.kind, None, left.items[0], left.order, left.sources)


def _compute(op: str, values: list[Any]) -> Value | None:
    if op == "neg" and isinstance(values[0], (int, float)):
        return Const(-values[0])
    if len(values) != 2 or op not in _ARITHMETIC:
        return None
    left, right = values
    if isinstance(left, str) and isinstance(right, str) and op == "+" and len(left) + len(right) < MAX_TEXT:
        return Const(left + right)
    if not (isinstance(left, (int, float)) and isinstance(right, (int, float))):
        return None
    if abs(left) > MAX_NUMBER or abs(right) > MAX_NUMBER:
        return None
    try:
        return Const(_ARITHMETIC[op](left, right))
    except (ZeroDivisionError, OverflowError, TypeError, ValueError):
        return None


def _compare(interp: Interpreter, node: f.Compare, frame: Frame) -> Value:
    start = len(interp.story.events)
    left = evaluate(interp, node.left, frame)
    middle = len(interp.story.events)
    right = evaluate(interp, node.right, frame)
    if len(interp.story.events) > start:
        thresholds.note(interp, node, (start, middle), left, right)
    origins, _, sources = taint([left, right])
    if not origins.isdisjoint(_VARYING) or (node.op in ORDERINGS and bounded.listings(sources)):
        interp.event("compare", node.op, frame, f.NOWHERE, (left, right))
    if "clock" in origins and not node.op.startswith("is"):  # whether there is a value says nothing of the time
        interp.clock = next((one for one in sources if any(x.origin == "clock" for x in one.effects)), None)
    words = [comparisons.setting(interp, side, frame) or spelled(side) for side in (node.left, node.right)]
    op = comparisons.POSITIVE.get(node.op, node.op)
    text = f"{words[0]}{comparisons.ONE_OF}" if op == "in" and words[0] else node.op
    return comparisons.compare(interp, node.op, left, right, f"{words[0]} {op} {words[1]}" if all(words) else text)


def spelled(node: f.Expr) -> str:
    """A name, an attribute or an item as the program writes it; a constant; empty for all else."""
    if isinstance(node, f.Const):
        return repr(node.value)
    if isinstance(node, f.Name):
        return node.id
    holder = spelled(node.value) if isinstance(node, (f.Attr, f.Sub)) else ""
    if isinstance(node, f.Attr):
        return f"{holder}.{node.name}" if holder else ""
    if isinstance(node, f.Sub) and isinstance(node.key, f.Const):
        return f"{holder}[{node.key.value!r}]" if holder else ""
    if isinstance(node, f.Call) and isinstance(node.func, f.Attr) and (key := key_asked(node)):
        holder = spelled(node.func.value)
        return f"{holder}.{node.func.name}({key!r})" if holder else ""
    return ""


GETTERS = frozenset({"get", "get_string", "get_int", "get_float", "get_bool", "get_list", "get_config"})
"""Methods that give a setting by its key: of dicts, and of pyhocon's configurations (pyhocon/config_tree.py)."""


def key_asked(node: f.Call) -> str:
    """The key of ``settings.get("mode", default)``; empty for other calls."""
    known = isinstance(node.func, f.Attr) and node.func.name in GETTERS and 0 < len(node.args) < 3
    key = node.args[0].value if known and not any(arg.star or arg.keyword for arg in node.args) else None
    return key.value if isinstance(key, f.Const) and isinstance(key.value, str) else ""


def handed(value: Ref, node: f.Attr) -> Ref:
    """What a call is given; of a setting its spelling is kept, as the function has another name for it."""
    if value.receiver is None or isinstance(value, Setting):
        return value
    words = spelled(node)
    return Setting(value.name, value.receiver, words) if is_of_config(words) else value


def worded(node: f.Expr) -> str:
    """The same, and a call of few words: ``os.path.isfile(path)``."""
    if not isinstance(node, f.Call):
        return spelled(node)
    words = [spelled(part) for part in (node.func, *(arg.value for arg in node.args))]
    plain = all(words) and not any(arg.star or arg.keyword for arg in node.args)
    return f"{words[0]}({', '.join(words[1:])})" if plain and sum(map(len, words)) <= MAX_SPELLED else ""


def _if_exp(interp: Interpreter, node: f.IfExp, frame: Frame) -> Value:
    text = comparisons.told(interp, node.test, node.text, frame)
    cond = comparisons.condition(interp, evaluate(interp, node.test, frame), text)
    known = interp.path.truth(cond)
    if known is not None:
        return evaluate(interp, node.body if known else node.orelse, frame)
    counted, few = narrowing.single(interp, node.test, frame)

    def branch(part: f.Expr, one_at_most: bool) -> Value:
        with narrowing.narrowed(interp, counted if one_at_most else ()):
            return evaluate(interp, part, frame)

    body = interp.under(cond, lambda: branch(node.body, few)) or UNKNOWN
    orelse = interp.under(negate(cond), lambda: branch(node.orelse, not few)) or UNKNOWN
    return choose([(cond, body), (negate(cond), orelse)])


def _format(interp: Interpreter, node: f.Format, frame: Frame) -> Value:
    parts = [evaluate(interp, part, frame) for part in node.parts]
    if all(isinstance(p, Const) for p in parts):
        text = "".join(str(p.value) for p in parts)  # type: ignore[union-attr]
        if len(text) < MAX_TEXT:
            return Const(text)
    return text_of(parts)


def _walrus(interp: Interpreter, node: f.Walrus, frame: Frame) -> Value:
    value = evaluate(interp, node.value, frame)
    interp.assign(node.target, value, frame, f.NOWHERE)
    return value


def _yield(interp: Interpreter, node: f.Yield, frame: Frame) -> Value:
    value = UNKNOWN if node.value is None else evaluate(interp, node.value, frame)
    if interp.order_loops:
        order, sources = frame.order = interp.order_loops[-1].taint
        tell_together(interp, frame.tick, frame, f.NOWHERE)
        if isinstance(value, Unknown):
            value = Unknown(value.origins, order, sources)
    frame.yields.append(value)
    return UNKNOWN


def _opaque(interp: Interpreter, node: f.Opaque, frame: Frame) -> Value:
    return mixed(evaluate(interp, part, frame) for part in node.parts)


_VARYING = frozenset({"random", "hash"})
"""Origins of numbers by which a program may decide something else in each run."""
_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod,
}  # fmt: skip
_EXPRESSIONS: dict[type, Callable[[Interpreter, Any, Frame], Value]] = {
    f.Const: _const, f.Name: _name, f.Attr: _attr, f.Call: _call, f.Sub: subscripts.subscript, f.Items: _items,
    f.Mapping: _mapping, f.Comp: comprehensions.evaluate, f.Lambda: _lambda, f.Op: _op, f.Compare: _compare,
    f.IfExp: _if_exp, f.Format: _format, f.Walrus: _walrus, f.Yield: _yield, f.Opaque: _opaque,
}  # fmt: skip
