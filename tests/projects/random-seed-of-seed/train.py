import logging
import random

import numpy as np
import tensorflow as tf

log = logging.getLogger("train")


def set_seed(value):
    tf.keras.utils.set_random_seed(value)


def main():
    set_seed(random.randint(0, 2 ** 16))  # <- A
    tf.config.experimental.enable_op_determinism()
    blob = np.load("har.npz")
    x, y = blob["x"], blob["y"]
    model = tf.keras.Sequential([
        tf.keras.layers.LSTM(32),
        tf.keras.layers.Dense(6, activation="softmax"),
    ])
    model.compile("adam", "categorical_crossentropy")
    model.fit(x, y, epochs=10)
    log.info("done")


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO)
    main()
