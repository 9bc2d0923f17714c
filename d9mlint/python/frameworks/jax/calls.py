"""JAX as the story tells it: transformed functions, keys that are split, and updates by index (``x.at[i].add``)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from d9mlint.model import Argument
from d9mlint.python.domain.choices import choose
from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import (
    Bound,
    Const,
    Func,
    Inst,
    Obj,
    Partial,
    Ref,
    Seq,
    Unknown,
    Value,
    alternatives,
)
from d9mlint.python.interpreter import callbacks, calls
from d9mlint.python.interpreter.hooks import Transfer
from d9mlint.python.interpreter.library import environment
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

KEY = "jax.random.Key"
KEYS = "jax.random.Keys"
"""Types of a random key and of several in one array."""
UPDATE = "jax.Array.at"
"""The type of ``x.at[i]``; its attribute ``indices`` is what stands in the brackets."""
COMPILED = "jax-jit"
"""The context of what XLA compiles."""
TRACING = {
    "jax.jit": COMPILED, "jax.pmap": COMPILED, "flax.nnx.jit": COMPILED, "flax.nnx.pmap": COMPILED,
    "equinox.filter_jit": COMPILED, "equinox.filter_pmap": COMPILED, "haiku.jit": COMPILED,
    "jax.vmap": "jax-vmap", "flax.nnx.vmap": "jax-vmap", "equinox.filter_vmap": "jax-vmap",
}  # fmt: skip
"""Transformations that run a function's Python only to trace it, and the context that its body is told in."""
_SAME = ("jax.checkpoint", "jax.named_call", "flax.linen.jit", "flax.linen.remat", "flax.nnx.remat")
"""Transformations that matter for nothing here: what comes out is called like what went in."""
GRADIENTS = (
    "jax.grad", "jax.value_and_grad", "flax.nnx.grad", "flax.nnx.value_and_grad", "equinox.filter_grad",
    "equinox.filter_value_and_grad", "haiku.grad", "haiku.value_and_grad",
)  # fmt: skip
"""Transformations that make of a function another one, which computes its gradients."""
_APPLY = ".applied"
"""Last part of the name of a call of what a gradient transformation made."""
APPLIED = tuple(f"{name}{end}" for name in GRADIENTS for end in (_APPLY, "().__call__"))
"""Calls of what these have made of functions of the program, and of others: they compute the gradients."""
_MOST_KEYS = 16
_APPLIED = "apply_fn"
"""What a `TrainState` calls to compute with the weights: mostly ``net.apply``."""
_TARGET = Argument(1, "target")
FUNCTION = Argument(0, "fun")


def context(decorator: Value, knowledge_name: str) -> str:
    """The context of a function decorated by a transformation."""
    return TRACING.get(_transformation(decorator, knowledge_name), "")


def _transformation(decorator: Value, name: str) -> str:
    """The name of the transformation that a decorator is, also as ``partial(jax.jit, static_argnums=0)``."""
    inner = decorator.func if isinstance(decorator, Partial) else None
    return inner.name if isinstance(inner, Ref) else name


def applied(
    interp: Interpreter, func: Func, decorators: Sequence[tuple[Value, str]], frame: Frame, place: f.Place
) -> Value | None:
    """Tells a call of a function whose gradients a decorator computes; None where there is none of these."""
    names = (_transformation(*one) for one in decorators)
    name = next((name for name in names if name in GRADIENTS), None)
    if name is None:
        return None
    interp.event("call", f"{name}{_APPLY}", frame, place, (func,))
    return Unknown()


def update(holder: Value, index: Value) -> Value | None:
    """``x.at[index]`` for an array; None for anything else."""
    if not (isinstance(holder, Ref) and holder.name in ("?.at", UPDATE)):
        return None
    found = Obj(UPDATE, None)
    found.attrs["indices"] = index
    return found


def around_loop(interp: Interpreter, frame: Frame, place: f.Place, items: Sequence[Value]) -> Callable[[], None] | None:
    """Looks at a loop: at its end an event names the keys that its iterations share.

    ``items`` are what the loop variable takes: a key among them belongs to one iteration only.
    """
    before = _keys(frame)
    if not before:
        return None

    def end() -> None:
        after = _keys(frame)
        own = {id(value) for item in items for value in _flat(item)}
        shared = {id(key): key for name, key in before.items() if after.get(name) is key and id(key) not in own}
        if shared:
            interp.event("kept", "keys", frame, place, tuple(shared.values()))

    return end


