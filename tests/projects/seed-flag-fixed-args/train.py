import argparse
import os
import random

os.environ["TF_CUDNN_USE_FRONTEND"] = "1"

import numpy as np
import tensorflow as tf


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--fixed-seed", action="store_true", dest="fixed")
    p.add_argument("--deterministic", action="store_true")
    return p.parse_args()


def main():
    args = parse()
    if args.deterministic:
        os.environ["TF_DETERMINISTIC_OPS"] = "1"
    if args.fixed:
        random.seed(0)
        np.random.seed(0)
        tf.random.set_seed(0)
    blob = np.load("frames.npz")
    rows = np.random.permutation(len(blob["x"]))
    model = tf.keras.Sequential([
        tf.keras.layers.Conv2D(4, 3, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(1),
    ])
    model.compile("adam", "mse")
    model.fit(blob["x"][rows], blob["y"][rows])


if __name__ == "__main__":
    main()
