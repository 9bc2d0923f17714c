"""Settings in `HParams` of TensorFlow 1: what a dict overrides them with counts, not what they were made with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

TRAIN = """import json
import tensorflow as tf
from tensorflow.contrib.training import HParams

settings = HParams(n_vocab=0, n_embd=8)
{override}
x = tf.placeholder(tf.float32, [None, 4, settings.n_embd])
w = tf.get_variable("w", [settings.n_embd, settings.n_vocab])
logits = tf.reshape(tf.matmul(x, w), [-1, 4, settings.n_vocab])
labels = tf.placeholder(tf.int32, [None, 4])
loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
step = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as session:
    session.run(step)
"""


@pytest.mark.parametrize(
    ("override", "told"),
    [
        ("", False),
        ("settings.override_from_dict(json.load(open('hparams.json')))", True),
        ("settings.override_from_dict({'n_vocab': 9})", False),
        ("settings.override_from_dict({'n_vocab': 99})", True),
    ],
)
def test_a_vocabulary_that_a_dict_gives(d9mlint: Callable[..., Any], override: str, told: bool) -> None:
    Path("train.py").write_text(TRAIN.format(override=override))
    found = d9mlint("train.py", "--format", "json", "--target", "tensorflow==1.15.5", "--select", "nondeterministic-op")
    assert [one["severity"] for one in found.json["findings"] if one["severity"] == "warning"] == ["warning"] * told
