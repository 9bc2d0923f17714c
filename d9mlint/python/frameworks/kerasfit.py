"""How ``fit`` of Keras orders its data, whatever Keras computes with."""

from __future__ import annotations

from d9mlint.model import Argument
from d9mlint.python.domain.events import Event
from d9mlint.python.domain.values import Const, Inst, Obj, Seq, Unknown, Value, alternatives
from d9mlint.python.frameworks.used import keras_backend
from d9mlint.python.interpreter.program import Program

FITS = (".fit", ".fit_generator")
"""How the names of calls end that may be it."""
CALLS = tuple(f"{model}{fit}" for model in ("keras.Model", "?") for fit in FITS)
"""The calls of Keras' own models that are it, and those of something unknown that may be."""
_FIT = "keras.Model.fit"
_DATA, _GENERATOR, _SHUFFLE = Argument(0, "x"), "generator", Argument(None, "shuffle")
_SHUFFLES = {"tensorflow": "tensorflow", "jax": "numpy", "torch": "torch"}
"""The generator that ``fit`` shuffles arrays with, by the backend of Keras."""
_DATASET = "tensorflow.data.Dataset"
_INDEXED = frozenset({"keras.utils.Sequence", "keras.utils.PyDataset"})


def data_of(fit: Event) -> Value | None:
    """What is trained on: ``fit(x)``, ``fit_generator(generator=x)``."""
    return fit.argument(_DATA) or fit.kwargs.get(_GENERATOR)


def shuffles_with(program: Program, fit: Event) -> str | None:
    """The generator that data are shuffled with, None where they are not: arrays with NumPy's before TF 2, else TF's.

    Keras 3 on JAX takes NumPy's, on PyTorch that one's (keras/src/trainers/data_adapters/array_data_adapter.py). The
    batches of a ``Sequence`` are put in order with Python's `random` (keras 2.0.9 to 2.15: utils/data_utils.py; keras
    3: trainers/data_adapters/py_dataset_adapter.py).
    """
    data, shuffle = data_of(fit), fit.argument(_SHUFFLE)
    if isinstance(shuffle, Const) and shuffle.value is False:
        return None
    if is_indexed(data):
        return "python"
    if fit.name != _FIT or not _may_be_arrays(data, asked=shuffle is not None):
        return None
    generator = _SHUFFLES.get(keras_backend(program))
    old = generator == "tensorflow" and program.target.fits("tensorflow", "<2.0")
    return "numpy" if old else generator


def is_indexed(data: Value | None) -> bool:
    """Whether batches are taken by their number, from a ``Sequence`` of Keras or an object of a subclass of it."""
    leaves = [leaf for _, leaf in alternatives(data)]
    return any(
        (isinstance(leaf, Inst) and not _INDEXED.isdisjoint(leaf.cls.external()))
        or (isinstance(leaf, Obj) and leaf.type in _INDEXED)
        for leaf in leaves
    )


def _may_be_arrays(data: Value | None, asked: bool) -> bool:
    """Whether data can be shuffled; of what is not known, arrays, and anything where that is ``asked`` for."""
    if data is None or isinstance(data, (Inst, Seq)):
        return False
    if any(isinstance(leaf, Obj) and leaf.type == _DATASET for _, leaf in alternatives(data)):
        return False
    return asked or not isinstance(data, Unknown) or "array" in data.origins
