"""Summaries: what calls gave, for later calls that can give nothing else.

A call of the same function with arguments that are alike, under all the conditions that an earlier one was made under,
does what that one did: its events would be the same again, under conditions that those of the first already cover. So
it is not interpreted again. Objects that a constructor made alike are alike until one of them is changed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Hashable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from d9mlint.python.domain.conditions import Cond
from d9mlint.python.domain.reflected import Names
from d9mlint.python.domain.taint import NUMBERS, Computed, ends, taint
from d9mlint.python.domain.values import (
    CALLABLE,
    STATE,
    Bound,
    Class,
    ClassName,
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
    Super,
    Text,
    Unknown,
    Value,
    alternatives,
)
from d9mlint.python.interpreter.extent.bounds import (
    MAX_ALIKE,
    MAX_CHOICES,
    MAX_QUIET_RUNS,
    MAX_RUNS,
    MAX_TOLD_NAMES,
)

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

MAX_PARTS = 16
"""Items of a sequence that are compared one by one; a longer one is only like itself."""
MAX_WRAPPED = 4
"""Wrappers around wrappers that are told apart by what they wrap."""
_IN_PACKAGE = re.compile(r"\.*([A-Za-z_]\w*\.)*\w*")


class Summary(NamedTuple):
    """What a call gave."""

    conds: frozenset[Cond]
    """The conditions that it was made under."""
    result: Value
    stopped: Cond
    """When it raised, or ended the program."""
    attrs: dict[str, Value]
    """Of a constructor: what the object holds at its end."""
    like: int


def texts_of(given: Iterable[Value]) -> tuple[str, ...]:
    """The texts among the arguments of a call."""
    return tuple(one.value for one in given if isinstance(one, Const) and isinstance(one.value, str))


def _names_things(value: Value) -> bool:
    """Whether a value is a setting that may name a thing, or holds one."""
    held = value.items.values() if isinstance(value, Dict) else (value,)
    return any(isinstance(one, FlagValue) and isinstance(one.flag.default, str) for one in held)


class Summaries:
    """The summaries of a program, or of a module while it is imported: for another entry it may be linked, not run."""

    def __init__(self) -> None:
        self.runs: Counter[Hashable] = Counter()
        """How often the functions, as they are told apart, were interpreted."""
        self.texts: Counter[tuple[Hashable, tuple[str, ...]]] = Counter()
        """The same by the texts that they were given."""
        self._known: dict[Any, list[Summary]] = {}
        self._first: dict[Hashable, dict[str, Any]] = {}
        self._varying: dict[Hashable, set[str]] = {}

    def often(self, function: Hashable, given: Collection[Value], quiet: bool) -> bool:
        """Whether a function was interpreted so often that what its calls vary is taken for not known."""
        runs = self.runs[function]
        if runs < (MAX_QUIET_RUNS if quiet else MAX_RUNS):
            return False
        if runs < MAX_TOLD_NAMES and any(isinstance(value, Names) for value in given):
            return False  # what it does is all about the names that it is handed
        if quiet and runs < MAX_CHOICES and any(map(_names_things, given)):
            return False  # as a registry, which makes what the settings name
        texts = texts_of(given)  # they may say which of several things it does: `compute("masks", outputs)`
        return quiet or not texts or runs >= MAX_CHOICES or self.texts[function, texts] >= MAX_ALIKE

    def varying(self, function: Hashable, given: Mapping[str, Any]) -> set[str]:
        """The parameters of a function that calls gave other values than its first call did, this one among them.

        ``given`` says by parameter what its value is like.
        """
        first = self._first.setdefault(function, {})
        varying = self._varying.setdefault(function, set())
        varying.update(name for name, like in given.items() if first.setdefault(name, like) != like)
        return varying

    def find(self, key: Any, conds: frozenset[Cond] | None) -> Summary | None:
        """What an earlier call gave under no other conditions than these; None for under any."""
        for summary in self._known.get(key, ()):
            if conds is None or summary.conds <= conds:
                return summary
        return None

    def add(self, key: Any, summary: Summary) -> None:
        """Keeps what a call gave."""
        self._known.setdefault(key, []).append(summary)


def told_apart(func: Func, levels: int = MAX_WRAPPED) -> Hashable:
    """What tells a function from others: its definition and, of a wrapper, the functions that it was made around.

    ``levels`` of these may be wrappers themselves; one may even be made around what has its own name.
    """
    if not levels:
        return id(func.node)
    around = func.closure.func
    params = around.node.params if around is not None else ()
    handed = (func.closure.vars.get(one.name) for one in params)
    wrapped = tuple(
        told_apart(one, levels - 1) if isinstance(one, Func) else kind_of(one)
        for one in handed
        if isinstance(one, CALLABLE)
    )
    return (id(func.node), wrapped) if wrapped else id(func.node)


def same_call(func: Func, args: Sequence[Value]) -> object:
    """What tells a call that is made inside of itself: what makes a part of a configuration makes others in that.

    So does what it takes them from: ``build(cfg, MODELS)`` makes a network, which calls ``build(head, HEADS)``.
    """
    parts = tuple(part for arg in args if (part := _of_configuration(arg)))
    return (id(func), parts) if parts else id(func)


def _of_configuration(value: Value) -> object:
    """What tells a part of a configuration, or an object of a library at the top of a module, from others; or None."""
    if isinstance(value, Unknown):
        return value.key or None
    if isinstance(value, Obj):
        return id(value) if value.event is not None and value.event.func is None else None
    return id(value) if isinstance(value, Dict) and _holds_settings(value) else None


def _holds_settings(value: Dict) -> bool:
    """Whether a setting, or a part of a configuration, is in a dict or in one inside of it, which may be itself."""
    seen = {id(value)}
    pending = [value]
    while pending:
        for one in pending.pop().items.values():
            if isinstance(one, FlagValue) or (isinstance(one, Unknown) and one.key):
                return True
            if isinstance(one, Dict) and id(one) not in seen:
                seen.add(id(one))
                pending.append(one)
    return False


def generalized(value: Value) -> Value:
    """An argument of a function that was called with many others: what can be called, and objects, stay."""
    if isinstance(value, Const) and (value.value is None or isinstance(value.value, (bool, str))):
        return value  # a mode, mostly: a program has few
    if any(isinstance(leaf, (*CALLABLE, Class, Inst, Module, Obj, Ref, Super)) for _, leaf in alternatives(value)):
        return value
    if isinstance(value, ClassName) or (isinstance(value, Unknown) and value.key):
        return value  # (what is made of it stands under that in config files)
    return Unknown(*taint([value]))


def kind_of(value: Value) -> Any:
    """What is left of an argument of a function that was called often: the functions and classes that it brings."""
    if isinstance(value, Phi):
        return Phi, frozenset(kind_of(leaf) for _, leaf in value.alternatives)
    if isinstance(value, Const):
        return repr(value.value)
    if isinstance(value, Func):
        return Func, id(value.node)
    if isinstance(value, Bound):
        return Bound, id(value.func.node), kind_of(value.receiver)
    if isinstance(value, Inst):
        return Inst, id(value.cls.node)
    if isinstance(value, (Class, Module)):
        return type(value), id(value)
    if isinstance(value, Partial):
        return Partial, kind_of(value.func)
    if isinstance(value, Obj):
        return Obj, value.tick if STATE in value.attrs else value.type
    if isinstance(value, ClassName) or (isinstance(value, Unknown) and value.key):
        return type(value), value.key, value.name
    return (Ref, value.name) if isinstance(value, Ref) else type(value)


def likeness(interp: Interpreter, value: Value, made: Inst | None) -> Any:
    """What decides, as far as a function that is handed it can tell; ``made`` is the object that is just being made."""
    kind = type(value)
    if kind is Const:
        return repr(value.value)  # type: ignore[union-attr]
    if isinstance(value, Text) and (names_module(value) or not isinstance(value.first, Const)):
        parts = value.parts if names_module(value) else (value.first,)
        inner = tuple(likeness(interp, part, made) for part in parts)
        return kind, inner, ends(value), value.origins, value.order, tuple(map(id, value.sources))
    if isinstance(value, Text) and any(ends(value)):
        return kind, ends(value), value.origins, value.order, tuple(map(id, value.sources))
    if kind is ClassName:
        return kind, value.name  # type: ignore[union-attr]
    if isinstance(value, Unknown) and value.key:
        return kind, value.key
    if isinstance(value, Unknown):
        if value.origins <= NUMBERS and not value.order:
            return 0 if value.origins else 2 if kind is Computed else 1
        return kind, value.origins, value.order, tuple(map(id, value.sources))
    if isinstance(value, Inst):
        return (kind, id(value.cls)) if value is made else (kind, value.like)
    if isinstance(value, Ref):
        return kind, value.name
    if isinstance(value, FlagValue):
        return kind, value.flag.name
    if isinstance(value, CondValue):
        return kind, value.cond
    if isinstance(value, Obj) and value.event is not None:
        if STATE in value.attrs:
            return kind, value.tick
        return kind, value.type, value.event.location, value.event.guards
    if isinstance(value, Func):
        return kind, id(value.node), id(value.closure)
    if isinstance(value, Bound):
        return kind, likeness(interp, value.func, made), likeness(interp, value.receiver, made)
    if isinstance(value, (Class, Module)):
        return kind, id(value)
    if isinstance(value, Partial):
        parts = (value.func, *value.args, *value.kwargs.values())
        return kind, tuple(value.kwargs), tuple(likeness(interp, part, made) for part in parts)
    if isinstance(value, Phi):
        return kind, tuple((cond, likeness(interp, leaf, made)) for cond, leaf in value.alternatives)
    if isinstance(value, Seq):
        return _of_sequence(interp, value, made)
    return kind, interp.serial(value)


def names_module(text: Text) -> bool:
    """Whether a text may be the name of a module: ``"models." + name``."""
    first = text.first
    return isinstance(first, Const) and isinstance(first.value, str) and _IN_PACKAGE.fullmatch(first.value) is not None


def _of_sequence(interp: Interpreter, value: Seq, made: Inst | None) -> Any:
    items = value.items if value.items is not None else [value.element] if value.element is not None else []
    if len(items) > MAX_PARTS or not all(isinstance(item, (Const, Unknown)) for item in items):
        return Seq, interp.serial(value)
    known = value.items is not None
    parts = tuple(likeness(interp, item, made) for item in items if item is not None)
    return Seq, value.kind, known, value.order, tuple(map(id, value.sources)), parts
