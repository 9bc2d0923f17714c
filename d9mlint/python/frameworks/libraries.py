"""Libraries beside the frameworks, as far as the interpreter has to know them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from d9mlint.python.interpreter.hooks import Framework, Transfer
from d9mlint.python.interpreter.library.functions import run_main


class Numpy(Framework):
    """NumPy, SciPy and scikit-learn."""

    packages = frozenset({"numpy", "scipy", "sklearn"})
    arrays = ("numpy.ndarray",)
    same_numbers = ("numpy.array", "numpy.asarray")


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
