"""Which ops of TensorFlow a missing switch is told for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize(
    ("biases", "told"),
    [
        ('tf.get_variable("biases", [3])', "`tf.nn.conv2d` and `tf.nn.bias_add`"),
        ('tf.constant(np.load("biases.npy"))', "`tf.nn.conv2d`"),
    ],
)
def test_a_bias_that_is_a_constant_has_no_gradient(d9mlint: Callable[..., Any], biases: str, told: str) -> None:
    Path("train.py").write_text(
        f"""import numpy as np
import tensorflow as tf

tf.set_random_seed(1)
x = tf.placeholder(tf.float32, [4, 8, 8, 3])
weights, biases = tf.get_variable("weights", [3, 3, 3, 3]), {biases}
seen = tf.nn.bias_add(tf.nn.conv2d(x, weights, [1, 1, 1, 1], "SAME"), biases)
step = tf.train.GradientDescentOptimizer(0.1).minimize(tf.reduce_sum(tf.square(seen)))
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    for turn in range(9):
        sess.run(step, {{x: np.ones([4, 8, 8, 3])}})
"""
    )
    options = ("--format", "json", "--select", "missing-determinism-switch", "--target", "tensorflow==1.15.5")
    (finding,) = d9mlint("check", *options, "train.py").json["findings"]
    assert f"what {told} compute" in finding["message"]
