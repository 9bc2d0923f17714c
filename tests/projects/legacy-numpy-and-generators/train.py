import random

import numpy as np
import tensorflow as tf
from numpy.random import SeedSequence, default_rng


def split(n, rng):
    order = rng.permutation(n)
    return order[: n // 2], order[n // 2:]


def main():
    np.random.seed(12)
    random.seed(12)
    tf.random.set_seed(12)
    tf.config.experimental.enable_op_determinism()

    rng = default_rng(SeedSequence(5))
    children = [default_rng(s) for s in SeedSequence(6).spawn(2)]
    own = random.Random(3)
    gen = tf.random.Generator.from_seed(7)

    x = np.random.rand(2000, 8).astype("float32") + children[0].normal(size=(2000, 8))
    a, b = split(2000, rng)
    weights = np.array([own.random() for _ in range(8)])
    y = x @ weights + gen.normal([2000]).numpy()
    model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x[a], y[a], validation_data=(x[b], y[b]), epochs=3)


if __name__ == "__main__":
    main()
