"""Where a program turns XLA on, and under which condition.

Sources: tensorflow/compiler/jit/flags.cc (TF_XLA_FLAGS), tensorflow/core/protobuf/config.proto (global_jit_level).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from d9mlint.model import Argument
from d9mlint.python.domain.conditions import Cond, both, either, flag_test
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import CondValue, Const, FlagValue, Value, alternatives
from d9mlint.python.frameworks.flagtexts import says
from d9mlint.python.frameworks.tensorflow.determinism import switch
from d9mlint.python.interpreter.program import Program, matches

FUNCTION = "tensorflow.function"
COMPILE = ("keras.Model.compile", "?.compile")
SET_JIT = "tensorflow.config.optimizer.set_jit"
OPTIONS = ("tensorflow.OptimizerOptions", "tensorflow.core.protobuf.config_pb2.OptimizerOptions")
LEVEL = "global_jit_level"
SCOPES = ("tensorflow.xla.experimental.jit_scope", "tensorflow.contrib.compiler.jit.experimental_jit_scope")
XLA = "xla"
"""The context of what a ``tf.function`` compiles with XLA."""
_JITS = ("jit_compile", "experimental_compile")
_FITS = ("keras.Model.fit", "keras.Model.train_on_batch", "?.fit", "?.train_on_batch")
_JIT, _EAGER = Argument(None, "jit_compile"), Argument(None, "run_eagerly")
_NO_JIT = ("keras.layers.LSTM", "keras.layers.GRU", "keras.layers.Bidirectional")
"""cuDNN layers, for which Keras leaves XLA off."""
ALWAYS = ("tensorflow.xla.experimental.compile", "tensorflow.contrib.compiler.xla.compile")
_LEVELS = ["tensorflow.OptimizerOptions.ON_1", "tensorflow.OptimizerOptions.ON_2", 1, 2]
_FLAGS = "TF_XLA_FLAGS"
_AUTO_JIT = re.compile(r"--tf_xla_auto_jit=(?:fusible|(?:single-gpu\()?[12])")


@dataclass(frozen=True, slots=True)
class Request:
    """An event that turns XLA on under ``cond``; ``code`` is how a message quotes it."""

    event: Event
    cond: Cond
    code: str


def requests(program: Program) -> Iterator[Request]:
    """All places that turn XLA on for TensorFlow, in order."""
    asked = program.calls(FUNCTION, SET_JIT, *COMPILE, *OPTIONS, *SCOPES, *ALWAYS)
    for event in sorted((*asked, *program.ending(f".{LEVEL}", "set"), *program.env(_FLAGS)), key=lambda e: e.index):
        found = _call(event) if event.kind == "call" else _assigned(event)
        if found is not None and both(*event.guards, found[0]) is not False:
            yield Request(event, *found)


def _call(event: Event) -> tuple[Cond, str] | None:
    last = event.raw.rpartition(".")[2]
    if event.name == FUNCTION or event.name in COMPILE:
        for keyword in _JITS:
            value = event.kwargs.get(keyword)
            if value is not None:
                return truthy(value), f"{last}({keyword}=True)"
    elif event.name == SET_JIT:
        value = event.argument(Argument(0, "enabled"))
        return (truthy(value), "set_jit") if value is not None else None
    elif event.name in OPTIONS and LEVEL in event.kwargs:
        return matches(event.kwargs[LEVEL], _LEVELS), f"OptimizerOptions({LEVEL}=...)"
    elif event.name in SCOPES and not event.inside("tfdata", "tfdata-parallel"):  # a pipeline runs on the CPU
        value = event.argument(Argument(0, "compile_ops"))
        return True if value is None else truthy(value), last
    elif event.name in ALWAYS:
        return True, "xla.compile"
    return None


def _assigned(event: Event) -> tuple[Cond, str] | None:
    if not event.args:
        return None
    if event.kind == "set" and event.name.endswith(f".{LEVEL}"):
        return matches(event.args[0], _LEVELS), LEVEL
    if event.kind == "env" and event.name == _FLAGS:
        return says(event.args[0], _AUTO_JIT), _FLAGS
    return None


def truthy(value: Value) -> Cond:
    """The condition under which a value is a true constant, a flag that is set, or the text ``autoclustering``."""
    return either(*(both(cond, _true(leaf)) for cond, leaf in alternatives(value)))


def _true(leaf: Value) -> Cond:
    if isinstance(leaf, Const):
        return leaf.value is True or leaf.value in (1, "autoclustering")
    if isinstance(leaf, FlagValue):
        return flag_test(leaf.flag, "truthy")
    return leaf.cond if isinstance(leaf, CondValue) else False


def asks_for_xla(made: Event) -> bool:
    """Whether a call of ``tf.function`` surely asks for XLA."""
    return made.name == FUNCTION and any(truthy(made.kwargs[one]) is True for one in _JITS if one in made.kwargs)


def leaves_to_keras(program: Program) -> Iterator[Event]:
    """The calls of ``compile`` in which Keras 3 turns XLA on by itself, unless op determinism is on.

    Source: keras/src/trainers/trainer.py (``_resolve_auto_jit_compile``, ``model_supports_jit``) of Keras 3.15.
    """
    legacy = any(e.raw.startswith("tf_keras") for e in program.events)
    if legacy or program.env("KERAS_BACKEND", "TF_USE_LEGACY_KERAS") or program.calls(*_NO_JIT):
        return
    if any(e.name.endswith("Strategy") and e.kind == "call" for e in program.events):
        return  # with tf.distribute Keras leaves XLA off
    for event in program.calls(COMPILE[0]):
        jit = event.argument(_JIT)
        if (jit is None or matches(jit, "auto") is True) and event.argument(_EAGER) is None:
            yield event


def execution(program: Program, event: Event) -> str:
    """``xla``, ``function`` or ``eager``: how an op, or a layer that is trained by ``fit``, is executed; else empty."""
    if event.inside("traced"):
        whole = (one for one in requests(program) if one.cond is True and not asks_for_xla(one.event))
        return "xla" if event.inside(XLA) or any(one.event.name not in COMPILE for one in whole) else "function"
    if not event.name.startswith("keras.layers.") or not program.calls(*_FITS):
        return ""
    made = program.calls(COMPILE[0])
    if any(one.argument(_EAGER) is not None and truthy(one.kwargs["run_eagerly"]) is True for one in made):
        return "eager"
    by_itself = program.target.device == "gpu" and program.target.fits("keras", ">=3") and switch(program).on is False
    asked = any(one.cond is True and one.event.name in COMPILE for one in requests(program))
    return "xla" if asked or (by_itself and any(leaves_to_keras(program))) else "function"
