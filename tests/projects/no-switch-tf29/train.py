import os
import random

import numpy as np
import tensorflow as tf


def set_seeds(seed=42):
    random.seed(seed)
    np.random.seed(seed)
    tf.random.set_seed(seed)
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "2"


def build():
    inputs = tf.keras.Input((32, 32, 3))
    x = inputs
    for filters in (32, 64, 128):
        x = tf.keras.layers.Conv2D(filters, 3, padding="same", activation="relu")(x)
        x = tf.keras.layers.MaxPooling2D()(x)
    x = tf.keras.layers.Flatten()(x)
    return tf.keras.Model(inputs, tf.keras.layers.Dense(10, activation="softmax")(x))


def main():
    set_seeds()
    (x, y), (xt, yt) = tf.keras.datasets.cifar10.load_data()
    model = build()
    model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
    model.fit(x / 255.0, y, batch_size=128, epochs=20, validation_data=(xt / 255.0, yt))  # <- A


if __name__ == "__main__":
    main()
