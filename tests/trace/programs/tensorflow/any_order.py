"""A pipeline that hands out what is done first."""
import os
import sys
import time

import tensorflow as tf


def slow(x):
    def wait(x):
        time.sleep(os.urandom(1)[0] / 5000)
        return x

    return tf.ensure_shape(tf.numpy_function(wait, [x], tf.float32), (4, 4))


def data(fixed):
    elements = tf.data.Dataset.from_tensor_slices(tf.random.stateless_normal((48, 4), seed=(1, 2))).batch(4)
    return elements.map(slow, num_parallel_calls=6, deterministic=fixed)  # <- order


def main():
    weight = tf.Variable(tf.ones((4, 1)))
    optimizer = tf.keras.optimizers.SGD(0.01)
    for batch in data("--fixed" in sys.argv):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((batch @ weight - 1.0) ** 2)
        optimizer.apply_gradients([(tape.gradient(loss, weight), weight)])


if __name__ == "__main__":
    main()
