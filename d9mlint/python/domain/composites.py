"""Composite values: tuples, lists, dicts and objects that hold functions, classes, modules or objects of a program."""

from __future__ import annotations

from collections.abc import Iterable

from d9mlint.python.domain.values import CALLABLE, Class, Dict, Inst, Module, Obj, Ref, Seq, Value, alternatives

_THINGS = (*CALLABLE, Class, Inst, Module, Ref)
_MOST_DEEP = 3
"""Composites in composites that are looked into."""


def holds_things(value: Value, deep: int = 0) -> bool:
    """Whether a function, class, module or object is among the parts of a composite value, or of one of its parts."""
    leaves = [leaf for part in _parts(value) for _, leaf in alternatives(part)]
    return any(isinstance(leaf, _THINGS) for leaf in leaves) or (
        deep < _MOST_DEEP and any(holds_things(leaf, deep + 1) for leaf in leaves)
    )


def _parts(value: Value) -> Iterable[Value]:
    if isinstance(value, Seq):
        return value.items or ()
    return value.items.values() if isinstance(value, Dict) else value.attrs.values() if isinstance(value, Obj) else ()
