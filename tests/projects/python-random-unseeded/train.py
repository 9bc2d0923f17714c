import random

import numpy as np
import tensorflow as tf


def read_pairs(path):
    with open(path) as fh:
        return [tuple(map(float, line.split("\t"))) for line in fh]


def main():
    np.random.seed(123)
    tf.random.set_seed(123)
    tf.config.experimental.enable_op_determinism()

    pairs = read_pairs("pairs.tsv")
    random.shuffle(pairs)  # <- A
    cut = len(pairs) // 10
    test, train = pairs[:cut], pairs[cut:]

    x = np.array([[p[0]] for p in train])
    y = np.array([p[1] for p in train])
    model = tf.keras.Sequential([tf.keras.layers.Dense(20, activation="relu"), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x, y, epochs=50, verbose=0)
    print(model.evaluate(np.array([[p[0]] for p in test]), np.array([p[1] for p in test])))


if __name__ == "__main__":
    main()
