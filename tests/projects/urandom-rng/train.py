import os

import numpy as np
import tensorflow as tf


class NoisyLoader:
    def __init__(self, path, sigma=0.05):
        self.x = np.load(path)
        self.sigma = sigma
        self.rng = np.random.default_rng(int.from_bytes(os.urandom(8), "little"))  # <- A

    def __iter__(self):
        for row in self.x:
            yield row + self.rng.normal(0, self.sigma, row.shape), row


def main():
    tf.keras.utils.set_random_seed(99)
    tf.config.experimental.enable_op_determinism()
    loader = NoisyLoader("spectra.npy")
    spec = tf.TensorSpec((512,), tf.float32)
    ds = tf.data.Dataset.from_generator(lambda: iter(loader), output_signature=(spec, spec))
    ae = tf.keras.Sequential([
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(512),
    ])
    ae.compile("adam", "mse")
    ae.fit(ds.batch(32), epochs=5)


main()
