"""The second stage in TensorFlow: each op, eager or in a graph, with digests of what goes in and what comes out.

Ops are shown by `op_callbacks`. In a graph each op gets a neighbour that is handed the same values when the graph runs
(`numpy_function`); the op itself and what reads it stay as they are. Functions that XLA compiles are one op each.
"""

from __future__ import annotations

import functools
import threading
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any

from ..arrays import Arrays
from ..recorder import ENTRY, OP, digest
from ..tensors import OPAQUE
from ..wrapping import Wrapping
from . import datasets, kinds, lines, memory
from .graphs import Graphs
from .lines import ident

if TYPE_CHECKING:
    from ..importing import Importing
    from ..recorder import Recorder


_ENTERED = "_d9mlint_entered"


class Ops:
    """Records ops, and remembers which event each value is from."""

    def __init__(self, recorder: Recorder) -> None:
        self.recorder = recorder
        self.arrays = Arrays()
        self.local = threading.local()
        self.framework: Any = None
        """The imported TensorFlow."""
        self._writers: dict[int, int] = {}
        """By tensor, the event that it is from."""
        self._produced: dict[str, int] = {}
        """By digest, the last event that gave such a value."""
        self.resources: dict[int, tuple[str, int]] = {}
        """By the handle of a variable, the digest of its value and the event that it is from."""
        self._lines = lines.Forward()
        self._graphs = Graphs(self)
        self._told = False

    def seen(
        self, kind: str, inputs: Any, attrs: Any, outputs: Any, op_name: Any = None, graph: Any = None
    ) -> None:  # fmt: skip
        """The callback: an op was executed, or put into a graph."""
        recorder = self.recorder
        if recorder.worker or recorder.busy or recorder.closed or self.framework is None:
            return
        if kinds.ignored(kind):
            if graph is not None:
                self._not_recorded(kind, inputs, outputs, graph)
            return
        with recorder.apart():
            try:
                place, direction = self._place()
                self._lines.executed(kind, inputs, outputs, place)
                if graph is not None:
                    self._graphs.added(kind, inputs, _named(attrs), outputs, op_name, graph, place, direction)
                elif not datasets.told(self, place, kind, inputs, _named(attrs)):
                    self._executed(kind, inputs, _named(attrs), outputs, place, direction)
            except Exception as error:  # noqa: BLE001 (a recording that fails must not be the program's failure)
                self._failed(kind, error)

    def _not_recorded(self, kind: str, inputs: Any, outputs: Any, graph: Any) -> None:
        with self.recorder.apart():
            try:
                self._graphs.not_recorded(kind, inputs, outputs, graph)
            except Exception as error:  # noqa: BLE001
                self._failed(kind, error)

    def _failed(self, kind: str, error: Exception) -> None:
        """Says once that an op could not be written down."""
        if not self._told:
            self._told = True
            self.recorder.note("`%s` is not recorded: %s: %s" % (kind, type(error).__name__, error))  # noqa: UP031

    def _place(self) -> tuple[int, str]:
        forward = getattr(self.local, "forward", None)
        if forward is not None:
            return forward, "backward"
        return self.recorder.place(4), "forward"

    def _executed(self, kind: str, inputs: Any, attrs: Any, outputs: Any, place: int, direction: str) -> None:
        """An op that was executed eagerly."""
        handles = [one for one in inputs if one.dtype.name == "resource"] if kinds.changes(kind) else []
        ins = [self.variable(ident(one)) for one in handles]
        for one in inputs:
            if kinds.has_value(one.dtype.name):
                text = self.arrays(self.arrays.array(one.numpy()))
                ins.append([text, one.dtype.name, list(one.shape), self._writers.get(ident(one)) or self.writer(text)])
        arrays = [self.arrays.array(one.numpy()) for one in outputs if kinds.has_value(one.dtype.name)]
        texts = [self.arrays(one) for one in arrays]
        if handles:
            dtype = kinds.type_of(attrs)
            read = self.framework.raw_ops.ReadVariableOp
            texts += [self.arrays(read(resource=one, dtype=dtype).numpy()) for one in handles]
        if not texts:
            return
        number = self.tell(kind, place, direction, attrs, ins, arrays, texts)
        for one in outputs:
            self._writers[ident(one)] = number
        for one, text in zip(handles, texts[len(arrays) :]):  # noqa: B905 (Python 3.8)
            self.resources[ident(one)] = (text, number)

    def variable(self, handle: int | None) -> list[Any]:
        """What is known of a variable before an op changes it."""
        text, number = self.resources.get(handle, (OPAQUE, 0)) if handle is not None else (OPAQUE, 0)
        return [text, "variable", [], number]

    def writer(self, text: str) -> int:
        """The last event that gave a value with this digest."""
        return self._produced.get(text, 0)

    def tell(
        self, kind: str, place: int, direction: str, attrs: Any, ins: Any, arrays: Any, texts: Any, key: str = "",
        scalars: str = "",
    ) -> int:  # fmt: skip
        """Writes an op down; ``arrays``: its results; ``scalars``: what `described` gives, if that is known."""
        bag, name, role = "", kind, OP
        if kinds.enters(kind):
            name, role = kind if kind == kinds.CONSTANT else datasets.BATCH, ENTRY
            ins = [[t, a.dtype.name, list(a.shape), 0] for t, a in zip(texts, arrays)]  # noqa: B905
            bag = digest(",".join(map(self.arrays.bag, arrays)))
        generator = kinds.generator(kind, attrs, texts)
        scalars = scalars or kinds.described(attrs)
        number = self.recorder.event("op", place, role, name, direction, scalars, ins, texts, generator, bag, key)
        for text in texts:
            self._produced[text] = number
        return number

    def gradient(self, real: Any) -> Any:
        """Of what makes the gradient of an op: its ops are told where the op itself is."""

        def _gradient_function(
            name: Any, attrs: Any, count: Any, inputs: Any, outputs: Any, *args: Any
        ) -> Any:  # fmt: skip
            before = getattr(self.local, "forward", None)
            self.local.forward = self._lines.place(name, inputs, outputs) or before or self.recorder.place()
            try:
                return real(name, attrs, count, inputs, outputs, *args)
            finally:
                self.local.forward = before

        return _gradient_function

    def called(self, real: Any) -> Any:
        """Of a `tf.function`: one that XLA compiles is an op."""

        def __call__(function: Any, *args: Any, **kwargs: Any) -> Any:
            local, recorder = self.local, self.recorder
            opaque = getattr(function, "_jit_compile", None) and not getattr(local, "opaque", False)
            if not opaque or recorder.worker or recorder.busy or recorder.closed:
                return real(function, *args, **kwargs)
            place, eager = recorder.place(), self.framework.executing_eagerly()
            ins = self._values((args, kwargs)) if eager else []
            local.opaque = True
            try:
                result = real(function, *args, **kwargs)
            finally:
                local.opaque = False
            if eager:
                name = "tf.function(jit_compile=True) " + getattr(function, "__name__", "")
                outs = [one[0] for one in self._values(result)]
                number = recorder.event("op", place, OP, name, "", "", ins, outs, [], "", "")
                self._produced.update((text, number) for text in outs)
            return result

        return __call__

    def traced(self, real: Any) -> Any:
        """Of what makes a graph of a function of Python: what is left to be handed over is, before it is closed."""

        def func_graph_from_py_func(name: Any, python_func: Any, *args: Any, **kwargs: Any) -> Any:
            @functools.wraps(python_func)
            def whole(*given: Any, **others: Any) -> Any:
                result = python_func(*given, **others)
                self._graphs.end(self.framework.compat.v1.get_default_graph())
                return result

            return real(name, python_func if self.framework is None else whole, *args, **kwargs)

        return func_graph_from_py_func

    def entered(self, real: Any) -> Any:
        """Of a graph in which ops are put: likewise, of one that no function of Python is made into."""

        def as_default(graph: Any) -> Any:
            if getattr(graph, _ENTERED, False):
                return real(graph)  # TensorFlow does so for single ops

            @contextmanager
            def within() -> Any:
                setattr(graph, _ENTERED, True)
                try:
                    with real(graph) as found:
                        yield found
                        self._graphs.end(graph)
                finally:
                    setattr(graph, _ENTERED, False)

            return within()

        return as_default

    def _values(self, several: Any) -> list[list[Any]]:
        """Digest, type, shape and origin of the tensors in arguments or results."""
        found = []
        with self.recorder.apart():
            for one in self.framework.nest.flatten(several):
                if hasattr(one, "numpy") and kinds.has_value(getattr(one.dtype, "name", "")):
                    array = self.arrays.array(one.numpy())
                    text = self.arrays(array)
                    found.append([text, array.dtype.name, list(array.shape), self.writer(text)])
        return found


