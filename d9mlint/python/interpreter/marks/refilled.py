"""Loops over a mapping that put another thing under each of its keys: ``for name in state: state[name] = other[name]``.

Nothing of what the mapping held before is there after them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from d9mlint.python.domain.events import Frame
from d9mlint.python.domain.values import UNKNOWN, Obj, Unknown, Value, alternatives
from d9mlint.python.source import facts as f
from d9mlint.python.source.queries import plain_names, reads

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_COPIES = frozenset({"list", "tuple", "sorted"})
_TAKES = frozenset({"get", "pop"})
"""Methods that give what is under a key."""
_ITEMS, _KEYS = "items", "keys"


def by_loop(interp: Interpreter, node: f.For, frame: Frame) -> None:
    """Tells after a loop that it has refilled what a call gave, and out of what: the names that it reads."""
    found = _mapping(node)
    if found is None:
        return
    put = _put(node, found)
    if put is None:
        return
    holder, key, _ = found
    mapping = interp.load(holder, frame)
    given = [interp.load(name, frame) for name in sorted(put - {key})]
    own = {id(leaf) for _, leaf in alternatives(mapping)}
    if any(id(leaf) in own for value in given for _, leaf in alternatives(value)):
        return
    if any(isinstance(leaf, (Obj, Unknown)) and leaf is not UNKNOWN for _, leaf in alternatives(mapping)):
        interp.event("refilled", holder, frame, node.place, tuple[Value, ...](given), receiver=mapping)


def _mapping(node: f.For) -> tuple[str, str, str] | None:
    """The names of the mapping that a loop goes through, of each key, and of what is there under it, if it has one."""
    listed, method = node.iterable, _KEYS
    if isinstance(listed, f.Call) and isinstance(listed.func, f.Name) and listed.func.id in _COPIES:
        listed = listed.args[0].value if len(listed.args) == 1 else listed
    asked = listed.func if isinstance(listed, f.Call) and not listed.args else None
    if isinstance(asked, f.Attr):
        listed, method = asked.value, asked.name
    names = plain_names(node.target)
    if not isinstance(listed, f.Name) or None in names:
        return None
    if method == _ITEMS and len(names) == 2:
        return listed.id, names[0] or "", names[1] or ""
    return (listed.id, names[0] or "", "") if method == _KEYS and len(names) == 1 else None


def _put(node: f.For, names: tuple[str, str, str]) -> frozenset[str] | None:
    """The names of what a loop puts under each key, on every way through it; None where on one it puts nothing.

    What is made of the old things is no other thing. A way that ends with an error leaves nothing behind.
    """
    assigned = list(_assigned(node.body))
    if None in assigned:
        return None
    holder, key, old = names
    kept = {holder, old}
    for _ in assigned:  # until no name is added any more
        before = len(kept)
        for one in filter(None, assigned):
            if not kept.isdisjoint(reads(one.value)):
                kept.update(name for target in one.targets for name in plain_names(target) if name)
        if len(kept) == before:
            break
    read: frozenset[str] = frozenset()
    for one in filter(None, assigned):
        if any(name in (holder, key) for target in one.targets for name in plain_names(target)):
            return None
        if _puts(one, holder):
            value = reads(one.value)
            if not _puts(one, holder, key) or not kept.isdisjoint(value):
                return None
            read |= reads(_without_keys(one.value))
    return read if _always(node.body, holder) else None


def _assigned(body: Sequence[f.Stmt]) -> Iterator[f.Assign | None]:
    """The assignments of a body; None beside them where it does more than to branch, to raise and to call."""
    for one in body:
        if isinstance(one, f.Assign):
            yield one if one.value is not None else None
        elif isinstance(one, f.If):
            yield from _assigned(one.body)
            yield from _assigned(one.orelse)
        elif not isinstance(one, (f.Evaluate, f.Assert, f.Raise)):
            yield None


def _puts(node: f.Stmt, holder: str, key: str = "") -> bool:
    """Whether a statement puts something into a mapping, under a key of this name if there is one."""
    target = node.targets[0] if isinstance(node, f.Assign) and len(node.targets) == 1 else None
    into = isinstance(target, f.Sub) and target.value == f.Name(holder)
    return into and (not key or (isinstance(target, f.Sub) and target.key == f.Name(key)))


def _without_keys(value: Any) -> Any:
    """An expression without what it finds things by: of ``other[name].t()`` what ``other.t()`` reads."""
    if isinstance(value, f.Sub):
        return _without_keys(value.value)
    if isinstance(value, f.Call) and isinstance(value.func, f.Attr) and value.func.name in _TAKES:
        return _without_keys(value.func.value)
    if isinstance(value, f.Call):
        given = tuple(one._replace(value=_without_keys(one.value)) for one in value.args)
        return value._replace(func=_without_keys(value.func), args=given)
    return value._replace(value=_without_keys(value.value)) if isinstance(value, f.Attr) else value


def _always(body: Sequence[f.Stmt], holder: str) -> bool:
    """Whether each way through statements puts something into a mapping, or ends with an error."""
    return any(
        isinstance(one, f.Raise)
        or _puts(one, holder)
        or (isinstance(one, f.If) and _always(one.body, holder) and _always(one.orelse, holder))
        for one in body
    )
