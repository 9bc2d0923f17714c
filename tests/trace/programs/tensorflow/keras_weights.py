"""Keras: nobody has seeded the weights."""
import sys

import numpy as np
import tensorflow as tf


def network():
    return tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(4, 3, activation="relu"),  # <- draw
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(3),
        ]
    )


def main():
    if "--fixed" in sys.argv:
        tf.keras.utils.set_random_seed(1)
    source = np.random.default_rng(0)
    x, y = source.normal(size=(32, 8, 8, 1)).astype("float32"), source.integers(0, 3, 32)
    model = network()
    model.compile(optimizer="adam", loss=tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(x, y, batch_size=8, shuffle=False, verbose=0)


if __name__ == "__main__":
    main()
