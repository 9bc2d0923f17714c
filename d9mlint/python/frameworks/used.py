"""Which frameworks a program works with."""

from __future__ import annotations

from d9mlint.python.domain.values import Const, alternatives
from d9mlint.python.interpreter.program import Program

_PACKAGES = {
    "tensorflow": ("tensorflow", "keras", "tf_keras"),
    "torch": (
        "torch", "torchvision", "lightning", "pytorch_lightning", "accelerate", "monai", "ignite", "fastai",
        "torchtnt", "detectron2", "mmengine", "mmcv", "mmdet", "mmseg", "mmcls", "speechbrain", "fairseq",
        "fairseq_cli", "flair", "peft", "trl",
    ),
    "jax": ("jax", "flax", "haiku", "optax", "equinox"),
}  # fmt: skip
"""Frameworks by the packages that programs import for them."""
_BACKENDS = frozenset({"tensorflow", "jax", "torch", "numpy", "openvino"})
_TLX_BACKENDS = frozenset({"tensorflow", "torch", "paddle", "mindspore", "oneflow"})
TENSORLAYERX = "tensorlayerx."
"""How names of TensorLayerX begin."""


def frameworks_of(program: Program) -> tuple[str, ...]:
    """The frameworks that a program works with: ``tensorflow`` (also for Keras on it), ``torch``, ``jax``.

    That which it trains with comes first: others may only be there for a logger.
    """
    return program.once("frameworks", _frameworks)


def _frameworks(program: Program) -> tuple[str, ...]:
    found = {name for name, packages in _PACKAGES.items() if program.imports(*packages)}
    backend = keras_backend(program)
    if backend != "tensorflow":
        if not program.imports("tensorflow"):
            found.discard("tensorflow")
        found.add(backend)
    if program.imports("tensorlayerx"):
        found.add(tlx_backend(program))
    packages = {package: name for name, packages in _PACKAGES.items() for package in packages}
    training = {packages.get(event.name.partition(".")[0]) for event in program.trains}
    training |= {"torch" for event in program.trains if event.name.endswith(".backward")}
    return tuple(sorted((name for name in _PACKAGES if name in found), key=lambda name: name not in training))


def uses_tensorflow(program: Program) -> bool:
    """Whether a program imports TensorFlow or Keras at all."""
    return "tensorflow" in frameworks_of(program)


def keras_backend(program: Program) -> str:
    """What Keras 3 computes with: ``tensorflow`` (its default, and that of Keras 2), ``jax``, ``torch``.

    Empty where ``KERAS_BACKEND`` is set to something that is not known. Keras reads it when it is imported
    (keras/src/backend/config.py); the file ``~/.keras/keras.json`` is no part of a program.
    """
    return program.once("keras-backend", lambda one: _set_in(one, "keras", "KERAS_BACKEND", _BACKENDS))


def tlx_backend(program: Program) -> str:
    """What TensorLayerX computes with: ``tensorflow`` (its default), ``torch``, ``paddle``, ``mindspore``, ``oneflow``.

    Empty where ``TL_BACKEND`` is set to something that is not known; it is read when TensorLayerX is imported
    (tensorlayerx 0.5.8, backend/ops/load_backend.py).
    """
    return program.once("tlx-backend", lambda one: _set_in(one, "tensorlayerx", "TL_BACKEND", _TLX_BACKENDS))


def _set_in(program: Program, package: str, variable: str, known: frozenset[str]) -> str:
    """The backend that a variable names before a package is imported, TensorFlow where it is not set by then."""
    imported = next((e.index for e in program.imports(package)), None)
    before = [e for e in program.env(variable) if not e.detached and (imported is None or e.index < imported)]
    if imported is None or not before:
        return "tensorflow"
    values = {leaf.value if isinstance(leaf, Const) else "" for _, leaf in alternatives(before[-1].args[0])}
    named = values & known
    return str(named.pop()) if len(values) == 1 and named and not before[-1].guards else ""
