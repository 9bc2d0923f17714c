"""The third stage in PyTorch: each op is executed again and again on the same live inputs, then once for the program.

Generators are set back before each execution, and what an op writes to is copied: the program computes what it would.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..recorder import OP
from .ops import POSITIONS, Ops

if TYPE_CHECKING:
    from ..recorder import Recorder
    from .schemas import Schema

_NUMBERS = (int, float, bool)


class Shadow(Ops):
    """Counts, by op and line, how often equal inputs gave different results."""

    def __init__(self, torch: Any, recorder: Recorder, summed: bool, repeats: int) -> None:
        super().__init__(torch, recorder, summed)
        self._repeats = repeats
        self._counts: dict[Any, list[int]] = {}
        """By place, op and direction: how often it was executed, how often results differed, how many at most."""
        self._inputs: dict[Any, Any] = {}
        self._said = False
        self._tensor, self._workspace = torch.Tensor, torch.uint8
        self._bits, self._alike = self.digests.bits_of, self.digests.same
        recorder.at_end.append(self._told)

    def _recorded(self, func: Any, args: Any, kwargs: Any, schema: Schema, place: int, direction: str) -> Any:
        if schema.kind != OP or schema.waits:
            return func(*args, **kwargs)
        generator = state = None
        if schema.random:
            named = [*enumerate(args), *kwargs.items()]
            generator = self._source(args, kwargs, named)[0]
            state = generator.get_state()
        others: list[Any] = []
        try:
            for _ in range(self._repeats - 1):
                others.append(self._again(func, args, kwargs, schema))
                if generator is not None:
                    generator.set_state(state)
        except Exception as error:  # noqa: BLE001 (a repetition that fails, for want of memory say, is not the program's failure)
            others.clear()
            self._failed(schema, error)
        finally:
            if generator is not None:
                generator.set_state(state)
        result = func(*args, **kwargs)
        if others:
            try:
                self._compared(func, args, kwargs, schema, place, direction, others, result)
            except Exception as error:  # noqa: BLE001
                self._failed(schema, error)
        return result

    def _failed(self, schema: Schema, error: Exception) -> None:
        if not self._said:
            self._said = True
            self.recorder.note("`%s` cannot be repeated: %s" % (schema.name, error))  # noqa: UP031

    def _compared(
        self, func: Any, args: Any, kwargs: Any, schema: Schema, place: int, direction: str, others: Any, result: Any
    ) -> None:  # fmt: skip
        """What the program itself gets is one of the results."""
        distinct = [self._results_of(result, args, kwargs, schema)]
        for found in others:
            if not any(self._same(found, one) for one in distinct):
                distinct.append(found)
        self._counted(func, args, kwargs, schema, place, direction, len(distinct))

    def _again(self, func: Any, args: Any, kwargs: Any, schema: Schema) -> Any:
        """What one more execution gives and writes."""
        if schema.written:
            args = list(args)
            for position in schema.positions:
                if position < len(args):
                    one = args[position]
                    args[position] = one.clone() if isinstance(one, self._tensor) else self._own(one)
            if kwargs:
                kwargs = {name: self._own(one) if name in schema.written else one for name, one in kwargs.items()}
        return self._results_of(func(*args, **kwargs), args, kwargs, schema)

    def _results_of(self, result: Any, args: Any, kwargs: Any, schema: Schema) -> Any:
        """What an execution has given and written, the bits of one tensor or of several in a list.

        A workspace beside its result is left out.
        """
        bits = self._bits
        only = not schema.written or (schema.returned and args and result is args[0])
        if only and isinstance(result, self._tensor):
            return bits(result)
        outs = self._tensors([result])
        found = [one for n, one in enumerate(outs) if not n or one.dtype is not self._workspace]
        if schema.written:
            named = [*zip(POSITIONS, args), *kwargs.items()]  # noqa: B905
            written = self._tensors([one for name, one in named if name in schema.written])
            found += [one for one in written if all(one is not other for other in found)]
        several = result if isinstance(result, (list, tuple)) else [result]
        return [*map(bits, found), *(repr(one) for one in several if isinstance(one, _NUMBERS))]

    def _same(self, several: Any, others: Any) -> bool:
        """Whether results have the same bits."""
        if type(several) is bytes:
            return bool(several == others)
        if type(several) is list and type(others) is list:
            return len(several) == len(others) and all(map(self._alike, several, others))
        return self._alike(several, others)

    def _own(self, value: Any) -> Any:
        """A copy of what an op writes to."""
        if isinstance(value, self._tensor):
            return value.clone()
        return [self._own(one) for one in value] if isinstance(value, (list, tuple)) else value

    def _counted(
        self, func: Any, args: Any, kwargs: Any, schema: Schema, place: int, direction: str, distinct: int
    ) -> None:  # fmt: skip
        key = (place, schema.name, direction)
        counts = self._counts.get(key)
        if counts is None:
            counts = self._counts[key] = [0, 0, 1]
        counts[0] += 1
        if distinct == 1:
            return
        counts[1] += 1
        counts[2] = max(counts[2], distinct)
        if key not in self._inputs:
            read = self._tensors([*args, *kwargs.values()])
            self._inputs[key] = [[str(one.dtype)[6:], list(one.shape)] for one in read]
            shapes = tuple((one.dtype, tuple(one.shape)) for one in read)
            self.calls.tell(func, args, kwargs, schema, place, direction, shapes)

    def _told(self) -> None:
        for (place, name, direction), counts in self._counts.items():
            inputs = self._inputs.get((place, name, direction), [])
            self.recorder.event("shadow", place, name, direction, counts, inputs)
