import os

import numpy as np
import tensorflow as tf


def build():
    return tf.keras.Sequential([
        tf.keras.layers.Conv2D(16, 3, activation="relu", input_shape=(48, 48, 1)),
        tf.keras.layers.BatchNormalization(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ])


def train(model, x, y):
    os.environ["TF_DETERMINISTIC_OPS"] = "1"  # <- A
    model.compile("adam", "binary_crossentropy")
    model.fit(x, y, epochs=5, batch_size=32)


def main():
    np.random.seed(3)
    tf.random.set_seed(3)
    blob = np.load("smiles.npz")
    train(build(), blob["x"], blob["y"])


if __name__ == "__main__":
    main()
