import os

os.environ["TF_DETERMINISTIC_OPS"] = "1"

import numpy as np
import tensorflow as tf

from model import mlp


def main():
    blob = np.load("wine.npz")
    ds = tf.data.Dataset.from_tensor_slices((blob["x"], blob["y"]))
    ds = ds.cache().shuffle(len(blob["x"]))  # <- A
    ds = ds.batch(32)
    net = mlp(64, 3)
    net.compile("adam", "mse")
    net.fit(ds, epochs=25, verbose=2)
    net.save_weights("wine.h5")


if __name__ == "__main__":
    main()
