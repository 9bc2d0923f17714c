"""What is told of single ops of TensorFlow: of gradients on another device, of classes that are few."""

from __future__ import annotations

import pytest

from tests.python.judging.test_causes import found

GRAPH = """import tensorflow as tf

tf.set_random_seed(1)
x = tf.sparse_placeholder(tf.float32)
w = tf.get_variable("w", [4, 1])
loss = tf.reduce_sum(tf.sparse_tensor_dense_matmul(x, w))
step = tf.train.AdamOptimizer().minimize(loss)
with tf.Session() as session:
    session.run(step, {x: ([[0, 0]], [1.0], [8, 4])})
"""
TAPE = """import tensorflow as tf

tf.random.set_seed(1)
w = tf.Variable(tf.ones([3, 3, 1]))
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(tf.nn.dilation2d(tf.ones([1, 8, 8, 1]) * w[0, 0, 0], w, [1] * 4, "SAME", "NHWC", [1] * 4))
w.assign_sub(tape.gradient(loss, w))
"""
COUNT = """import tensorflow as tf

tf.random.set_seed(1)
w = tf.Variable(tf.ones([8]))
with tf.GradientTape() as tape:
    loss = tf.reduce_sum(w * w)
w.assign_sub(tape.gradient(loss, w))
print(tf.math.bincount([1, 1], weights=[0.5, 0.25]))
"""


@pytest.mark.parametrize(
    ("text", "target", "told"),
    [
        (GRAPH, "tensorflow==1.15.5", "without `minimize(loss, colocate_gradients_with_ops=True)`"),
        (
            GRAPH.replace(".minimize(loss)", ".apply_gradients([(tf.gradients(loss, w)[0], w)])"),
            "tensorflow==1.15.5",
            "without `tf.gradients(loss, weights, colocate_gradients_with_ops=True)`",
        ),
        (TAPE, "tensorflow==2.4.1", "where `tape.gradient` is not called under the device, too (`fit` does not)"),
    ],
)
def test_a_gradient_does_not_follow_its_op_to_another_device(text: str, target: str, told: str) -> None:
    (one,) = found(text, "nondeterministic-op", target=target)
    assert '`tf.device("/CPU:0")`' in one.remedy
    assert one.remedy.endswith(f"; its gradient stays on the GPU {told}")


def test_an_op_without_a_gradient_that_varies_is_moved_alone() -> None:
    (one,) = found(COUNT, "nondeterministic-op", target="tensorflow==2.4.1")
    assert "/CPU:0" in one.remedy
    assert "gradient" not in one.remedy


CLASSES = """import settings
import tensorflow as tf

words = open("words.txt").read().split()
tf.set_random_seed(1)
x = tf.layers.dense(tf.placeholder(tf.float32, [8, 4]), 40)
loss = tf.nn.sparse_softmax_cross_entropy_with_logits(labels=tf.placeholder(tf.int64, [None]), logits={logits})
step = tf.train.AdamOptimizer().minimize(tf.reduce_mean(loss))
"""


def test_labels_that_are_spread_over_words_are_many_classes() -> None:
    text = CLASSES.format(logits="tf.layers.dense(x, len(words))").replace("sparse_softmax", "softmax")
    (one,) = found(text, "nondeterministic-op", target="tensorflow==1.15.5")
    spread = text.replace("tf.placeholder(tf.int64, [None])", "0.9 * tf.one_hot(y, settings.vocab_size) + 0.1")
    (other,) = found(spread, "nondeterministic-op", target="tensorflow==1.15.5")
    assert (one.severity, other.severity) == ("info", "warning")


@pytest.mark.parametrize(
    ("logits", "told"),
    [
        ("x", ["warning"]),
        ("tf.reshape(x, [-1, 40])", ["warning"]),
        ("tf.reshape(x, [-1, 2])", []),
        ("tf.layers.dense(x, len(words))", ["info"]),
        ("tf.layers.dense(x, settings.vocab_size)", ["warning"]),
        ('tf.matmul(x, tf.get_variable("table", [len(words), 40]), transpose_b=True)', ["warning"]),
        ('tf.matmul(x, tf.get_variable("weights", [40, len(words)]))', ["info"]),
        ('tf.matmul(x, tf.get_variable("weights", [40, 10]))', []),
        ("tf.matmul(x, tf.Variable(tf.truncated_normal([40, 10]))) + tf.Variable(tf.zeros([10]))", []),
        ("tf.nn.bias_add(tf.matmul(x, tf.Variable(tf.zeros([40, 100]))), tf.Variable(tf.zeros([100])))", ["warning"]),
        ("tf.matmul(x, tf.Variable(tf.zeros([100, 40])), transpose_b=True)", ["warning"]),
    ],
)
def test_a_condition_that_the_program_does_not_show_is_no_warning(logits: str, told: list[str]) -> None:
    """Of a cross entropy that varies where there are many classes."""
    several = found(CLASSES.format(logits=logits), "nondeterministic-op", target="tensorflow==1.15.5")
    assert [one.severity for one in several] == told
    assert all(one.when == ("there are more than 32 classes",) for one in several)


REPORTED = """import tensorflow as tf

tf.set_random_seed(1)
x = tf.placeholder(tf.float32, [None, 64])
w = tf.get_variable("w", [64, 8])
energy = tf.reduce_mean(tf.square(tf.matmul(x, w)))
{between}
step = tf.train.AdamOptimizer().minimize(energy + 0.5)
with tf.Session() as session:
    session.run(tf.global_variables_initializer())
    for batch in read():
        print(session.run([step, energy], {{x: batch}}))
"""


@pytest.mark.parametrize(
    ("between", "severity"),
    [("", "info"), ('tf.summary.scalar("energy", energy)', "info"), ("energy = tf.exp(energy)", "warning")],
)
def test_the_value_of_a_loss_is_only_reported(between: str, severity: str) -> None:
    """Its gradient does not ask for it: sums vary before TensorFlow 1.4."""
    (one,) = found(REPORTED.format(between=between), "nondeterministic-op", target="tensorflow==1.3.0")
    assert one.severity == severity
