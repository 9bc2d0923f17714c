import os

os.environ["TF_USE_LEGACY_KERAS"] = "1"

import numpy as np
import tensorflow as tf
import tf_keras as keras
from tf_keras import layers


def main():
    keras.utils.set_random_seed(3)
    tf.config.experimental.enable_op_determinism()
    blob = np.load("airfoil.npz")
    model = keras.Sequential([
        layers.Dense(32, activation="relu"),
        layers.Dropout(0.1),
        layers.Dense(1),
    ])
    model.compile("adam", "mse")
    model.fit(blob["x"], blob["y"], epochs=10, validation_split=0.2)


if __name__ == "__main__":
    main()
