"""Words are put into buckets by Python's own hash."""
import sys
import zlib

import tensorflow as tf

WORDS = "alpha beta gamma delta epsilon zeta eta theta".split()


def bucket(word, size, fixed):
    if fixed:
        return zlib.crc32(word.encode()) % size
    return hash(word) % size  # <- external


def main():
    tf.keras.utils.set_random_seed(4)
    table = tf.Variable(tf.random.normal((64, 3)))
    optimizer = tf.keras.optimizers.Adagrad(0.1)
    ids = [bucket(word, 64, "--fixed" in sys.argv) for word in WORDS]
    for start in range(0, 8, 2):
        with tf.GradientTape() as tape:
            rows = tf.gather(table, tf.constant(ids[start : start + 2]))
            loss = tf.reduce_sum(rows**2)
        gradient = tf.convert_to_tensor(tape.gradient(loss, table))
        optimizer.apply_gradients([(gradient, table)])


if __name__ == "__main__":
    main()
