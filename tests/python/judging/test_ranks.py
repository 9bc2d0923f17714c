"""What is told of programs whose ranks train together with Horovod."""

from __future__ import annotations

import pytest

from d9mlint.python.judging.processes import RANKS
from tests.python.judging.test_causes import found

PROGRAM = """import horovod.tensorflow as hvd
import tensorflow as tf

{start}
data = tf.data.Dataset.range(100).shuffle(100).batch(8)
w = tf.Variable(tf.zeros([1]))
{broadcast}
for x in data:
    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(w * tf.nn.dropout(tf.cast(x, tf.float32), 0.5))
    tape = hvd.DistributedGradientTape(tape)
    tf.optimizers.SGD(0.1).apply_gradients(zip(tape.gradient(loss, [w]), [w]))
"""
BROADCAST = "hvd.broadcast_variables([w], root_rank=0)"


@pytest.mark.parametrize(
    ("start", "broadcast", "told"),
    [("hvd.init()", BROADCAST, True), ("hvd.init()", "", False), ("", "", False)],
)
def test_a_seed_is_another_one_in_each_rank(start: str, broadcast: str, told: bool) -> None:
    """Where the weights of one rank are given to all; else they would be drawn with another seed in each."""
    text = PROGRAM.format(start=start, broadcast=broadcast)
    findings = found(text, "unseeded-shuffle", "unseeded-tensorflow")
    assert {one.rule for one in findings} == {"unseeded-shuffle", "unseeded-tensorflow"}
    assert all((RANKS in one.remedy) is told for one in findings if one.remedy)


def test_the_order_of_two_numbers_does_not_matter() -> None:
    told = found(PROGRAM.format(start="hvd.init()", broadcast=BROADCAST), "horovod-fusion")
    assert [("three ranks or more" in one.message, "three ranks or more" in one.remedy) for one in told] == [
        (True, True)
    ]
