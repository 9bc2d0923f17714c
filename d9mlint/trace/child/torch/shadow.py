"""The third stage in PyTorch: each op is executed again and again on the same live inputs, then once for the program.

Generators are set back before each execution, and what an op writes to is copied: the program computes what it would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..recorder import OP
from .ops import Ops

if TYPE_CHECKING:
    from ..recorder import Recorder
    from .schemas import Schema

_ALONE = ("torch.ops.c10d", "torch.ops._c10d", "torch.ops.fsdp", "torch.ops.symm_mem")
"""Ops that wait for other processes."""


class Shadow(Ops):
    """Counts, by op and line, how often equal inputs gave different results."""

    def __init__(self, torch: Any, recorder: Recorder, summed: bool, repeats: int) -> None:
        super().__init__(torch, recorder, summed)
        self._repeats = repeats
        self._counts: dict[Any, list[int]] = {}
        """By place, op and direction: how often it was executed, how often results differed, how many at most."""
        self._inputs: dict[Any, Any] = {}
        self._failed = False
        recorder.at_end.append(self._told)

    def _recorded(self, func: Any, args: Any, kwargs: Any, schema: Schema, place: int, direction: str) -> Any:
        if schema.kind != OP or schema.name.startswith(_ALONE):
            return func(*args, **kwargs)
        named = [*((str(n), one) for n, one in enumerate(args)), *kwargs.items()]
        generator = self._source(args, kwargs, named)[0] if schema.random else None
        state = generator.get_state() if generator is not None else None
        try:
            distinct: list[Any] = []
            for _ in range(self._repeats):
                found = self._again(func, args, kwargs, schema)
                if not any(self._same(found, one) for one in distinct):
                    distinct.append(found)
                if generator is not None:
                    generator.set_state(state)
            self._counted(func, args, kwargs, schema, place, direction, len(distinct))
        except Exception as error:  # noqa: BLE001 (a repetition that fails, for want of memory say, is not the program's failure)
            if not self._failed:
                self._failed = True
                self.recorder.note("`%s` cannot be repeated: %s" % (schema.name, error))  # noqa: UP031
        finally:
            if generator is not None:
                generator.set_state(state)
        return func(*args, **kwargs)

    def _again(self, func: Any, args: Any, kwargs: Any, schema: Schema) -> list[Any]:
        """What one more execution gives and writes; a workspace beside its result is left out."""
        given = [self._own(one) if str(n) in schema.written else one for n, one in enumerate(args)]
        others = {name: self._own(one) if name in schema.written else one for name, one in kwargs.items()}
        result = func(*given, **others)
        written = [one for n, one in enumerate(given) if str(n) in schema.written]
        written += [one for name, one in others.items() if name in schema.written]
        outs = self._tensors([result])
        outs = [one for n, one in enumerate(outs) if not n or one.dtype != self.torch.uint8]
        number = [result] if isinstance(result, (int, float, bool)) else []
        return [one for one in (*outs, *self._tensors(written)) if self.digests.readable(one)] + number

    def _same(self, several: list[Any], others: list[Any]) -> bool:
        """Whether results have the same bits: cheaper than to hash each of them."""
        return len(several) == len(others) and all(
            self._equal(one, other) if isinstance(one, self.torch.Tensor) else repr(one) == repr(other)
            for one, other in zip(several, others)  # noqa: B905
        )

    def _equal(self, one: Any, other: Any) -> bool:
        if (one.dtype, one.shape, one.device) != (other.dtype, other.shape, other.device):
            return False
        return bool(self.torch.equal(self.digests.bits(one), self.digests.bits(other)))

    def _own(self, value: Any) -> Any:
        """A copy of what an op writes to."""
        if isinstance(value, self.torch.Tensor):
            return value.clone()
        return [self._own(one) for one in value] if isinstance(value, (list, tuple)) else value

    def _counted(
        self, func: Any, args: Any, kwargs: Any, schema: Schema, place: int, direction: str, distinct: int
    ) -> None:  # fmt: skip
        key = (place, schema.name, direction)
        counts = self._counts.setdefault(key, [0, 0, 0])
        counts[0] += 1
        counts[1] += distinct > 1
        counts[2] = max(counts[2], distinct)
        if distinct > 1 and key not in self._inputs:
            read = self._tensors([*args, *kwargs.values()])
            self._inputs[key] = [[str(one.dtype)[6:], list(one.shape)] for one in read]
            shapes = tuple((one.dtype, tuple(one.shape)) for one in read)
            self.calls.tell(func, args, kwargs, schema, place, direction, shapes)

    def _told(self) -> None:
        for (place, name, direction), counts in self._counts.items():
            inputs = self._inputs.get((place, name, direction), [])
            self.recorder.event("shadow", place, name, direction, counts, inputs)
