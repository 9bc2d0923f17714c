"""Noise that is drawn inside a `tf.function`, by an op that nothing seeds."""
import sys

import tensorflow as tf

weight = tf.Variable(tf.ones((4, 2)))
optimizer = tf.keras.optimizers.Adam(0.01)


def blurred(x):
    return x + 0.1 * tf.random.normal(tf.shape(x))  # <- draw


@tf.function
def train(x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean((blurred(x) @ weight - y) ** 2)
    optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])
    return loss


def main():
    if "--fixed" in sys.argv:
        tf.random.set_seed(6)
    x = tf.random.stateless_normal((32, 4), seed=(1, 2))
    y = tf.random.stateless_normal((32, 2), seed=(3, 4))
    for start in range(0, 32, 8):
        train(x[start : start + 8], y[start : start + 8])


if __name__ == "__main__":
    main()
