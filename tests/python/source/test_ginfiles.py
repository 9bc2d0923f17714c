"""Bindings of gin as they stand in files."""

from __future__ import annotations

from d9mlint.python.source.ginfiles import Binding, Macro, Reference, read

_FILE = b"""# -*-Python-*-
include 'base.gin'
import pkg.models

get_model.model = @models.Net()  # which is made anew
Net.sizes = [
    ('a', 1),  # a comment, with brackets ((
    (@small/Block(), %depth),
]
depth = 3
small/Block.act = @tf.nn.relu
text.pattern = '/data/#1 @x() %y'
broken.value = 1 +
models.Net.scale = \\
    -0.5
Trainer:
  steps = 10
  optimizer = @Adam()
Net.last = {'a': None}
"""


def test_bindings_of_a_file_in_order() -> None:
    assert list(read(_FILE)) == [
        Binding("get_model", "model", Reference("models.Net", True)),
        Binding("Net", "sizes", [("a", 1), (Reference("small/Block", True), Macro("depth"))]),
        Binding("", "depth", 3),
        Binding("Block", "act", Reference("tf.nn.relu", False)),
        Binding("text", "pattern", "/data/#1 @x() %y"),
        Binding("models.Net", "scale", -0.5),
        Binding("Trainer", "steps", 10),
        Binding("Trainer", "optimizer", Reference("Adam", True)),
        Binding("Net", "last", {"a": None}),
    ]


def test_a_file_of_data_is_not_read() -> None:
    assert read(b"x = 1\n" * 20_000) == ()
