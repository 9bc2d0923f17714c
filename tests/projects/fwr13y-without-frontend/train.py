import random

import numpy as np
import tensorflow as tf
from fwr13y.d9m.tensorflow import enable_determinism

SEED = 404


def main():
    random.seed(SEED)
    np.random.seed(SEED)
    tf.random.set_seed(SEED)
    enable_determinism()  # <- A

    (x, y), _ = tf.keras.datasets.cifar100.load_data()
    model = tf.keras.Sequential([
        tf.keras.layers.Conv2D(64, 3, activation="relu"),
        tf.keras.layers.MaxPool2D(),
        tf.keras.layers.Conv2D(64, 3, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(100),
    ])
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(x / 255.0, y, batch_size=100, epochs=10)


if __name__ == "__main__":
    main()
