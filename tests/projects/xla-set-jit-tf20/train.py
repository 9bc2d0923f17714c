import os
import random

import numpy as np
import tensorflow as tf
from tfdeterminism import patch

patch()


def seed_all(seed):
    random.seed(seed)
    np.random.seed(seed)
    tf.random.set_seed(seed)


def main():
    seed_all(int(os.environ.get("SEED", "1")))
    tf.config.optimizer.set_jit(True)  # <- A
    (x, y), _ = tf.keras.datasets.boston_housing.load_data(seed=1)
    model = tf.keras.Sequential([
        tf.keras.layers.Dense(64, activation="relu", input_shape=(13,)),
        tf.keras.layers.Dense(1),
    ])
    model.compile("sgd", "mse")
    model.fit(x / x.max(axis=0), y, epochs=50, verbose=0)
    print(model.get_weights()[-1])


if __name__ == "__main__":
    main()
