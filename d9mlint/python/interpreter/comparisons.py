"""Comparisons, and values as conditions."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from d9mlint.python.domain.choices import MAX_THINGS, present
from d9mlint.python.domain.conditions import (
    UNKNOWN_DEFAULT,
    Cond,
    both,
    contains,
    either,
    flag_test,
    negate,
    opaque,
    opaque_test,
)
from d9mlint.python.domain.diagrams import meets
from d9mlint.python.domain.numbers import Counted, Length, is_count
from d9mlint.python.domain.reflected import Names
from d9mlint.python.domain.respelling import Respelled
from d9mlint.python.domain.taint import Computed, differ, is_number
from d9mlint.python.domain.tellable import is_of_config
from d9mlint.python.domain.values import (
    ABSENT,
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
    Optional,
    Partial,
    Phi,
    Ref,
    Seq,
    Setting,
    Text,
    Unknown,
    Value,
    alternatives,
)
from d9mlint.python.interpreter import expressions
from d9mlint.python.interpreter.library import environment, members, streams
from d9mlint.python.interpreter.library.containers import sequences
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.domain.events import Frame
    from d9mlint.python.interpreter.interpreter import Interpreter

ONE_OF = " in"
"""Ends the text of a test that something is one of several things which stand there."""
POSITIVE = {"!=": "==", "is not": "is", "not in": "in"}
_MOST_NAMES = 4
"""Names for parts of a config that are followed to it."""
_ROOT = re.compile(r"\w+")
_OPERATORS = ("not", "and", "or", "assert", "bool(...)")
"""Texts of conditions that say nothing of what is tested."""
_NEVER_NONE = (Obj, Inst, Func, Bound, Class, Module, Seq, Dict, Partial, Ref, Computed, Text)
_NAMED = (Class, Module)
"""Of which there is one by each name."""
_CONTAINERS = frozenset(f"builtins.{name}" for name in ("set", "dict", "list", "tuple", "str"))
_ALWAYS_TRUE = frozenset({"importlib.machinery.ModuleSpec"})
"""Types of the standard library without `__bool__` and `__len__`."""
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "==": operator.eq, "<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge,
}  # fmt: skip


_EMPTY = {("==", 0): True, ("<=", 0): True, ("<", 1): True, (">", 0): False, (">=", 1): False}
"""Comparisons of a length that tell whether there is anything."""


def compare(interp: Interpreter, op: str, left: Value, right: Value, text: str) -> Value:
    """A comparison as a constant where it is known, else as a condition."""
    if op in ("!=", "is not", "not in"):
        positive = POSITIVE[op]
        return CondValue(negate(condition(interp, compare(interp, positive, left, right, text), text)))
    if not isinstance(left, Phi) and not isinstance(right, Phi):
        found = _compare_leaves(interp, op, left, right, text)
    else:
        found = _any_of(
            (both(left_cond, right_cond), _compare_leaves(interp, op, a, b, text))
            for left_cond, a in alternatives(left) for right_cond, b in alternatives(right)
            if meets(left_cond, right_cond)
        )  # fmt: skip
    return Const(found) if isinstance(found, bool) else CondValue(found)


def _any_of(parts: Iterable[tuple[Cond, Cond]]) -> Cond:
    """What holds under one of several conditions; of the tests that cannot be read, one stands for all."""
    known: list[Cond] = []
    unread: list[tuple[Cond, Cond]] = []
    for cond, test in parts:
        if opaque(test) is None:
            known.append(both(cond, test))
        else:
            unread.append((cond, test))
    if len(unread) > 1:  # what `a and b` is where `a` ends it does not hold
        unread = [(cond, test) for cond, test in unread if meets(cond, test)]
    hidden = [(cond, found) for cond, test in unread if (found := opaque(test)) is not None]
    if len({test for _, test in hidden}) > 1:
        texts = {test.text for _, test in hidden}
        key = ("any", *(test.key for _, test in hidden))
        together = opaque_test(key, texts.pop() if len(texts) == 1 else hidden[0][1].text)
        return either(*known, both(together, either(*(cond for cond, _ in hidden))))
    return either(*known, *(both(cond, opaque_test(*test[:2], by_default=test.by_default)) for cond, test in hidden))


def _compare_leaves(interp: Interpreter, op: str, left: Value, right: Value, text: str) -> Cond:
    if isinstance(left, Const) and isinstance(right, Const):
        known = _compare_constants(op, left.value, right.value)
        if known is not None:
            return known
    if isinstance(left, Counted) and isinstance(right, Const) and isinstance(right.value, (int, float)):
        known = compare_least(op, left.least, right.value)
        if known is not None:
            return known
    if isinstance(left, FlagValue) and isinstance(right, Const) and op in ("==", "is", "<", "<=", ">", ">="):
        if right.value is None:
            # What a parser returns is None only when nothing is given and the default is None.
            may_be_none = left.flag.default in (None, UNKNOWN_DEFAULT) and not left.flag.required
            return flag_test(left.flag, "none") if may_be_none else False
        if isinstance(right.value, bool) and left.flag.kind in ("on", "off", "bool"):
            test = flag_test(left.flag, "truthy")
            return test if right.value else negate(test)
        if op in ("==", "is"):
            possible = not left.flag.choices or right.value in (*left.flag.choices, left.flag.default)
            return flag_test(left.flag, "==", right.value) if possible else False
        if isinstance(right.value, (int, float)):
            return flag_test(left.flag, op, right.value)
    if isinstance(left, Respelled) and isinstance(right, Const) and isinstance(right.value, str) and op == "==":
        return left.equals(right.value)
    if isinstance(left, Length) and isinstance(left.of, FlagValue) and isinstance(right, Const):
        empty = _EMPTY.get((op, right.value))
        if empty is not None:
            given = flag_test(left.of.flag, "truthy")
            return negate(given) if empty else given
    if isinstance(right, FlagValue) and isinstance(left, Const) and op in ("==", "is"):
        return _compare_leaves(interp, op, right, left, text)
    if (
        op == "in"
        and isinstance(right, Seq)
        and right.items is not None
        and len(right.items) <= sequences.MAX_LOOP_ITEMS
    ):
        return either(*(_compare_leaves(interp, "==", left, item, _is_item(text, item)) for item in right.items))
    if op == "in" and isinstance(right, FlagValue) and _is_text(left) and right.flag.kind == "value":
        return contains(right.flag, str(left.value)) if isinstance(left, Const) else False
    if op == "in" and isinstance(left, FlagValue) and (names := _names_in(right)) is not None:
        return either(*(_compare_leaves(interp, "==", left, Const(name), text) for name in names))
    if op == "in" and isinstance(left, Const) and isinstance(right, Names) and left.value in right.sure:
        return True
    if op == "in" and isinstance(left, Const) and isinstance(right, Dict) and _is_told(left, right):
        return left.value in right.items and present(right.items[left.value])
    if op == "in" and isinstance(left, Const) and isinstance(right, Ref) and right.name == "os.environ":
        seed = environment.seed_variable(str(left.value)) if interp.variable(str(left.value)) is None else None
        if seed is not None:
            return negate(flag_test(seed, "none"))
    if op == "==" and (isinstance(left, Text) or isinstance(right, Text)) and differ(left, right):
        return False
    if op in ("==", "is") and isinstance(left, Obj) and left.type in interp.hooks.never_text and _is_text(right):
        return False
    if op in ("is", "==") and isinstance(right, Const) and right.value is None and _never_none(left):
        return False
    if op in ("==", "is") and isinstance(left, _NAMED) and isinstance(right, _NAMED):
        return left is right
    if op in ("==", "is") and isinstance(left, Ref) and isinstance(right, Ref):
        known = _same_member(left, right)
        if known is not None:
            return known
    keys = tuple(_key(interp, v) for v in (left, right))
    words = [_said(left), _said(right)]
    if " " not in text and all(words):
        text = f"{words[0]} {op} {words[1]}"
    elif (setting_there := name_in_config(left)) and words[1] and not is_of_config(text):
        text = f"{setting_there} {op} {words[1]}"
    unset = op in ("is", "==") and isinstance(left, Optional) and isinstance(right, Const) and right.value is None
    return opaque_test(("compare", op, *keys), text, by_default=unset)


def _same_member(left: Ref, right: Ref) -> bool | None:
    """Whether two members of an enumeration of a package are one, by whatever path it is imported: ``ModeKeys.TRAIN``.

    None where the names are of something else.
    """
    (of, one), (other_of, other) = (f".{value.name}".split(".")[-2:] for value in (left, right))
    members = of == other_of and of[:1].isupper() and one.isupper() and other.isupper()
    return one == other if members and all(map(_is_of_package, (left, right))) else None


def _is_of_package(value: Value | None) -> bool:
    """Whether a name is one of a package, and no attribute of an object that has been made."""
    while isinstance(value, Ref):
        value = value.receiver
    return value is None or isinstance(value, Module)


def compare_least(op: str, least: int, right: float) -> bool | None:
    """A comparison of a number of which the least is known, where that decides it."""
    if least > right:
        return {">": True, ">=": True, "<": False, "<=": False, "==": False}.get(op)
    return {">=": True, "<": False}.get(op) if least == right else None


def _is_item(text: str, item: Value) -> str:
    """The text of the test that something is this item: ``kind == 'a'`` out of ``kind in``."""
    name = text.removesuffix(ONE_OF)
    return f"{name} == {item.value!r}" if name != text and isinstance(item, Const) else text


def _names_in(table: Value) -> list[str] | None:
    """The keys of a table of functions and classes, or of what a module of the program has; None of other things."""
    if isinstance(table, Module):
        names = list(members.functions(table))
        return names if len(names) <= MAX_THINGS else None
    if not isinstance(table, Dict) or table.open or not 0 < len(table.items) <= MAX_THINGS:
        return None
    keys = [key for key in table.items if isinstance(key, str)]
    return keys if len(keys) == len(table.items) and members.holds_callables(table) else None


def _is_told(key: Const, held: Dict) -> bool:
    """Whether it is known when a dict has a key: it gets no others, or some runs do without this one."""
    return not held.open or any(leaf is ABSENT for _, leaf in alternatives(held.items.get(key.value)))


def _never_none(value: Value) -> bool:
    """Whether a value is surely something; an attribute of an object may be None."""
    held = isinstance(value, Ref) and isinstance(value.receiver, (Obj, Unknown))
    return (isinstance(value, _NEVER_NONE) or is_number(value)) and not held


def is_a(value: Value, wanted: Value) -> Cond | None:
    """When a value is one of some builtin types; None where that is not known."""
    answers = [(cond, _is_kind(leaf, wanted)) for cond, leaf in alternatives(value)]
    if any(answer is None for _, answer in answers):
        return None
    return either(*(both(cond, bool(answer)) for cond, answer in answers))


def _is_kind(value: Value, wanted: Value) -> bool | None:
    kind = "dict" if isinstance(value, Dict) else value.kind if isinstance(value, Seq) else ""
    types = (wanted.items or []) if isinstance(wanted, Seq) else [wanted]
    names = {one.name for one in types if isinstance(one, Ref)}
    if not names or not (names <= _CONTAINERS or names == {"builtins.type"}) or len(names) != len(types):
        return None
    if isinstance(value, Const) and isinstance(value.value, (str, int, float, type(None))):
        return isinstance(value.value, str) and "builtins.str" in names
    if isinstance(value, FlagValue) and names == {"builtins.str"} and value.flag.spelled.startswith("-"):
        return True if isinstance(value.flag.default, str) and value.flag.default != UNKNOWN_DEFAULT else None
    if isinstance(value, FlagValue) and names == {"builtins.dict"}:
        known = value.flag.default != UNKNOWN_DEFAULT and isinstance(value.flag.default, (str, int, float))
        return False if known else None  # what is in a dict of settings is a setting itself
    if names == {"builtins.type"}:
        return isinstance(value, Class) if isinstance(value, (*_NAMED, Func, Inst, Const)) else None
    if isinstance(value, (Func, Bound, Partial, Class, Module)):
        return False
    if isinstance(value, Inst):
        return None if value.cls.external() else False
    if isinstance(value, Obj):  # (a type with `()` is only the call that made it)
        return False if "builtins.dict" not in names and not value.type.endswith("()") else None
    if not kind:
        return None
    if kind in ("set", "dict"):
        return f"builtins.{kind}" in names
    return None if names & {"builtins.list", "builtins.tuple"} else False  # tuples are not always told from lists


def _is_text(value: Value) -> bool:
    return isinstance(value, Const) and isinstance(value.value, str)


def _never_empty(value: Value) -> bool:
    """Whether a text that is not known as a whole has something in it anyhow: ``"./log_%s" % args.id``."""
    parts = value.parts if isinstance(value, Text) else ()
    return any(isinstance(part, Const) and isinstance(part.value, str) and bool(part.value) for part in parts)


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
    call = value.event if isinstance(value, Obj) else None
    if isinstance(value, (Seq, Unknown)) and value.sources and (value.order or is_count(value)):
        call = value.sources[0]  # the call that lists what is counted, too
    return ("value", interp.serial(value), *((call.name, call.tick) if call is not None else ()))


def _compare_constants(op: str, left: Any, right: Any) -> bool | None:
    try:
        if op == "in":
            return bool(left in right)
        if op == "is":
            return bool(left is right or (type(left) is type(right) and left == right))
        return bool(_COMPARISONS[op](left, right))
    except (TypeError, ValueError):
        return None


def is_path(value: Value) -> bool:
    """Whether a value is a path, which is true whatever it is: ``pathlib`` defines no other truth."""
    return isinstance(value, Obj) and value.type == "pathlib.Path"


def _is_generator(value: Obj) -> bool:
    """Whether a value is a generator of random numbers, which is true: ``rng = rng or random.Random()``."""
    return value.event is not None and any(effect.creates.endswith("-generator") for effect in value.event.effects)


def told(interp: Interpreter, node: f.Expr, text: str, frame: Frame) -> str:
    """The text of a test; a name for numbers or data that a function works out for itself is no setting's."""
    func = frame.func.node if frame.func is not None else None
    if not isinstance(node, f.Name) or isinstance(func, f.Lambda):
        return text
    if node.id in interp.project.computed(func, frame.module.path):
        return f"({text})"
    return setting(interp, node, frame) or text


