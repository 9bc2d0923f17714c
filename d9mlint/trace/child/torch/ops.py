"""The second stage in PyTorch: each op with digests of what goes in and what comes out, and its line."""

from __future__ import annotations

import os
import sys
import threading
from functools import partial
from typing import TYPE_CHECKING, Any

from ..recorder import COLLECTIVE, EMPTY, ENTRY, MAIN, OP, SKIP, VIEW, digest
from ..tensors import Digests
from ..wrapping import Wrapping
from . import compiled, composites, kernels, loading
from .calls import Calls
from .schemas import schema_of
from .storages import Storages

if TYPE_CHECKING:
    from ..importing import Importing
    from ..recorder import Recorder
    from .schemas import Schema

_SINGLY = 16
"""Tensors of one op that have a digest each; more of them (an optimizer's lists) have one together."""
_MANY = 10_000
"""Digests that are kept."""
POSITIONS = tuple(map(str, range(100)))
"""Of arguments, as a schema names them."""
_PLAIN = (int, float, bool, str, complex, type(None))


class Ops:
    """Records ops; one for the process, whichever threads they run in."""

    def __init__(self, torch: Any, recorder: Recorder, summed: bool) -> None:
        self.torch, self.recorder = torch, recorder
        self.digests = Digests(torch, summed)
        self.storages = Storages()
        self.calls = Calls(torch, recorder)
        os.register_at_fork(after_in_child=self._forked)
        self._schemas: dict[Any, Schema] = {}
        self._known: dict[str, str] = {}
        """By what is given beside tensors, the digest of it."""
        self._lines: dict[tuple[str, int], int] = {}
        """By thread and sequence number of an autograd node, the place of the op that made it."""
        self._types: dict[Any, str] = {}
        self.backward = 0
        """The place of the last call of a backward."""
        self._node = getattr(torch._C, "_current_autograd_node", lambda: None)
        self._sequence = sys.modules["torch.autograd"]._get_sequence_nr

    def _forked(self) -> None:
        """Events are numbered anew: what the parent has made comes in from outside."""
        self.storages = Storages()
        self._lines.clear()

    def dispatched(self, func: Any, args: Any, kwargs: Any) -> Any:
        """Executes an op, and writes it down."""
        recorder = self.recorder
        local = recorder.local
        if getattr(local, "busy", False) or recorder.worker or recorder.closed:
            return func(*args, **kwargs)
        schema = self._schemas.get(func)
        if schema is None:
            schema = self._schemas[func] = schema_of(func)
        if schema.kind == SKIP or self._compiling():
            return func(*args, **kwargs)
        if schema.kind == ENTRY and getattr(local, "loading", False):
            return func(*args, **kwargs)  # a batch that a worker has made: told of when it is whole
        local.busy = True
        try:
            if schema.kind == VIEW:
                self._viewed()
                return func(*args, **kwargs)
            place, direction = self._place()
            return self._recorded(func, args, kwargs, schema, place, direction)
        finally:
            local.busy = False

    def _viewed(self) -> None:
        """An op that hands on has a gradient, too: where it is from."""
        recorder = self.recorder
        if self._node() is None:
            key = (recorder.thread(), self._sequence() - 1)
            if key not in self._lines:
                self._lines[key] = recorder.place(4)

    def _exchanged(self, func: Any, args: Any, kwargs: Any, name: str, place: int, direction: str) -> Any:
        """An op of several processes: it may go on when it has returned, so that its results are not looked at."""
        sent = list(loading.inside(self.torch, [args, kwargs]))
        waits = name.endswith("wait_tensor")  # its argument may be written to at this moment
        ins = [] if waits else self._described(sent)
        result = func(*args, **kwargs)
        given = [one for one in loading.inside(self.torch, [result]) if all(one is not other for other in sent)]
        self.tell(COLLECTIVE, place, name, direction, "", ins, [], [], "", [*sent, *given])
        return result

    def _compiling(self) -> bool:
        guards = sys.modules.get("torch._guards")
        return guards is not None and guards.TracingContext.try_get() is not None

    def _place(self) -> tuple[int, str]:
        """Where the op is from: in a backward, where the forward op is from whose gradient it computes."""
        recorder, node = self.recorder, self._node()
        here = recorder.place(4)
        if node is None:
            self._lines.setdefault((recorder.thread(), self._sequence() - 1), here)
            return here, "forward"
        if here and here != getattr(recorder.local, "backward", 0):
            return here, "backward"  # in a backward that the user has written, or a forward that is made once more
        number = node._sequence_nr()  # of the forward's thread; a GPU's backward has a thread of its own
        forward = self._lines.get((recorder.thread(), number)) or self._lines.get((MAIN, number))
        return forward or here or self.backward, "backward"

    def _recorded(self, func: Any, args: Any, kwargs: Any, schema: Schema, place: int, direction: str) -> Any:
        if schema.kind == COLLECTIVE:
            return self._exchanged(func, args, kwargs, schema.name, place, direction)
        named = [*zip(POSITIONS, args), *kwargs.items()]  # noqa: B905 (Python 3.8)
        read = self._tensors([one for name, one in named if name not in schema.unread])
        ins = self._described(read) if schema.kind != EMPTY else []
        scalars = self._scalars([_scalars(one) for _, one in named]) if schema.kind != EMPTY else ""
        generator = self._generator(args, kwargs, named) if schema.random else []
        if schema.kind == OP:
            self.calls.tell(func, args, kwargs, schema, place, direction, tuple((n[1], tuple(n[2])) for n in ins))
        result = func(*args, **kwargs)
        given = self._tensors([result])
        if schema.kind == ENTRY:
            read, ins = given, [[*one[:3], 0] for one in self._described(given)]
        written = self._tensors([one for name, one in named if name in schema.written])
        outs = given + [one for one in written if all(one is not other for other in given)]
        texts = [] if schema.kind == EMPTY else self._results(outs, result)
        bag = self.digests.bag(read[0]) if schema.kind == ENTRY and read else ""
        self.tell(schema.kind, place, schema.name, direction, scalars, ins, texts, generator, bag, outs)
        return result

    def _scalars(self, values: list[Any]) -> str:
        text = repr(values)
        found = self._known.get(text)
        if found is None:
            found = digest(text)
            if len(self._known) < _MANY:
                self._known[text] = found
        return found

    def tell(
        self, kind: str, place: int, name: str, direction: str, scalars: str, ins: Any, texts: Any, generator: Any,
        bag: str, outs: Any,
    ) -> None:  # fmt: skip
        """Writes an op down, and remembers whose the memory of its results is."""
        number = self.recorder.event("op", place, kind, name, direction, scalars, ins, texts, generator, bag)
        for one in outs:
            self.storages.write(one, -number if kind == EMPTY else number)

    def _tensors(self, values: list[Any]) -> list[Any]:
        found = []
        for one in values:
            if isinstance(one, self.torch.Tensor):
                found.append(one)
            elif isinstance(one, (list, tuple)):
                found += [inner for inner in one if isinstance(inner, self.torch.Tensor)]
        return found

    def _described(self, tensors: list[Any]) -> list[list[Any]]:
        """For each: digest, type, shape, and who has written it."""
        if len(tensors) > _SINGLY:
            text = digest(",".join(map(self.digests, tensors)))
            return [[text, "%d tensors" % len(tensors), [], max(map(self.storages.writer, tensors))]]  # noqa: UP031
        writer = self.storages.writer
        return [[self.digests(one), self._named(one.dtype), list(one.shape), writer(one)] for one in tensors]

    def _named(self, dtype: Any) -> str:
        found = self._types.get(dtype)
        if found is None:
            found = self._types[dtype] = str(dtype)[6:]
        return found

    def _results(self, outs: list[Any], result: Any) -> list[str]:
        if len(outs) > _SINGLY:
            return [digest(",".join(map(self.digests, outs)))]
        return [*map(self.digests, outs), *([digest(repr(result))] if isinstance(result, (int, float, bool)) else [])]

    def _generator(self, args: Any, kwargs: Any, named: Any) -> list[Any]:
        """The generator that an op draws from: its name, a digest of its state, its seed."""
        generator, name = self._source(args, kwargs, named)
        return [name, digest(generator.get_state().numpy().tobytes()), str(generator.initial_seed())]

    def _source(self, args: Any, kwargs: Any, named: Any) -> tuple[Any, str]:
        torch = self.torch
        own = next((one for _, one in named if isinstance(one, torch.Generator)), None)
        if own is not None:
            return own, "own"
        tensors = self._tensors([*args, *kwargs.values()])
        device = tensors[0].device if tensors else torch.device(kwargs.get("device") or "cpu")
        if device.type != "cuda":
            return torch.default_generator, "torch"
        index = device.index if device.index is not None else torch.cuda.current_device()
        return torch.cuda.default_generators[index], "torch-device"


