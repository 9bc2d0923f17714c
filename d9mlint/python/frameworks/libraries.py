"""Libraries beside the frameworks, as far as the interpreter has to know them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import ClassVar

from d9mlint.python.domain.events import Event
from d9mlint.python.domain.taint import ARRAY, holds_numbers, taint
from d9mlint.python.domain.values import Obj, Seq, Unknown, Value
from d9mlint.python.interpreter.hooks import Framework, Transfer
from d9mlint.python.interpreter.library.functions import run_main

_INDICES = re.compile(r"(\?|(numpy|scipy)(\..+)?)\.(nonzero|argsort|argpartition|argwhere|flatnonzero)")
_PIPELINE = re.compile(r"diffusers\.(?:\w+\.)*\w*Pipeline\w*(?:\.from_(?:pretrained|single_file|pipe))?")


class Numpy(Framework):
    """NumPy, SciPy and scikit-learn."""

    packages = frozenset({"numpy", "scipy", "sklearn"})
    arrays: tuple[str, ...] = ("numpy.ndarray",)
    same_numbers: tuple[str, ...] = ("numpy.array", "numpy.asarray")

    def result(self, event: Event, origins: frozenset[str]) -> Value | None:
        """Indices of what is not zero; what is sorted, or put together, from arrays holds numbers where one does."""
        indices = _INDICES.fullmatch(event.name) or (event.name == _WHERE and len(event.args) + len(event.kwargs) == 1)
        if indices or (event.name in _SORTS and any(map(_is_of_numbers, event.args[:1]))):
            return Unknown(origins | {ARRAY})
        parts = event.args[0] if event.args and event.name in _JOINS else None
        listed = parts.items if isinstance(parts, Seq) else None
        return Obj(f"{event.name}()", event, origins | {ARRAY}) if any(map(_is_of_numbers, listed or ())) else None


_WHERE = "numpy.where"
"""With a condition alone it gives indices, as ``numpy.nonzero`` does."""
_JOINS = ("numpy.concatenate", "numpy.stack", "numpy.vstack", "numpy.hstack", "numpy.column_stack")

_SORTS = ("numpy.sort", "numpy.unique")


def _is_of_numbers(value: Value) -> bool:
    return holds_numbers(value) or (isinstance(value, Obj) and value.type in Numpy.arrays)


class Tables(Framework):
    """pandas and Polars: columns and rows of a table are tables, too."""

    def subscript(self, holder: Value, index: Value) -> Value | None:
        """What is left of a table; columns in an order that may vary are another one."""
        table = isinstance(holder, Obj) and holder.type in ("pandas.DataFrame", "polars.DataFrame")
        return holder if table and not taint([index])[1] else None


class Diffusers(Framework):
    """Diffusers: each of its several hundred pipelines is made, and called, as all others are."""

    packages = frozenset({"diffusers"})

    def result(self, event: Event, origins: frozenset[str]) -> Value | None:
        """A pipeline, by the name of the class that makes it."""
        return Obj("diffusers.DiffusionPipeline", event, origins) if _PIPELINE.fullmatch(event.name) else None


class Horovod(Framework):
    """Horovod."""

    transfer: ClassVar[Mapping[str, Transfer]] = {"horovod.run": run_main}
    packages = frozenset({"horovod"})


class Others(Framework):
    """What the catalogue describes besides."""

    packages = frozenset(
        {
            "accelerate", "albumentations", "fastai", "ignite", "imgaug", "monai", "optuna", "transformers",
        }
    )  # fmt: skip
