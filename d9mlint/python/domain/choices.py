"""Values that are chosen between under conditions, and what a name holds after it was assigned under one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from d9mlint.python.domain.composites import holds_things
from d9mlint.python.domain.conditions import Cond, both, by_default, either, negate
from d9mlint.python.domain.diagrams import meets
from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import (
    ABSENT,
    CALLABLE,
    UNKNOWN,
    Class,
    Const,
    Dict,
    Dynamic,
    FlagValue,
    Inst,
    Module,
    Obj,
    Phi,
    Ref,
    Seq,
    Unknown,
    Value,
    alternatives,
)

_T = TypeVar("_T")
MAX_ALTERNATIVES = 8
MAX_THINGS = 16
"""The same for functions, classes and objects, each of which does something else."""
MAX_MODULES = 64
"""The same for modules, of which only those run whose classes and functions are called."""
_TOLD = (Const, Ref, FlagValue)
"""Values that are the same where they say the same; of all others each is one of its own."""
_TOO_MANY = "it is one of more things than are told apart"


def choose(options: Iterable[tuple[Cond, Value]]) -> Value:
    """A value out of alternatives that exclude each other; nested alternatives are flattened, equal ones merged."""
    return choose_of_pairs([(cond, inner, leaf) for cond, value in options for inner, leaf in alternatives(value)])


def choose_of_pairs(options: Iterable[tuple[Cond, Cond, Value]]) -> Value:
    """The same for alternatives each of which needs two conditions."""
    leaves: list[tuple[Value, list[tuple[Cond, Cond]]]] = []
    for cond, inner, leaf in options:
        if not meets(cond, inner):
            continue
        comparable = isinstance(leaf, _TOLD)
        for known, conds in leaves:
            if known is leaf or (comparable and same(known, leaf)):
                conds.append((cond, inner))
                break
        else:
            leaves.append((leaf, [(cond, inner)]))
    if len(leaves) < 2:
        return leaves[0][0] if leaves else UNKNOWN
    many = len(leaves) > MAX_ALTERNATIVES
    if many and (parts := _part_by_part([(_any_of(conds), leaf) for leaf, conds in leaves])) is not None:
        return parts
    if many and not any(_is_thing(leaf) or _kind(leaf) for leaf, _ in leaves):  # (nobody asks which it is when)
        return _rest([leaf for leaf, _ in leaves])
    whole = tuple([(_any_of(conds), leaf) for leaf, conds in leaves])
    return _of_default_run(whole) if many and not _things(leaf for leaf, _ in leaves) else Phi(whole)


def _part_by_part(options: Sequence[tuple[Cond, Value]]) -> Value | None:
    """Of more tuples or dicts than are told apart as a whole one whose parts are told apart, if any holds a function.

    None where they are of several shapes.
    """
    first = options[0][1]
    if not isinstance(first, (Seq, Dict)) or not any(holds_things(leaf) for _, leaf in options):
        return None
    if isinstance(first, Dict):
        dicts = [(cond, leaf) for cond, leaf in options if isinstance(leaf, Dict)]
        names = dict.fromkeys(name for _, leaf in dicts for name in leaf.items)
        found = {name: choose([(c, one.items[name]) for c, one in dicts if name in one.items]) for name in names}
        return Dict(found, any(one.open for _, one in dicts)) if len(dicts) == len(options) else None
    held = [(cond, leaf.items) for cond, leaf in options if isinstance(leaf, Seq) and leaf.items is not None]
    if len(held) < len(options) or len({len(items) for _, items in held}) != 1:
        return None
    return Seq(first.kind, [choose([(c, items[at]) for c, items in held]) for at in range(len(held[0][1]))])


def _any_of(pairs: list[tuple[Cond, Cond]]) -> Cond:
    """The condition under which both of one of the pairs hold."""
    one, other = pairs[0]
    found = one if other is True else both(one, other)  # (as of most: a plain value is its own only alternative)
    for one, other in pairs[1:]:
        found = either(found, both(one, other))
    return found


def _of_default_run(options: tuple[tuple[Cond, Value], ...]) -> Value:
    """Of too many alternatives the one of a default run, where there is one; what the others are is not known.

    Of modules, one of which is imported by its name, some others are told apart, too. Of objects one stands for all of
    its class, as each does what the others do; so of objects of a library in which the program has put something.
    """
    default = next((one for one in options if _is_thing(one[1]) and by_default(one[0])), None)
    if default is None:
        known, told = _of_each_class(options)
    else:
        known = [default]
        if isinstance(default[1], Module):
            others = [one for one in options if isinstance(one[1], Module) and one is not default]
            known += spread(others, MAX_MODULES - 1)
            known += [one for one in options if isinstance(one[1], Const) and one[1].value is None]
        told = {id(leaf) for _, leaf in known}
    rest = _rest([leaf for _, leaf in options if id(leaf) not in told])
    return Phi((*known, (negate(either(*(cond for cond, _ in known))), rest))) if known else rest


def _of_each_class(options: Sequence[tuple[Cond, Value]]) -> tuple[list[tuple[Cond, Value]], set[int]]:
    """An object of each of a few classes, under the condition that it is any of its class; and the ids of all these."""
    objects: dict[int | str, list[tuple[Cond, Value]]] = {}
    for cond, leaf in options:
        if kind := _kind(leaf):
            objects.setdefault(kind, []).append((cond, leaf))
    chosen = spread([*objects.values()], MAX_ALTERNATIVES)
    known = [(either(*(cond for cond, _ in one)), one[0][1]) for one in chosen]
    return known, {id(leaf) for one in chosen for _, leaf in one}


def _kind(value: Value) -> int | str:
    """Of which class an object is that the program has made, or changed; empty for what is none."""
    if isinstance(value, Inst):
        return id(value.cls)
    return value.type if isinstance(value, Obj) and value.attrs else ""


def _rest(leaves: Sequence[Value]) -> Unknown:
    """What is left of more things than are told apart."""
    if any(_is_thing(leaf) or isinstance(leaf, Dynamic) for leaf in leaves):
        return Dynamic(_TOO_MANY)
    return Unknown(*taint(leaves))


def spread(options: Sequence[_T], most: int) -> list[_T]:
    """At most so many of some things, from the first to the last, as neighbours mostly are of one kind."""
    return [options[at * len(options) // most] for at in range(most)] if len(options) > most else [*options]


def _things(leaves: Iterable[Value]) -> bool:
    """Whether all are functions, classes or objects, and not too many.

    None stands for that there is none yet; one more may be something that is not known. Among them may be fewer objects
    of a library, as that which holds one of them: ``net = DataParallel(net)``.
    """
    known = [leaf for leaf in leaves if not _is_nothing(leaf)]
    others = sum(not _is_thing(leaf) for leaf in known)
    told = all(_is_thing(leaf) or _is_of_library(leaf) for leaf in known)
    return len(known) - others <= MAX_THINGS and told and 2 * others < len(known)


def _is_thing(value: Value) -> bool:
    """Whether a value is a function, a class, an object of the program, or a method that it has from a library."""
    of_object = isinstance(value, Ref) and isinstance(value.receiver, Inst)
    return of_object or isinstance(value, (*CALLABLE, Class, Inst, Module))


def _is_of_library(value: Value) -> bool:
    """Whether a value is an object of a library, or a method of one."""
    return isinstance(value.receiver if isinstance(value, Ref) else value, Obj)


def _is_nothing(value: Value) -> bool:
    """Whether a value is None, or not known."""
    if isinstance(value, Const):
        return value.value is None
    return isinstance(value, Unknown) or (isinstance(value, Ref) and value.name.startswith("?"))


def present(item: Value) -> Cond:
    """The condition under which an item of a list or dict is there."""
    return either(*(cond for cond, leaf in alternatives(item) if leaf is not ABSENT))


def in_place_of_absent(item: Value, instead: Value) -> Value:
    """The item, or ``instead`` where there is none."""
    if not any(leaf is ABSENT for _, leaf in alternatives(item)):
        return item
    return choose([(cond, instead if leaf is ABSENT else leaf) for cond, leaf in alternatives(item)])


def overwrite(old: Value | None, cond: Cond, new: Value) -> Value:
    """The value of a name that held ``old`` and is assigned ``new`` under ``cond``."""
    if cond is True:
        return new
    before = UNKNOWN if old is None else old
    if cond is False or isinstance(new, Phi) or isinstance(before, Phi):
        return choose([(cond, new), (negate(cond), before)])
    return new if same(new, before) else Phi(((cond, new), (negate(cond), before)))


def same(a: Value, b: Value) -> bool:
    """Whether two values are certainly the same."""
    if a is b:
        return True
    if isinstance(a, Const):
        return isinstance(b, Const) and type(a.value) is type(b.value) and bool(a.value == b.value)
    if isinstance(a, Ref):
        return isinstance(b, Ref) and a.name == b.name and a.receiver is b.receiver
    return isinstance(a, FlagValue) and isinstance(b, FlagValue) and a.flag == b.flag