def _scalars(value: Any) -> Any:
    if isinstance(value, _PLAIN):
        return value
    if isinstance(value, (list, tuple)):
        return [_scalars(one) for one in value]
    return ""


def _mode(torch: Any, ops: Ops) -> Any:
    """A mode of the dispatcher that shows all ops; what was compiled stays compiled under it."""
    base: Any = sys.modules["torch.utils._python_dispatch"].TorchDispatchMode

    class Recording(base):  # type: ignore[misc]
        @classmethod
        def ignore_compile_internals(cls) -> bool:
            return True

        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            return ops.dispatched(func, args, kwargs or {})

    return Recording


def install(importing: Importing, recorder: Recorder, settings: Any) -> None:
    """Records from the import of PyTorch on, in all threads that are started after it."""
    importing.after("torch", partial(_installed, importing, recorder, settings))


def _installed(importing: Importing, recorder: Recorder, settings: Any, torch: Any) -> None:
    summed = bool(settings.get("summed"))
    if settings["stage"] == "shadow":
        from .shadow import Shadow

        ops: Ops = Shadow(torch, recorder, summed, settings["repeats"])
    else:
        ops = Ops(torch, recorder, summed)
    mode = _mode(torch, ops)
    wrapping = Wrapping(recorder)
    mode().__enter__()

    def begun(real: Any) -> Any:
        def _bootstrap_inner(self: Any) -> None:
            with mode():
                real(self)

        return _bootstrap_inner

    wrapping.replace(threading.Thread, "_bootstrap_inner", begun)
    composites.install(torch, wrapping)
    if settings["stage"] != "shadow":
        loading.install(importing, ops, wrapping)
        compiled.install(importing, ops)
        kernels.install(importing, ops, wrapping)
