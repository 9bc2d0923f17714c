"""Names that a ``while`` loop moves along a structure of the program's own, asking the thing that they name.

``while not node.is_leaf(): node = select(node)`` ends at a node. Which one is not known, and maybe there is no turn.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from d9mlint.python.domain.values import Const, Inst, Value, alternatives
from d9mlint.python.interpreter.library.containers.sets import untold
from d9mlint.python.interpreter.marks import later_turns
from d9mlint.python.source import facts as f
from d9mlint.python.source import queries

if TYPE_CHECKING:
    from d9mlint.python.domain.events import Frame
    from d9mlint.python.interpreter.interpreter import Interpreter


def run(interp: Interpreter, node: f.While, frame: Frame) -> None:
    """Runs the body; what a name held before stands for what it then holds, where nothing is known of that."""
    before = {name: frame.vars[name] for name in _asked(node.test) if name in frame.vars}
    later_turns.run(interp, node.body, frame)
    for name, held in before.items():
        if _is_own(held) and name in frame.vars and _is_untold(frame.vars[name]):
            frame.vars[name] = held


def _asked(test: f.Expr) -> set[str]:
    """The names of which a test reads attributes and nothing else: None has none."""
    holders = [attribute.value for attribute in queries.inside(test, f.Attr)]
    asked = {holder.id for holder in holders if isinstance(holder, f.Name)}
    names = [name.id for name in queries.inside(test, f.Name)] if asked else []
    return {name for name in asked if names.count(name) == holders.count(f.Name(name))}


def _is_own(value: Value) -> bool:
    return all(isinstance(leaf, Inst) for _, leaf in alternatives(value))


def _is_untold(value: Value) -> bool:
    """Whether nothing is known of a value, or that it is None, which it cannot be where the test reads on."""
    leaves = (leaf for _, leaf in alternatives(value))
    return all(untold(leaf) or (isinstance(leaf, Const) and leaf.value is None) for leaf in leaves)
