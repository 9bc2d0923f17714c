"""What JAX means to the interpreter."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from d9mlint.python.domain.events import Frame
from d9mlint.python.domain.values import Func, Value
from d9mlint.python.frameworks.jax import calls as jaxcalls
from d9mlint.python.frameworks.jax import modules
from d9mlint.python.interpreter.hooks import Framework
from d9mlint.python.interpreter.interpreter import Interpreter
from d9mlint.python.source import facts as f


class Jax(Framework):
    """JAX and what is built on it."""

    transfer = jaxcalls.TRANSFER | modules.TRANSFER
    packages = frozenset({"jax", "flax"})
    arrays: tuple[str, ...] = ("jax.Array",)
    dataclasses = frozenset({"flax.struct.dataclass", "chex.dataclass"})
    transformations = frozenset(jaxcalls.GRADIENTS)

    def subscript(self, holder: Value, index: Value) -> Value | None:
        return jaxcalls.update(holder, index)

    def contexts(self, interp: Interpreter, func: Func, decorators: Sequence[tuple[Value, str]]) -> Iterable[str]:
        return [context for value, name in decorators if (context := jaxcalls.context(value, name))]

    def decorated(
        self, interp: Interpreter, func: Func, decorators: Sequence[tuple[Value, str]], kwargs: Mapping[str, Value],
        frame: Frame, place: f.Place, star: bool,
    ) -> Value | None:  # fmt: skip
        return jaxcalls.applied(interp, func, decorators, frame, place)

    def counts_each_call(self, frame: Frame) -> bool:
        return jaxcalls.holds_key(frame)

    def around_loop(
        self, interp: Interpreter, frame: Frame, place: f.Place, items: Sequence[Value]
    ) -> Callable[[], None] | None:
        return jaxcalls.around_loop(interp, frame, place, items)
