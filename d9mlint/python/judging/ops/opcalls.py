"""How a program calls an op, as far as its source shows: literal arguments, data type, shapes, how it is executed."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

from d9mlint.model import Argument, Location, OpCall
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Ref, Seq, Value
from d9mlint.python.frameworks.tensorflow.compilers import execution as of_tensorflow
from d9mlint.python.frameworks.torch.modules.wrappers import COMPILED
from d9mlint.python.frameworks.torch.tensors import AUTOCAST
from d9mlint.python.interpreter.callbacks import CALLBACK
from d9mlint.python.interpreter.program import Program
from d9mlint.python.interpreter.provenance import Makers, calls_of, made_of, results

if TYPE_CHECKING:
    from d9mlint.python.judging.ops.opuse import Use

_DTYPE = re.compile(r"(?:.*\.)?(b?float\d+|double|half|float|complex64)")
_DTYPES = {"double": "float64", "half": "float16", "float": "float32"}
_CASTS = {"half": "float16", "bfloat16": "bfloat16", "double": "float64", "float": "float32"}
"""Methods of tensors that are called like what they make."""
_TYPED_BY = {
    "to": 0, "type": 0, "astype": 0, "cast": 1, "asarray": 1, "array": 1, "constant": 1, "convert_to_tensor": 1,
}  # fmt: skip
"""Calls that a data type may be given to, and where."""
_KEEPS = frozenset(
    {
        "cuda", "cpu", "view", "reshape", "contiguous", "clone", "squeeze", "unsqueeze", "flatten", "detach", "permute",
        "requires_grad_", "transpose", "to", "type", "identity", "abs", "relu", "exp", "log", "softmax", "sigmoid",
        "tanh",
    }
)  # fmt: skip
"""Calls whose result has the type of what they are given, unless they are given one."""
_SHAPED = frozenset(
    {"zeros", "ones", "empty", "rand", "randn", "randint", "full", "normal", "uniform", "truncated_normal"}
)
_BY_SIZES = frozenset({"zeros", "ones", "empty", "rand", "randn"})
"""Calls that may be given sizes one by one."""
_POLICIES = ("keras.mixed_precision.set_global_policy", "keras.mixed_precision.set_dtype_policy")
_POLICY = Argument(0, "policy")
_MIXED = "mixed_"
_DEPTH = 6


def call_of(program: Program, use: Use) -> OpCall:
    """What the call of a use shows."""
    event, makers = use.event, results(program)
    given = [("self", event.receiver), *((str(n), one) for n, one in enumerate(event.args)), *event.kwargs.items()]
    tensors = [(name, value) for name, value in given if value is not None]
    literals = ((name, _literal(value)) for name, value in tensors)
    shapes = ((name, _shape(value, makers)) for name, value in tensors)
    dtypes = (_dtype(value, makers) for name, value in tensors if name != "dtype")
    own = _named(event.kwargs.get("dtype"))
    runs = _run(program, next(calls_of(event, makers), event))  # a layer is made somewhere, and runs where it is called
    return OpCall(
        op=use.op.name, name=event.name, place=f"{event.location.path}:{event.location.line}",
        arguments=tuple((name, text) for name, text in literals if text),
        dtype=own or next(filter(None, dtypes), ""), shapes=tuple((name, text) for name, text in shapes if text),
        autocast=_autocast(program, runs), execution=_execution(program, runs, use.op.framework),
    )  # fmt: skip


def _literal(value: Value) -> str:
    """A constant as Python writes it; empty for all else."""
    if isinstance(value, Const) and isinstance(value.value, (str, int, float, bool, tuple, type(None))):
        return repr(value.value)
    if isinstance(value, Seq) and value.kind in ("list", "tuple") and value.items:
        parts = [_literal(one) for one in value.items]
        return f"({', '.join(parts)},)" if all(parts) else ""
    return ""


def _made(value: Value | None, makers: Makers) -> Iterator[Event]:
    """The call that made a value, and those that made what it only handed on."""
    for _ in range(_DEPTH):
        made = next(made_of(value, makers), None) if value is not None else None
        if made is None:
            return
        yield made
        if made.name.rpartition(".")[2] not in _KEEPS | _CASTS.keys() | {"cast", "astype"}:
            return
        method = made.receiver is not None and not isinstance(made.receiver, Ref)
        value = made.receiver if method else made.args[0] if made.args else None


def _dtype(value: Value, makers: Makers) -> str:
    """The data type that the calls which made a value were given, the last one first."""
    for made in _made(value, makers):
        last = made.name.rpartition(".")[2]
        at = _TYPED_BY.get(last)
        typed = made.args[at] if at is not None and at < len(made.args) else None
        found = _named(made.kwargs.get("dtype")) or _named(typed) or _CASTS.get(last, "")
        if found:
            return found
    return ""


def _named(value: Value | None) -> str:
    """The data type that ``torch.bfloat16`` or ``"float16"`` is; empty for all else, integers among it."""
    name = value.name if isinstance(value, Ref) else value.value if isinstance(value, Const) else None
    found = _DTYPE.fullmatch(name) if isinstance(name, str) else None
    return _DTYPES.get(found[1], found[1]) if found else ""


def _shape(value: Value, makers: Makers) -> str:
    """``[64, 128]`` where a literal made it."""
    for made in _made(value, makers):
        last = made.name.rpartition(".")[2]
        if last not in _SHAPED:
            continue
        if last in _BY_SIZES and made.args and all(map(_is_size, made.args)):
            return f"[{', '.join(_literal(one) for one in made.args)}]"
        listed = next((one for one in made.args if isinstance(one, Seq)), None)  # the key or the bounds stand before it
        given = made.kwargs.get("size", made.kwargs.get("shape", listed))
        sizes = given.items if isinstance(given, Seq) else None
        if sizes and all(map(_is_size, sizes)):
            return f"[{', '.join(_literal(one) for one in sizes)}]"
    return ""


def _is_size(value: Value) -> bool:
    return isinstance(value, Const) and type(value.value) is int


def _run(program: Program, event: Event) -> Event:
    """The call as the program makes it, where it was told before as what somebody may call at some time."""
    if not event.inside(CALLBACK):
        return event
    called = program.once("called-in-place", _in_place)
    return called.get((event.name, event.location), event)


def _in_place(program: Program) -> dict[tuple[str, Location], Event]:
    found: dict[tuple[str, Location], Event] = {}
    for event in program.events:
        if event.kind in ("call", "unresolved") and not event.inside(CALLBACK):
            found.setdefault((event.name, event.location), event)
    return found


def _autocast(program: Program, event: Event) -> str:
    """The type that autocast, or a policy of Keras, computes in there."""
    for context in reversed(event.contexts):
        if context.startswith(AUTOCAST):
            return context.removeprefix(AUTOCAST)
    if not event.name.startswith("keras.layers."):
        return ""
    before = [one for one in program.calls(*_POLICIES) if one.index < event.index]
    policy = before[-1].argument(_POLICY) if before else None
    name = policy.value if isinstance(policy, Const) else None
    return name.removeprefix(_MIXED) if isinstance(name, str) and name.startswith(_MIXED) else ""


def _execution(program: Program, event: Event, framework: str) -> str:
    """How the call is executed; empty where that is not seen."""
    if framework == "torch":
        return "compiled" if event.inside(COMPILED) else ""
    if framework == "jax":
        return "jit" if event.inside("jax-jit") else ""
    return of_tensorflow(program, event)