def _named(attrs: Any) -> dict[str, Any]:
    return dict(zip(attrs[::2], attrs[1::2])) if attrs else {}  # noqa: B905


def install(importing: Importing, recorder: Recorder) -> None:
    """Records from the import of TensorFlow on, in all threads that are started after it."""
    ops, wrapping = Ops(recorder), Wrapping(recorder)

    def imported(tensorflow: Any) -> None:
        ops.framework = tensorflow

    def shown(module: Any) -> None:
        module.add_op_callback(ops.seen)

        def begun(real: Any) -> Any:
            def run(self: Any) -> None:
                module.add_op_callback(ops.seen)
                real(self)

            return run

        wrapping.replace(threading.Thread, "run", begun)

    def gradients(module: Any) -> None:
        wrapping.replace(module, "_gradient_function", ops.gradient)
        module.pywrap_tfe.TFE_Py_RegisterGradientFunction(module._gradient_function)

    def functions(module: Any) -> None:
        wrapping.replace(module.Function, "__call__", ops.called)

    importing.after("tensorflow", imported)
    importing.after("tensorflow.python.framework.op_callbacks", shown)
    importing.after("tensorflow.python.eager.backprop", gradients)
    importing.after("tensorflow.python.eager.polymorphic_function.polymorphic_function", functions)

    def graphs(module: Any) -> None:
        wrapping.replace(module, "func_graph_from_py_func", ops.traced)
        wrapping.replace(module.FuncGraph, "as_default", ops.entered)

    importing.after("tensorflow.python.framework.func_graph", graphs)
    importing.after("tensorflow.python.framework.random_seed", partial(_seeds, wrapping))
    datasets.install(importing, ops, wrapping)
    memory.install(importing, wrapping)
    lines.install(importing, recorder, wrapping)


def _seeds(wrapping: Wrapping, module: Any) -> None:
    def made(real: Any) -> Any:
        def set_seed(seed: Any) -> Any:
            recorder = wrapping.recorder
            if wrapping.told("seed"):
                text = "" if seed is None else repr(seed)[:80]
                name = digest(text) if text else ""
                recorder.event("seed", recorder.place(), "tensorflow", "tf.random.set_seed", name, text)
            return real(seed)

        return set_seed

    wrapping.replace(module, "set_seed", made)
