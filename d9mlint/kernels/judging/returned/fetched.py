"""Work that is the same whoever fetches it: ``if (threadIdx.x == 0) row = atomicAdd(next, 1);`` and no other name.

A block that goes by the number it has fetched alone stores at places that come from this number, not from ``blockIdx``:
else blocks would store in one place. So each piece of work has the same result in any order.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

import tree_sitter

from d9mlint.kernels.judging import around
from d9mlint.kernels.judging.returned.uses import Use
from d9mlint.kernels.sites.atomics import Atomic
from d9mlint.kernels.source.repository import Repository
from d9mlint.kernels.source.unit import Function, Unit

_IDENTITY = re.compile(
    rb"\b(?:blockIdx|hipBlockIdx_[xyz]|clusterIdx|(?:block|cluster|grid)_(?:rank|index|id_in_cluster|ctarank)"
    rb"|(?:get_)?smid|ctaid|clock(?:64)?|globaltimer|this_grid|get_(?:group|global)(?:_linear)?_id|elect_one_sync)\b"
)
"""What tells a block, a multiprocessor or the time from others."""
_THREAD = re.compile(rb"\b(?:threadIdx|hipThreadIdx_[xyz]|lane\w*|thread_rank|get_local_(?:linear_)?id)\b")
_FIRST = re.compile(rb"==\s*0|!\s*\w|elect|is_?(?:leader|first|thread0)|thread0", re.IGNORECASE)
"""A test that one thread of a group passes."""
_WORD = re.compile(rb"[A-Za-z_]\w+")
_SETS = ("init_declarator", "assignment_expression")
_MACRO = re.compile(rb"^[ \t]*#[ \t]*define[ \t]+(\w+)((?:[^\n\\]|\\\r?\n|\\.)*)", re.MULTILINE)
_MAX_FILES = 200


def alike(atomic: Atomic, use: Use, repository: Repository) -> bool:
    """Whether what is done by a fetched number depends on this number alone."""
    function, node = atomic.function, atomic.node
    if function is None or node is None or "__global__" not in function.qualifier:
        return False
    data, body = atomic.unit.data, function.node
    if not _by_one(node, atomic.unit) and _THREAD.search(data, body.start_byte, body.end_byte):
        return False
    return not any(
        _tells(one, atomic.unit, use.names if one == function else frozenset(), repository)
        for one in _reached(function, atomic.unit)
    )


def _by_one(node: tree_sitter.Node, unit: Unit) -> bool:
    """Whether a node stands under a test that one thread of a group passes."""
    at = node.parent
    while at is not None and at.type != "function_definition":
        condition = (
            at.child_by_field_name("condition") if at.type in ("if_statement", "conditional_expression") else None
        )
        if condition is not None and condition.start_byte > node.start_byte:
            return False
        if condition is not None and _FIRST.search(unit.data, condition.start_byte, condition.end_byte):
            return True
        at = at.parent
    return False


def _reached(function: Function, unit: Unit) -> Iterator[Function]:
    """A function and those of its source that it names, these by those that they name."""
    named: dict[str, list[Function]] = {}
    for one in unit.functions():
        if "__global__" not in one.qualifier or one == function:
            for name in {one.name, one.scope} - {""}:
                named.setdefault(name, []).append(one)
    pending, seen = [function], {function.node.id}
    while pending:
        at = pending.pop()
        yield at
        words = dict.fromkeys(_WORD.findall(unit.data, at.node.start_byte, at.node.end_byte))
        further = [one for word in words for one in named.get(word.decode(), ()) if one.node.id not in seen]
        seen.update(one.node.id for one in further)
        pending += further


def _tells(function: Function, unit: Unit, names: frozenset[str], repository: Repository) -> bool:
    """Whether a function says, itself or by what other sources define, who it is run by.

    A first number may come from there: ``int row = blockIdx.x; while (row < n) { ...; row = next; }``.
    """
    node = function.node
    for match in _IDENTITY.finditer(unit.data, node.start_byte, node.end_byte):
        at = unit.root.descendant_for_byte_range(match.start(), match.end())
        if at is not None and at.type != "comment" and not _begins(at, names, unit):
            return True
    words = frozenset(_WORD.findall(unit.data, node.start_byte, node.end_byte))
    seen = sorted(repository.reachable(unit.path) | {unit.path})
    telling = (path for path in seen[:_MAX_FILES] if _IDENTITY.search(repository.data(path)))
    return any(not words.isdisjoint(repository.derived(_telling, path)) for path in telling)


def _begins(node: tree_sitter.Node, names: frozenset[str], unit: Unit) -> bool:
    """Whether something is what a variable that takes the numbers is first set to."""
    made = around.above(node, _SETS)
    left = made.child_by_field_name("left") or made.child_by_field_name("declarator") if made is not None else None
    return left is not None and unit.text(left) in names


def _telling(repository: Repository, path: str) -> frozenset[bytes]:
    """The functions, classes and macros of a source that say who runs them; kernels are run by none."""
    unit = repository.unit(path)
    if unit is None:
        return frozenset()
    found = {m[1] for m in _MACRO.finditer(unit.data) if _IDENTITY.search(m[2])}
    for one in unit.functions():
        if "__global__" not in one.qualifier and _IDENTITY.search(unit.data, one.node.start_byte, one.node.end_byte):
            found |= {name.encode() for name in (one.name, one.scope) if name}
    return frozenset(found)
