"""What TensorFlow and Keras mean to the interpreter."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from d9mlint.model import Argument
from d9mlint.python.domain.events import CPU, OTHER_DEVICE, Event, Frame
from d9mlint.python.domain.values import NONE, Bound, Const, Func, Obj, Partial, Ref, Text, Value, alternatives
from d9mlint.python.frameworks.tensorflow import graphs
from d9mlint.python.frameworks.tensorflow.compilers import XLA, asks_for_xla
from d9mlint.python.frameworks.tensorflow.determinism import CUDNN_VARIABLE, FRONTEND_VARIABLE, OPS_VARIABLE
from d9mlint.python.frameworks.tensorflow.pipelines import DATASET
from d9mlint.python.interpreter.hooks import Framework, Transfer
from d9mlint.python.interpreter.interpreter import Interpreter
from d9mlint.python.interpreter.library.functions import (
    add_to_namespace,
    make_namespace,
    override_namespace,
    same_callable,
)  # fmt: skip

SCOPE_INITIALIZER = "scope-initializer"
"""The context of a ``variable_scope`` that gives its variables an initializer."""
_SCOPE_INITIALIZER = Argument(3, "initializer")
_DEVICE_NAME = Argument(0, "device_name")
_BUILD = Argument(0, "build")
_FUNCTION = "tensorflow.function"
_SESSION = "tensorflow.Session"
_INITIALIZERS = (
    "Zeros", "Ones", "Constant", "RandomUniform", "RandomNormal", "TruncatedNormal", "GlorotUniform", "GlorotNormal",
    "HeUniform", "HeNormal", "LecunUniform", "LecunNormal", "Orthogonal", "VarianceScaling", "Identity",
)  # fmt: skip
_ONLY_DATASET = frozenset({"prefetch", "padded_batch", "interleave", "flat_map", "ragged_batch", "snapshot"})


def _function(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``tf.function(step)`` is ``step`` with a decorator."""
    for value in event.args[:1]:
        if isinstance(value, Func):
            decorators = (*value.decorators, Ref(_FUNCTION))
            return Func(value.node, value.closure, value.defaults, decorators, value.owner)
    return same_callable(interp, event, frame)


