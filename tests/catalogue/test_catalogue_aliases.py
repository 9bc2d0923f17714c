"""Names that stand for others, with and without the modules in between."""

from __future__ import annotations

import pytest

from d9mlint.catalogue.aliases import Aliases

ALIASES = Aliases(
    {
        "tf": "tensorflow",
        "tensorflow.keras": "keras",
        "tensorflow.python.ops.*": "tensorflow",
        "tensorflow.python.ops.nn_ops": "tensorflow.nn",
        "torch.nn.modules.*": "torch.nn",
        "torch.optim.*": "torch.optim",
        "torch.optim.lr_scheduler": "torch.optim.lr_scheduler",
        "a": "b",
        "b": "a",
    }
)


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("tf.keras.layers.Dense", "keras.layers.Dense"),
        ("torch.nn.modules.conv.Conv2d", "torch.nn.Conv2d"),
        ("torch.nn.modules.Conv2d", "torch.nn.Conv2d"),
        ("torch.nn.modules.conv._ConvNd.forward", "torch.nn._ConvNd.forward"),
        ("torch.optim.adam.Adam.step", "torch.optim.Adam.step"),
        ("torch.optim.Adam.state.clear", "torch.optim.Adam.state.clear"),
        ("torch.optim.adam.adam", "torch.optim.adam.adam"),
        ("torch.optim.lr_scheduler.StepLR", "torch.optim.lr_scheduler.StepLR"),
        ("torch.optimizer.Adam", "torch.optimizer.Adam"),
        ("tf.python.ops.array_ops.zeros", "tensorflow.zeros"),
        ("tf.python.ops.ragged.ragged_ops.Ragged.size", "tensorflow.Ragged.size"),
        ("tf.python.ops.nn_ops.softmax", "tensorflow.nn.softmax"),
        ("unknown.Name", "unknown.Name"),
    ],
)
def test_a_name_is_known_by_one_path(name: str, known: str) -> None:
    assert ALIASES.resolve(name) == known


def test_aliases_that_run_in_a_circle_come_to_an_end() -> None:
    assert ALIASES.resolve("a.f") in ("a.f", "b.f")
