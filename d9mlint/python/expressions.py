"""Evaluates expressions to symbolic values."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any

from d9mlint.python import calling
from d9mlint.python import facts as f
from d9mlint.python.guards import UNKNOWN_DEFAULT, Cond, FlagTest, OpaqueTest, both, either, negate
from d9mlint.python.story import Event, Frame
from d9mlint.python.values import (
    UNKNOWN,
    Bound,
    Class,
    CondValue,
    Const,
    Dict,
    FlagValue,
    Func,
    Inst,
    Module,
    Obj,
    Partial,
    Phi,
    Ref,
    Seq,
    Unknown,
    Value,
    alternatives,
    choose,
    taint,
)

if TYPE_CHECKING:
    from d9mlint.python.interpreter import Interpreter

MAX_LOOP_ITEMS = 8
"""Items of a sequence that a loop goes through one by one."""
MAX_SETTINGS = 200
"""The same where the loop only copies settings, one by one: ``for k, v in d.items(): setattr(self, k, v)``."""
"""A loop over at most so many known items is told once per item, a longer one once."""
MAX_TEXT = 10_000
MAX_NUMBER = 10**15
DATASET = "tensorflow.data.Dataset"
_NEVER_NONE = (Obj, Inst, Func, Bound, Class, Module, Seq, Dict, Partial, Ref)


def evaluate(interp: Interpreter, node: f.Expr, frame: Frame) -> Value:
    """The value of an expression; its calls become events on the way."""
    return _EXPRESSIONS[type(node)](interp, node, frame)


def _const(interp: Interpreter, node: f.Const, frame: Frame) -> Value:
    return Const(node.value)


def _name(interp: Interpreter, node: f.Name, frame: Frame) -> Value:
    return interp.load(node.id, frame)


def _attr(interp: Interpreter, node: f.Attr, frame: Frame) -> Value:
    holder = evaluate(interp, node.value, frame)
    return calling.attribute(interp, holder, node.name, frame, node.place)


def _call(interp: Interpreter, node: f.Call, frame: Frame) -> Value:
    return calling.call_expression(interp, node, frame)


def _sub(interp: Interpreter, node: f.Sub, frame: Frame) -> Value:
    holder = evaluate(interp, node.value, frame)
    index = evaluate(interp, node.key, frame)
    options = [(cond, _item(interp, leaf, index, node, frame)) for cond, leaf in alternatives(holder)]
    return choose(options)


def _item(interp: Interpreter, holder: Value, index: Value, node: f.Sub, frame: Frame) -> Value:
    if isinstance(holder, Ref) and holder.name == "os.environ":
        return interp.environment.get(index.value, Unknown(frozenset({"env"}))) if isinstance(index, Const) else UNKNOWN
    if isinstance(holder, Dict) and isinstance(index, Const):
        try:
            found = holder.items.get(index.value)
        except TypeError:
            found = None
        return interp.resolve(found) if found is not None else UNKNOWN
    if isinstance(holder, Dict) and isinstance(index, (FlagValue, Phi)):
        return (
            choose([(True, value) for value in list(holder.items.values())[:1]]) if len(holder.items) == 1 else UNKNOWN
        )
    if isinstance(holder, Seq):
        if holder.order:
            interp.event("sink", "slice" if node.is_slice else "item", frame, node.place, (holder,))
        if node.is_slice:
            return Seq(holder.kind, None, holder.element or _any(holder), holder.order, holder.sources)
        number = index.value if isinstance(index, Const) and isinstance(index.value, int) else None
        if holder.items is not None and number is not None and -len(holder.items) <= number < len(holder.items):
            return interp.resolve(holder.items[number])
        return holder.element or _any(holder)
    if isinstance(holder, Const) and isinstance(index, Const) and not node.is_slice:
        try:
            return Const(holder.value[index.value])
        except (TypeError, IndexError, KeyError):
            return UNKNOWN
    if isinstance(holder, Obj):
        if holder.order:
            interp.event("sink", "slice" if node.is_slice else "item", frame, node.place, (holder,))
        if holder.type == DATASET or (node.is_slice and _keeps_all(node.key)):
            return holder
    if isinstance(holder, Unknown) and holder.order:
        interp.event("sink", "slice" if node.is_slice else "item", frame, node.place, (holder,))
    origins, order, sources = taint([holder])
    return Unknown(origins, order if node.is_slice else "", sources)


def _keeps_all(key: f.Expr) -> bool:
    """Whether a subscript only adds axes: ``x[tf.newaxis, :]``, ``x[:, None]``."""
    parts = key.items if isinstance(key, f.Items) else (key,)
    return all(
        (isinstance(p, f.Const) and p.value is None) or (isinstance(p, f.Attr) and p.name == "newaxis") for p in parts
    )


def _any(holder: Seq) -> Value:
    return holder.items[0] if holder.items else UNKNOWN


def _items(interp: Interpreter, node: f.Items, frame: Frame) -> Value:
    if any(isinstance(item, f.Opaque) for item in node.items):
        return Seq(node.kind, None, Unknown(*taint(evaluate(interp, i, frame) for i in node.items)))
    return Seq(node.kind, [evaluate(interp, item, frame) for item in node.items])


def _mapping(interp: Interpreter, node: f.Mapping, frame: Frame) -> Value:
    out = Dict({})
    for key, value in node.items:
        inner = evaluate(interp, value, frame)
        if key is None:
            merge(out, inner)
            continue
        known = evaluate(interp, key, frame)
        if isinstance(known, Const) and isinstance(known.value, (str, int, float, bool, bytes, type(None))):
            out.items[known.value] = inner
        else:
            out.open = True
    return out


def merge(into: Dict, other: Value) -> None:
    """``into.update(other)``."""
    if isinstance(other, Dict):
        into.items.update(other.items)
        into.open = into.open or other.open
    else:
        into.open = True


def _comp(interp: Interpreter, node: f.Comp, frame: Frame) -> Value:
    inner = Frame(frame.module, frame, tuple(interp.assumed()), frame.func)
    inner.globals = frame.globals
    order = ""
    sources: tuple[Event, ...] = ()
    known: list[Value] | None = None
    for clause in node.clauses:
        iterable = evaluate(interp, clause.iterable, inner)
        origins, its_order, its_sources = iteration_order(interp, iterable, frame, node.place)
        if its_order:
            order, sources = its_order, its_sources
        items = loop_items(interp, iterable, Unknown(origins, "", its_sources))
        if len(node.clauses) == 1 and not clause.conditions and len(items) > 1 and node.kind != "dict":
            known = []
            for item in items:
                interp.assign(clause.target, item, inner, node.place)
                known.append(evaluate(interp, node.element, inner))
            return Seq("list" if node.kind == "generator" else node.kind, known, None, order, sources)
        if items:
            interp.assign(clause.target, items[0], inner, node.place)
        for condition_ in clause.conditions:
            evaluate(interp, condition_, inner)
    element = evaluate(interp, node.element, inner)
    if node.kind == "dict":
        value = evaluate(interp, node.value, inner) if node.value is not None else UNKNOWN
        numbered = taint([element, value])
        return (
            Unknown(numbered[0], order or numbered[1], (*sources, *numbered[2]))
            if order or numbered[1]
            else Dict({}, True)
        )
    kind = "list" if node.kind == "generator" else node.kind
    return Seq(kind, None, element, order, sources)


def _lambda(interp: Interpreter, node: f.Lambda, frame: Frame) -> Value:
    return calling.make_lambda(interp, node, frame)


def _op(interp: Interpreter, node: f.Op, frame: Frame) -> Value:
    if node.op in ("and", "or"):
        return _short_circuit(interp, node.op, node.operands, frame)
    operands = [evaluate(interp, operand, frame) for operand in node.operands]
    if node.op == "not":
        cond = condition(interp, operands[0], "not")
        return Const(not cond) if isinstance(cond, bool) else CondValue(negate(cond))
    return arithmetic(interp, node.op, operands)


def _short_circuit(interp: Interpreter, op: str, operands: tuple[f.Expr, ...], frame: Frame) -> Value:
    value = evaluate(interp, operands[0], frame)
    for operand in operands[1:]:
        cond = condition(interp, value, op)
        stop = cond if op == "or" else negate(cond)
        if stop is True:
            return value
        following = interp.under(negate(stop), partial(evaluate, interp, operand, frame))
        if following is None:
            return value
        if stop is False:
            value = following
        elif isinstance(value, CondValue) and isinstance(following, (CondValue, Const)):
            right = condition(interp, following, op)
            value = CondValue(either(cond, right) if op == "or" else both(cond, right))
        else:
            value = choose([(stop, value), (negate(stop), following)])
    return value


def arithmetic(interp: Interpreter, op: str, operands: list[Value]) -> Value:
    """An arithmetic operator on values; only small constants are computed."""
    if any(isinstance(o, Phi) for o in operands) and len(operands) <= 2:
        options = []
        for left_cond, left in alternatives(operands[0]):
            for right_cond, right in alternatives(operands[-1]) if len(operands) == 2 else ((True, UNKNOWN),):
                pair = [left, right][: len(operands)]
                options.append((both(left_cond, right_cond), arithmetic(interp, op, pair)))
        return choose(options)
    constants = [o.value for o in operands if isinstance(o, Const)]
    if len(constants) == len(operands):
        found = _compute(op, constants)
        if found is not None:
            return found
    first = operands[0]
    if isinstance(first, Seq) and len(operands) == 2:
        return _sequence_arithmetic(op, first, operands[1])
    if op == "+" and isinstance(first, Obj):
        return first
    return Unknown(*taint(operands))


def _sequence_arithmetic(op: str, left: Seq, right: Value) -> Value:
    if op == "+" and isinstance(right, Seq):
        known = [*left.items, *right.items] if left.items is not None and right.items is not None else None
        element = left.element or right.element
        return Seq(left.kind, known, element, left.order or right.order, (*left.sources, *right.sources))
    if op in ("-", "|", "&", "^") and left.kind == "set":
        return Seq("set", None, left.element or _any(left))
    return Unknown(*taint([left, right]))


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
    left, right = evaluate(interp, node.left, frame), evaluate(interp, node.right, frame)
    return compare(interp, node.op, left, right, node.op)


def compare(interp: Interpreter, op: str, left: Value, right: Value, text: str) -> Value:
    """A comparison as a constant where it is known, else as a condition."""
    if op in ("!=", "is not", "not in"):
        positive = {"!=": "==", "is not": "is", "not in": "in"}[op]
        return CondValue(negate(condition(interp, compare(interp, positive, left, right, text), text)))
    conds: list[Cond] = []
    for left_cond, a in alternatives(left):
        for right_cond, b in alternatives(right):
            conds.append(both(left_cond, right_cond, _compare_leaves(interp, op, a, b, text)))
    found = either(*conds)
    return Const(found) if isinstance(found, bool) else CondValue(found)


def _compare_leaves(interp: Interpreter, op: str, left: Value, right: Value, text: str) -> Cond:
    if isinstance(left, Const) and isinstance(right, Const):
        known = _compare_constants(op, left.value, right.value)
        if known is not None:
            return known
    if isinstance(left, FlagValue) and isinstance(right, Const) and op in ("==", "is", "<", "<=", ">", ">="):
        if right.value is None:
            # What a parser returns is None only when nothing is given and the default is None.
            may_be_none = left.flag.default in (None, UNKNOWN_DEFAULT) and not left.flag.required
            return FlagTest(left.flag, "none") if may_be_none else False
        if isinstance(right.value, bool) and left.flag.kind in ("on", "off", "bool"):
            test = FlagTest(left.flag, "truthy")
            return test if right.value else negate(test)
        if op in ("==", "is"):
            return FlagTest(left.flag, "==", right.value)
        if isinstance(right.value, (int, float)):
            return FlagTest(left.flag, op, right.value)
    if isinstance(right, FlagValue) and isinstance(left, Const) and op in ("==", "is"):
        return _compare_leaves(interp, op, right, left, text)
    if op == "in" and isinstance(right, Seq) and right.items is not None and len(right.items) <= MAX_LOOP_ITEMS:
        return either(*(_compare_leaves(interp, "==", left, item, text) for item in right.items))
    if op == "in" and isinstance(left, Const) and isinstance(right, Dict) and not right.open:
        return left.value in right.items
    if op in ("is", "==") and isinstance(right, Const) and right.value is None and isinstance(left, _NEVER_NONE):
        return False
    keys = tuple(_key(interp, v) for v in (left, right))
    words = [_said(left), _said(right)]
    return OpaqueTest(("compare", op, *keys), f"{words[0]} {op} {words[1]}" if all(words) else text)


def _said(value: Value) -> str:
    """What the program calls a value, for those who ask about a condition."""
    if isinstance(value, Const):
        return repr(value.value)
    return value.name if isinstance(value, (Unknown, Ref)) else ""


def _key(interp: Interpreter, value: Value) -> Any:
    if isinstance(value, Const):
        return ("const", repr(value.value))
    if isinstance(value, FlagValue):
        return ("flag", value.flag.name)
    return ("value", interp.serial(value))


def _compare_constants(op: str, left: Any, right: Any) -> bool | None:
    try:
        if op == "in":
            return bool(left in right)
        if op == "is":
            return bool(left is right or (type(left) is type(right) and left == right))
        return bool(_COMPARISONS[op](left, right))
    except (TypeError, ValueError):
        return None


def condition(interp: Interpreter, value: Value, text: str) -> Cond:
    """The truth of a value as a condition."""
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, CondValue):
        return value.cond
    if isinstance(value, FlagValue):
        return FlagTest(value.flag, "truthy")
    if isinstance(value, Phi):
        return either(*(both(cond, condition(interp, leaf, text)) for cond, leaf in value.alternatives))
    if isinstance(value, (Func, Bound, Partial, Class, Module, Inst)):
        return True
    if isinstance(value, Seq) and value.items is not None and value.kind != "generator":
        return bool(value.items)
    if isinstance(value, Dict) and not value.open:
        return bool(value.items)
    return OpaqueTest(("value", interp.serial(value)), text)


def _if_exp(interp: Interpreter, node: f.IfExp, frame: Frame) -> Value:
    cond = condition(interp, evaluate(interp, node.test, frame), node.text)
    known = interp.path.truth(cond)
    if known is not None:
        return evaluate(interp, node.body if known else node.orelse, frame)
    body = interp.under(cond, lambda: evaluate(interp, node.body, frame)) or UNKNOWN
    orelse = interp.under(negate(cond), lambda: evaluate(interp, node.orelse, frame)) or UNKNOWN
    return choose([(cond, body), (negate(cond), orelse)])


def _format(interp: Interpreter, node: f.Format, frame: Frame) -> Value:
    parts = [evaluate(interp, part, frame) for part in node.parts]
    if all(isinstance(p, Const) for p in parts):
        text = "".join(str(p.value) for p in parts)  # type: ignore[union-attr]
        if len(text) < MAX_TEXT:
            return Const(text)
    return Unknown(*taint(parts))


def _walrus(interp: Interpreter, node: f.Walrus, frame: Frame) -> Value:
    value = evaluate(interp, node.value, frame)
    interp.assign(node.target, value, frame, f.NOWHERE)
    return value


def _yield(interp: Interpreter, node: f.Yield, frame: Frame) -> Value:
    value = UNKNOWN if node.value is None else evaluate(interp, node.value, frame)
    if interp.order_loops and isinstance(value, Unknown):
        order, sources = interp.order_loops[-1]
        value = Unknown(value.origins, order, sources)
    frame.yields.append(value)
    return UNKNOWN


def _opaque(interp: Interpreter, node: f.Opaque, frame: Frame) -> Value:
    return Unknown(*taint(evaluate(interp, part, frame) for part in node.parts))


def unpack(interp: Interpreter, value: Value, count: int) -> list[Value]:
    """The parts of a value that is assigned to ``count`` targets."""
    if isinstance(value, Phi):
        parts = [unpack(interp, leaf, count) for _, leaf in value.alternatives]
        conds = [cond for cond, _ in value.alternatives]
        return [choose([(c, p[i]) for c, p in zip(conds, parts, strict=True)]) for i in range(count)]
    if isinstance(value, Seq):
        if value.items is not None and len(value.items) == count:
            return [interp.resolve(v) for v in value.items]
        return [value.element or Unknown(*taint([value]))] * count
    if isinstance(value, Obj) and value.type == DATASET:
        return [value] * count
    origins, _, sources = taint([value])
    return [Unknown(origins, "", sources) for _ in range(count)]


def loop_items(
    interp: Interpreter, iterable: Value, otherwise: Value, limit: int = MAX_LOOP_ITEMS
) -> list[Value]:  # fmt: skip
    """What a loop variable takes: each known item of a sequence of at most ``limit``, else one value for all."""
    if isinstance(iterable, Seq):
        if iterable.items is not None and len(iterable.items) <= limit:
            return [interp.resolve(v) for v in iterable.items]
        if iterable.element is not None:
            return [iterable.element]
        if iterable.items:
            return [interp.resolve(iterable.items[0])]
    if isinstance(iterable, Dict) and iterable.items and not iterable.open and len(iterable.items) <= limit:
        return [Const(key) for key in iterable.items]
    return [otherwise]


def iteration_order(
    interp: Interpreter, iterable: Value, frame: Frame, place: f.Place
) -> tuple[frozenset[str], str, tuple[Event, ...]]:
    """Origins, order and source events of the items when ``iterable`` is gone through."""
    origins, order, sources = taint([iterable])
    for _, leaf in alternatives(iterable):
        if isinstance(leaf, Seq) and leaf.kind == "set" and not has_own_order(leaf):
            event = interp.event("iterate", "set", frame, place, (leaf,))
            return origins, "set", (*leaf.sources, event)
    if order:
        interp.event("iterate", order, frame, place, (iterable,))
    return origins, order, sources


def has_own_order(value: Seq) -> bool:
    """Whether a set comes out in the same order in each process: one of numbers and None, or of a single item."""
    items: Iterable[Value] = value.items if value.items is not None else ([value.element] if value.element else ())
    known = list(items)
    if value.items is not None and len(known) == 1:
        return True
    return bool(known) and all(
        (isinstance(v, Const) and isinstance(v.value, (int, float, type(None))))
        or (isinstance(v, Unknown) and "int" in v.origins)
        for v in known
    )


_ARITHMETIC: dict[str, Callable[[Any, Any], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "//": operator.floordiv,
    "%": operator.mod,
}  # fmt: skip
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip
_EXPRESSIONS: dict[type, Callable[[Interpreter, Any, Frame], Value]] = {
    f.Const: _const, f.Name: _name, f.Attr: _attr, f.Call: _call, f.Sub: _sub, f.Items: _items,
    f.Mapping: _mapping, f.Comp: _comp, f.Lambda: _lambda, f.Op: _op, f.Compare: _compare, f.IfExp: _if_exp,
    f.Format: _format, f.Walrus: _walrus, f.Yield: _yield, f.Opaque: _opaque,
}  # fmt: skip
