"""A histogram with weights, counted by many threads."""
import sys

import tensorflow as tf


def histogram(where, weights):
    return tf.math.bincount(where, weights=weights, minlength=7)  # <- op


def main():
    tf.keras.utils.set_random_seed(8)
    tf.config.threading.set_intra_op_parallelism_threads(1 if "--fixed" in sys.argv else 16)
    values = tf.random.normal((1_000_000,))
    where = tf.random.uniform((1_000_000,), maxval=7, dtype=tf.int32)
    scale = tf.Variable(tf.ones(7))
    optimizer = tf.keras.optimizers.SGD(1e-3)
    for _ in range(4):
        counts = histogram(where, values)
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((counts * scale - 1.0) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, scale), scale)])
    print(loss.numpy())


if __name__ == "__main__":
    main()