def _default_session(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``tf.get_default_session()``: there is none before the program makes one."""
    made = any(effect.returns == _SESSION for one in interp.story.events for effect in one.effects)
    return Obj(_SESSION, event) if made else NONE


def _sonnet_module(interp: Interpreter, event: Event, frame: Frame) -> Value | None:
    """``snt.Module(build)`` of Sonnet 1 is called like the function that it is made of (modules/base.py)."""
    build = event.argument(_BUILD)
    return build if isinstance(build, (Func, Bound, Partial)) else None


class TensorFlow(Framework):
    """TensorFlow, Keras, and Sonnet."""

    transfer: ClassVar[Mapping[str, Transfer]] = {
        _FUNCTION: _function,
        **dict.fromkeys((*graphs.VARIABLES, "tensorflow.gradients", *graphs.BATCHES), graphs.tensors),
        graphs.COLLECTION: graphs.updates,
        "tensorflow.autograph.experimental.do_not_convert": same_callable,
        "sonnet.Module": _sonnet_module,
        "tensorflow.get_default_session": _default_session,
        "tensorflow.contrib.training.HParams": make_namespace,
        "tensorflow.contrib.training.HParams.add_hparam": add_to_namespace,
        "tensorflow.contrib.training.HParams.set_hparam": add_to_namespace,
        "tensorflow.contrib.training.HParams.override_from_dict": override_namespace,
        "tensorflow.contrib.training.HParams.parse_json": override_namespace,
    }
    packages = frozenset({"tensorflow", "sonnet"})
    never_text = frozenset(
        {"keras.initializers.Initializer", *(f"keras.initializers.{name}()" for name in _INITIALIZERS)}
    )
    variables = frozenset({OPS_VARIABLE, CUDNN_VARIABLE, FRONTEND_VARIABLE})
    protocol = frozenset(
        {
            "call", "build", "train_step", "test_step", "predict_step", "compute_loss", "update_state", "result",
            "on_epoch_begin", "on_epoch_end", "on_train_begin", "on_train_batch_begin", "on_train_batch_end",
            "begin", "before_run", "after_run", "run", "call_fn", "model_fn",
            "compute_gradients", "_compute_gradients", "apply_gradients", "_apply_dense", "_resource_apply_dense",
            "_build",
        }
    )  # fmt: skip
    arrays: tuple[str, ...] = ("tensorflow.Tensor",)
    parts_alike = frozenset({DATASET, "tensorflow.split()", "tensorflow.unstack()"})
    persistent: tuple[str, ...] = (DATASET,)
    symbolic: tuple[str, ...] = ("keras.", "tensorflow.", "sonnet.")
    runs: tuple[str, ...] = ("call", "_build")  # (of Keras' layers; of Sonnet's modules: sonnet 1.36, modules/base.py)

    def arithmetic(self, operands: Sequence[Value]) -> Value | None:
        return graphs.computed(operands)

    def part(self, holder: Value) -> Value | None:
        return graphs.computed([holder])

    def method_of_unknown(self, name: str, args: Sequence[Value], kwargs: Mapping[str, Value]) -> str | None:
        return f"{DATASET}.{name}" if _only_of_dataset(name, args, kwargs) else None

    def contexts(self, interp: Interpreter, func: Func, decorators: Sequence[tuple[Value, str]]) -> Iterable[str]:
        functions = [value for value, name in decorators if name == _FUNCTION]
        made = [value.event for value in functions if isinstance(value, Obj) and value.event is not None]
        return [*["traced"][: len(functions)], *(XLA for one in made[:1] if asks_for_xla(one))]

    def enters(self, event: Event) -> str | None:
        if event.name == "tensorflow.device":
            devices = alternatives(event.argument(_DEVICE_NAME))
            if devices and all(_names_cpu(leaf) for _, leaf in devices):
                return CPU
            return OTHER_DEVICE if event.on_cpu() else ""
        if event.name in ("tensorflow.GradientTape", "tensorflow.Graph.as_default"):
            return "tape" if event.name.endswith("Tape") else "graph"
        if event.name == "tensorflow.variable_scope":
            given = event.argument(_SCOPE_INITIALIZER)
            plain = given is None or (isinstance(given, Const) and given.value is None)
            return "" if plain else SCOPE_INITIALIZER
        return None

    def invocation_context(self, event: Event, context: str) -> str | None:
        """``tfdata`` becomes ``tfdata-parallel`` where the stage has several calls in flight."""
        if context != "tfdata":
            return None
        position = 3 if event.name.endswith(".interleave") else 1
        given = event.args[position] if position < len(event.args) else None
        calls = event.kwargs.get("num_parallel_calls", given)
        alone = calls is None or (isinstance(calls, Const) and calls.value in (None, 1))
        return None if alone else "tfdata-parallel"


def _names_cpu(device: Value) -> bool:
    """Whether the name of a device is that of a CPU, as far as it is known: ``"%s/cpu:0" % job``."""
    parts = device.parts if isinstance(device, Text) else (device,)
    return any(isinstance(one, Const) and "cpu" in str(one.value).lower() for one in parts)


def _only_of_dataset(name: str, args: Sequence[Value], kwargs: Mapping[str, Value]) -> bool:
    """Whether a method of something unknown can only be one of ``tf.data.Dataset``, by its name and arguments."""
    if name in _ONLY_DATASET:
        return True
    if name == "map":
        return "num_parallel_calls" in kwargs
    if name == "shuffle":
        number = bool(args) and isinstance(args[0], Const) and isinstance(args[0].value, int)
        return number or bool({"buffer_size", "reshuffle_each_iteration"} & set(kwargs))
    if name == "batch":
        return "drop_remainder" in kwargs
    return name == "shard" and (len(args) == 2 or {"num_shards", "index"} <= set(kwargs))
