import random

import numpy as np
import tensorflow as tf


def fix(seed):
    for setter in (random.seed, np.random.seed, tf.random.set_seed):
        setter(seed)
    tf.config.experimental.enable_op_determinism()


def main():
    fix(10)
    (x, y), _ = tf.keras.datasets.mnist.load_data()
    model = tf.keras.Sequential([
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dropout(0.2),
        tf.keras.layers.Dense(10),
    ])
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(x / 255.0, y, epochs=1)


if __name__ == "__main__":
    main()