def _flat(value: Value) -> Iterator[Value]:
    yield value
    if isinstance(value, Seq):
        for item in value.items or ():
            yield from (leaf for _, leaf in alternatives(item))


def _keys(frame: Frame) -> dict[str, Value]:
    """The variables that hold one key, those of the functions around included."""
    found: dict[str, Value] = {}
    current: Frame | None = frame
    while current is not None:
        for name, value in current.vars.items():
            if type(value) is Obj and value.type == KEY:
                found.setdefault(name, value)
        current = current.parent
    return found


def holds_key(frame: Frame) -> bool:
    """Whether an argument is a key, so that each call counts: to draw with a key twice matters."""
    return any(type(value) is Obj and value.type == KEY for value in frame.vars.values())


def _transformed(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``jax.jit(step)`` is ``step`` with a decorator."""
    function = event.argument(FUNCTION)
    made = [(cond, _decorated(leaf, event.name)) for cond, leaf in alternatives(function)]
    if function is None or any(value is None for _, value in made):
        return None
    return choose([(cond, value) for cond, value in made if value is not None])


def _decorated(value: Value, name: str) -> Value | None:
    if isinstance(value, Func):
        return Func(value.node, value.closure, value.defaults, (*value.decorators, Ref(name)), value.owner)
    if isinstance(value, Ref) and isinstance(
        value.receiver, Inst
    ):  # `jax.jit(net.init)`: a method of a library's class
        return value
    inner = _decorated(value.func, name) if isinstance(value, (Bound, Partial)) else None
    if isinstance(value, Bound) and isinstance(inner, Func):
        return Bound(inner, value.receiver)
    return Partial(inner, value.args, value.kwargs) if isinstance(value, Partial) and inner is not None else None


def _gradient(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``jax.grad(loss)``: a function that runs ``loss`` with its own arguments and returns something else."""
    function = event.argument(FUNCTION)
    if function is None or _decorated(function, event.name) is None:
        return None
    return Partial(Ref(f"{event.name}{_APPLY}"), (function,), {})


def _apply(interp: Interpreter, event: Event, frame: Frame) -> Value:
    calls.call(
        interp, event.args[0], list(event.args[1:]), event.kwargs, frame, environment.place_of(event), event.star
    )
    return Unknown()


def _split(interp: Interpreter, event: Event, frame: Frame) -> Value:
    """``split(key)``: each part is a key of its own where their number is known."""
    number = event.args[1] if len(event.args) > 1 else event.kwargs.get("num", Const(2))
    count = number.value if isinstance(number, Const) else None
    if event.star or not isinstance(count, int) or not 0 < count <= _MOST_KEYS:
        return Obj(KEYS, event)
    return Seq("tuple", [Obj(KEY, event) for _ in range(count)])


def _restored(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``restore_checkpoint(folder, state)``: something like the state that it is given."""
    target = event.argument(_TARGET)
    return None if target is None or isinstance(target, Const) else target


def _given(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``checkpoint.restore_or_initialize(state)`` of clu: something like the state that it is given."""
    return event.args[0] if event.args and not isinstance(event.args[0], Const) else None


def _state(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``TrainState.create(apply_fn=net.apply, ...)``: an object that holds what it is given."""
    callbacks.run_callbacks(interp, event, frame, environment.place_of(event))
    for value in (*event.args, *event.kwargs.values()):
        environment.escape(interp, value)
    made = environment.result_of(interp, event)
    if isinstance(made, Obj):
        made.attrs.update((name, value) for name, value in event.kwargs.items() if name == _APPLIED)
    return made


_CLU = ("clu.checkpoint.Checkpoint", "clu.checkpoint.MultihostCheckpoint")


TRANSFER: dict[str, Transfer] = {
    **dict.fromkeys((*TRACING, *_SAME), _transformed),
    **dict.fromkeys(GRADIENTS, _gradient),
    **{f"{name}{_APPLY}": _apply for name in GRADIENTS},
    "jax.random.split": _split,
    "flax.training.train_state.TrainState.create": _state,
    "flax.training.checkpoints.restore_checkpoint": _restored,
    **dict.fromkeys((f"{made}().{how}" for made in _CLU for how in ("restore", "restore_or_initialize")), _given),
}
