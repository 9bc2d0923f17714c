"""NVIDIA DALI: a function decorated with ``pipeline_def`` makes a pipeline each time that it is called.

(nvidia/dali/pipeline.py, ``pipeline_def``: arguments of the pipeline are those that the function does not have.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, ClassVar

from d9mlint.python.domain.events import Event, Frame
from d9mlint.python.domain.values import Func, Obj, Ref, Value
from d9mlint.python.interpreter.hooks import Framework, Transfer
from d9mlint.python.source import facts as f

if TYPE_CHECKING:
    from d9mlint.python.interpreter.interpreter import Interpreter

_DECORATOR = "nvidia.dali.pipeline_def"
_PIPELINE = "nvidia.dali.Pipeline"


def _decorated(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``pipeline_def(function)`` is the function with a decorator."""
    for value in event.args[:1]:
        if isinstance(value, Func):
            return Func(value.node, value.closure, value.defaults, (*value.decorators, Ref(_DECORATOR)), value.owner)
    return None


class Dali(Framework):
    """NVIDIA DALI."""

    transfer: ClassVar[Mapping[str, Transfer]] = {_DECORATOR: _decorated}
    packages = frozenset({"nvidia"})

    def decorated(
        self, interp: Interpreter, func: Func, decorators: Sequence[tuple[Value, str]], kwargs: Mapping[str, Value],
        frame: Frame, place: f.Place, star: bool,
    ) -> Value | None:  # fmt: skip
        for value, name in decorators:
            if name == _DECORATOR:
                own = {param.name for param in func.node.params}
                defaults = value.event.kwargs if isinstance(value, Obj) and value.event is not None else {}
                given = {key: one for key, one in kwargs.items() if key not in own}
                event = interp.event("call", _PIPELINE, frame, place, (), kwargs={**defaults, **given}, star=star)
                event.raw, event.receiver = func.name, func
                event.result = Obj(_PIPELINE, event)
                return event.result
        return None
