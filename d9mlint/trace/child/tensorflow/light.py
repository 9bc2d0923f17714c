"""The light probe of TensorFlow: a digest of the loss, and of the variables after each step of an optimizer.

Inside a `tf.function` nothing is added: a function in which an optimizer was seen when it was traced makes a step each
time it is called, and its variables are read when it has returned. `fit` of Keras is such a function, too.
"""

from __future__ import annotations

import threading
import weakref
from functools import partial
from typing import TYPE_CHECKING, Any

from .. import sampling
from ..arrays import Arrays
from ..recorder import digest
from ..wrapping import Wrapping
from .variables import Variables

if TYPE_CHECKING:
    from ..importing import Importing
    from ..recorder import Recorder
    from ..stepping import Steps

_OPTIMIZERS = (
    ("keras.src.optimizers.base_optimizer", "BaseOptimizer", "apply"),
    ("keras.src.optimizers.optimizer", "_BaseOptimizer", "apply_gradients"),
    ("tf_keras.src.optimizers.optimizer", "_BaseOptimizer", "apply_gradients"),
    ("tf_keras.src.optimizers.legacy.optimizer_v2", "OptimizerV2", "apply_gradients"),
)
"""Of Keras 3, Keras 2.13 and later, and of Keras 2 as a package of its own."""


class _Light:
    def __init__(self, recorder: Recorder, steps: Steps) -> None:
        self._recorder, self._steps = recorder, steps
        self._arrays = Arrays()
        self._local = threading.local()
        self._training: Any = weakref.WeakKeyDictionary()
        """By function, the variables that a step of it changes (`Variables`)."""
        self._types: dict[Any, str] = {}
        self._samples = sampling.Joined()
        self.eager: Any = lambda: True

    def applied(self, real: Any) -> Any:
        """Of an optimizer: what applies gradients to variables."""

        def apply(optimizer: Any, grads: Any, *args: Any, **kwargs: Any) -> Any:
            local, outer = self._local, getattr(self._local, "applying", False)
            if outer or self._recorder.worker:
                return real(optimizer, grads, *args, **kwargs)
            grads = list(grads)  # of pairs it may be an iterator
            local.applying = True
            try:
                result = real(optimizer, grads, *args, **kwargs)
            finally:
                local.applying = False
            pairs = [one[1] for one in grads if isinstance(one, tuple)]
            variables = pairs or list(args[0] if args else kwargs.get("trainable_variables") or ())
            variables = variables or list(getattr(optimizer, "_trainable_variables", ()))
            name = type(optimizer).__name__
            function = getattr(local, "function", None)
            if not self.eager():
                if function is not None:
                    self._training.setdefault(function, Variables()).add(variables)
            else:
                self._stepped(name, Variables(variables))
            return result

        return apply

    def called(self, real: Any) -> Any:
        """Of a `tf.function`, when the program calls it."""

        def __call__(function: Any, *args: Any, **kwargs: Any) -> Any:
            local = self._local
            if self._recorder.worker or getattr(local, "function", None) is not None or not self.eager():
                return real(function, *args, **kwargs)
            local.function = function
            try:
                result = real(function, *args, **kwargs)
            finally:
                local.function = None
            variables = self._training.get(function)
            if variables:
                self._lost(result)
                self._stepped(getattr(function, "__name__", "tf.function"), variables)
            return result

        return __call__

    def gradient(self, real: Any) -> Any:
        """Of `tf.GradientTape`: what the gradient is of, where the program runs eagerly."""

        def gradient(tape: Any, target: Any, *args: Any, **kwargs: Any) -> Any:
            if self.eager() and not self._recorder.worker:
                self._lost(target)
            return real(tape, target, *args, **kwargs)

        return gradient

    def _lost(self, result: Any) -> None:
        """The loss, where it is there as a number."""
        if not hasattr(result, "numpy") and hasattr(result, "get_value"):
            result = result.get_value()  # an optional, of `fit`
        if isinstance(result, dict):
            result = result.get("loss", next(iter(result.values()), None))
        while isinstance(result, (list, tuple)) and result:
            result = result[0]
        shape = getattr(result, "shape", None)
        if shape is None or len(shape) != 0 or not hasattr(result, "numpy"):
            return
        with self._recorder.apart():
            array = result.numpy()
            value = float(array) if array.dtype.kind == "f" else 0.0
            dtype = self._types.get(array.dtype)
            if dtype is None:
                dtype = self._types[array.dtype] = array.dtype.name
            self._recorder.event("loss", self._arrays(array), value.hex(), dtype)

    def _stepped(self, name: str, variables: Variables) -> None:
        self._steps.again()
        with self._recorder.apart():
            text = self._told(variables)
        self._steps.keep(lambda: [one.numpy().astype("float64").reshape(-1).tolist() for one in variables.all])
        self._steps.stepped(name, text)

    def _told(self, variables: Variables) -> str:
        """A digest of the variables' values; a sample of them is written down."""
        tensors = variables.read() if self.eager() else []
        if tensors and variables.small:
            data = b"".join(tensors)  # a tensor hands out the memory that it has
            self._samples.told(self._recorder, variables.dtype, variables.sizes, data)
            return self._arrays.hash(data)
        arrays = [one._numpy() for one in tensors] or [one.numpy() for one in variables.all]
        sampling.of_arrays(self._recorder, arrays)
        return digest("".join(map(self._arrays, arrays)).encode())


def install(importing: Importing, recorder: Recorder, steps: Steps) -> None:
    """Hooks TensorFlow and Keras when they have been imported."""
    light = _Light(recorder, steps)
    wrapping = Wrapping(recorder)

    def imported(tensorflow: Any) -> None:
        light.eager = tensorflow.executing_eagerly
        recorder.event("uses", "tensorflow", str(tensorflow.__version__))

    def keras_imported(keras: Any) -> None:
        recorder.event("uses", "keras", str(keras.__version__))

    def replaced(kind: str, name: str, made: Any, module: Any) -> None:
        found = getattr(module, kind, None)
        if found is not None:
            wrapping.replace(found, name, made)

    importing.after("tensorflow", imported)
    importing.after(
        "tensorflow.python.eager.polymorphic_function.polymorphic_function",
        partial(replaced, "Function", "__call__", light.called),
    )
    importing.after("tensorflow.python.eager.backprop", partial(replaced, "GradientTape", "gradient", light.gradient))
    for module, kind, name in _OPTIMIZERS:
        importing.after(module, partial(replaced, kind, name, light.applied))
    importing.after("keras", keras_imported)
    importing.after("tensorflow.python.client.session", partial(_sessions, wrapping))


def _sessions(wrapping: Wrapping, module: Any) -> None:
    """Sessions of TensorFlow 1 are not recorded: it is said when one runs."""
    told: list[bool] = []

    def made(real: Any) -> Any:
        def run(self: Any, *args: Any, **kwargs: Any) -> Any:
            if not told and not wrapping.recorder.worker:
                told.append(True)
                wrapping.recorder.note("sessions of TensorFlow 1 are not recorded: only output and files are compared")
            return real(self, *args, **kwargs)

        return run

    wrapping.replace(module.BaseSession, "run", made)
