"""Tables of things that belong together, some of which a key picks that is not known: ``MODELS[args.model]``.

What a part of these is then depends on the key, as what a table of such parts alone holds under it does:
``MODELS = {"small": (Small, 64), "large": (Large, 512)}``; ``net, width = MODELS[args.model]``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from d9mlint.python.domain.choices import MAX_ALTERNATIVES
from d9mlint.python.domain.composites import holds_things
from d9mlint.python.domain.values import Dict, Obj, Seq, Value

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter


def of_table(interp: Interpreter, table: Dict, look_up: Callable[[Dict], Value]) -> Value | None:
    """The entry of a table under a key, of which each part is what ``look_up`` finds in a table of these parts.

    None where the entries are no tuples, dicts or objects of one shape, or none of them holds a function or a class.
    """
    entries = {key: interp.resolve(item) for key, item in interp.heap.items(table).items()}
    if len(entries) < 2 or not any(map(holds_things, entries.values())):
        return None
    first = next(iter(entries.values()))
    if isinstance(first, Seq):
        return _sequence(first, entries, table.open, look_up)
    parts = {key: _named(interp, entry, first) for key, entry in entries.items()}
    held = {key: named for key, named in parts.items() if named is not None}
    if len(held) < len(parts):
        return None
    found = _each(held, table.open, look_up)
    if isinstance(first, Obj):
        made = Obj(first.type, first.event)
        made.attrs.update(found)
        return made
    return Dict(found, any(isinstance(entry, Dict) and entry.open for entry in entries.values()))


def _sequence(
    first: Seq, entries: Mapping[Any, Value], more: bool, look_up: Callable[[Dict], Value]
) -> Seq | None:  # fmt: skip
    """One of more tuples than are told apart as a whole."""
    held = {key: one.items for key, one in entries.items() if isinstance(one, Seq) and one.items is not None}
    lengths = {len(items) for items in held.values()}
    if len(held) < len(entries) or len(lengths) != 1 or len(entries) <= MAX_ALTERNATIVES:
        return None
    found = _each({key: dict(enumerate(items)) for key, items in held.items()}, more, look_up)
    return Seq(first.kind, [*found.values()])


def _named(interp: Interpreter, entry: Value, first: Value) -> dict[Any, Value] | None:
    """The parts of a dict, or of an object, by their names; None of what is another kind of thing than the first."""
    if isinstance(entry, Dict) and isinstance(first, Dict):
        return interp.heap.items(entry)
    return entry.attrs if isinstance(entry, Obj) and isinstance(first, Obj) and entry.type == first.type else None


def _each(held: Mapping[Any, Mapping[Any, Value]], more: bool, look_up: Callable[[Dict], Value]) -> dict[Any, Value]:
    """What is found of each part; what one entry alone has is that."""
    found: dict[Any, Value] = {}
    for name in dict.fromkeys(name for parts in held.values() for name in parts):
        having = {key: parts[name] for key, parts in held.items() if name in parts}
        found[name] = look_up(Dict(having, more)) if len(having) > 1 else next(iter(having.values()))
    return found