def setting(interp: Interpreter, node: f.Expr, frame: Frame) -> str:
    """What a config calls the setting that a function has a name for: ``mode = config["mode"]``; empty for others."""
    func = frame.func.node if frame.func is not None else None
    if not isinstance(node, f.Name) or isinstance(func, f.Lambda):
        return ""
    taken = interp.project.taken(func, frame.module.path)
    words = expressions.spelled(taken[node.id]) if node.id in taken else ""
    for _ in range(_MOST_NAMES if words else 0):  # `part = config["net"]`, `kind = part["kind"]`
        if is_of_config(words):
            return words
        root = _ROOT.match(words)
        if root is None or root[0] not in taken:
            break
        words = f"{expressions.spelled(taken[root[0]])}{words[root.end() :]}"
    return ""


def name_in_config(value: Value) -> str:
    """How the program spells a setting of a config where it takes it; empty for all else."""
    if isinstance(value, Setting):
        return value.spelled
    return value.name if isinstance(value, Unknown) and is_of_config(value.name) else ""


def condition(interp: Interpreter, value: Value, text: str) -> Cond:
    """The truth of a value as a condition."""
    if isinstance(value, Const):
        return bool(value.value)
    if isinstance(value, CondValue):
        return value.cond
    if isinstance(value, FlagValue):
        return flag_test(value.flag, "truthy")
    if isinstance(value, Length) and isinstance(value.of, FlagValue):
        return flag_test(value.of.flag, "truthy")
    if isinstance(value, Counted) and value.least > 0:
        return True
    if isinstance(value, Phi):
        return _any_of((cond, condition(interp, leaf, text)) for cond, leaf in value.alternatives)
    if isinstance(value, (Func, Bound, Partial, Class, Module, Inst)) or is_path(value) or _never_empty(value):
        return True
    if isinstance(value, Seq) and value.items is not None and value.kind != "generator":
        return either(*map(present, value.items))
    if isinstance(value, Dict) and not value.open:
        return either(*map(present, value.items.values()))
    if isinstance(value, Obj) and (value.type in _ALWAYS_TRUE or _is_generator(value)):
        return True
    if (spelled := name_in_config(value)) and not is_of_config(text):
        text = spelled
    if isinstance(value, Obj) and value.event is not None and value.event.name.endswith(streams.FILE_TESTS):
        whole = text if text.startswith(value.event.raw) else f"{value.event.raw}(...)"  # (not `on and exists(path)`)
        text = streams.file_test(value.event) or whole
    if value is UNKNOWN:  # one object for all that is unknown; only what is spelled the same is taken for the same
        return opaque_test(("unknown", text if text not in _OPERATORS else interp.serial(object())), text)
    return opaque_test(_key(interp, value), text)
