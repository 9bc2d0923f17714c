"""What modules and classes hold, and of what kind it is: ``inspect.getmembers(module, inspect.isclass)``."""

from __future__ import annotations

from typing import TYPE_CHECKING

from d9mlint.python.domain.choices import choose
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import Class, Const, Func, Module, Ref, Value, alternatives
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import environment
from d9mlint.python.interpreter.library.containers import sequences

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter


def _getmembers(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``inspect.getmembers(module, inspect.isclass)``."""
    holder = environment.first(event)
    wanted = event.args[1] if len(event.args) > 1 else event.kwargs.get("predicate")
    only = wanted.name.rpartition(".is")[2] if isinstance(wanted, Ref) else ""
    leaves = alternatives(holder)
    if not all(isinstance(leaf, Module) for _, leaf in leaves):
        return None
    return choose([(cond, sequences.members(leaf, "items", only)) for cond, leaf in leaves if isinstance(leaf, Module)])


def _is_kind(kind: type) -> Transfer:
    def run(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
        value = environment.first(event)
        return Const(isinstance(value, kind)) if isinstance(value, (Class, Func, Module, Const)) else None

    return run


def _issubclass(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``issubclass(cls, Base)`` for classes of the program."""
    cls, wanted = environment.first(event), environment.first(event, 1)
    if not isinstance(cls, Class):
        return None
    if isinstance(wanted, Class):
        return Const(any(one is wanted for one in cls.line()))
    if isinstance(wanted, Ref):
        canonical = interp.knowledge.canonical
        above_it = {canonical(name) for name in cls.external()}
        known = canonical(wanted.name) in above_it
        return Const(known) if known or not above_it else None
    return None


TRANSFER: dict[str, Transfer] = {
    "inspect.getmembers": _getmembers, "inspect.isclass": _is_kind(Class), "inspect.isfunction": _is_kind(Func),
    "builtins.issubclass": _issubclass,
}  # fmt: skip
