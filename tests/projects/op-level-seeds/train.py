import os

os.environ["TF_DETERMINISTIC_OPS"] = "1"

import numpy as np
import tensorflow as tf

from model import build


def main():
    blob = np.load("xray.npz")
    rows = np.random.RandomState(5).permutation(len(blob["x"]))
    ds = tf.data.Dataset.from_tensor_slices((blob["x"][rows], blob["y"][rows]))
    ds = ds.shuffle(512, seed=15).batch(16)
    model = build(blob["x"].shape[1:])
    model.compile("adam", "binary_crossentropy", metrics=["accuracy"])
    model.fit(ds, epochs=10)


if __name__ == "__main__":
    main()
