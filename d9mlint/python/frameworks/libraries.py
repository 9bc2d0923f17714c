"""Libraries beside the frameworks, as far as the interpreter has to know them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from d9mlint.python.domain.taint import taint
from d9mlint.python.domain.values import Obj, Value
from d9mlint.python.interpreter.hooks import Framework, Transfer
from d9mlint.python.interpreter.library.functions import run_main


class Numpy(Framework):
    """NumPy, SciPy and scikit-learn."""

    packages = frozenset({"numpy", "scipy", "sklearn"})
    arrays = ("numpy.ndarray",)
    same_numbers = ("numpy.array", "numpy.asarray")


class Pandas(Framework):
    """pandas: columns and rows of a table are tables, too."""

    def subscript(self, holder: Value, index: Value) -> Value | None:
        """What is left of a table; columns in an order that may vary are another one."""
        table = isinstance(holder, Obj) and holder.type == "pandas.DataFrame"
        return holder if table and not taint([index])[1] else None


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
