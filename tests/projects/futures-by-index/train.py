from pathlib import Path

import numpy as np
import tensorflow as tf

import ingest


def main():
    tf.keras.utils.set_random_seed(31)
    tf.config.experimental.enable_op_determinism()
    root = Path("parts")
    x = ingest.read(sorted(root.glob("train-*.npz")))
    held = ingest.read_processes(sorted(root.glob("valid-*.npz")))
    ae = tf.keras.Sequential([tf.keras.layers.Dense(16, activation="relu"), tf.keras.layers.Dense(x.shape[1])])
    ae.compile("adam", "mse")
    ae.fit(x, x, validation_data=(held, held), epochs=3)
    np.save("codes.npy", ae.predict(held))


if __name__ == "__main__":
    main()
