import argparse
import os
import random

import numpy as np

os.environ["TF_DETERMINISTIC_OPS"] = "1"
import tensorflow as tf


def parse():
    ap = argparse.ArgumentParser()
    ap.add_argument("--seed", type=int)
    ap.add_argument("--epochs", type=int, default=3)
    return ap.parse_args()


def main():
    args = parse()
    if args.seed is not None:
        random.seed(args.seed)
        np.random.seed(args.seed)
        tf.random.set_seed(args.seed)
    x = np.random.normal(size=(512, 4)).astype("float32")
    y = x.sum(axis=1)
    model = tf.keras.Sequential([tf.keras.layers.Dense(8, activation="relu"), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(x, y, epochs=args.epochs)


if __name__ == "__main__":
    main()
