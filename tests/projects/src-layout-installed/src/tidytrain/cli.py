import argparse

import numpy as np
import tensorflow as tf

import tidytrain


def main(argv=None):
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=2)
    ns = parser.parse_args(argv)
    with tidytrain.reproducible_session(ns.seed):
        x = np.random.rand(100, 3)
        model = tf.keras.Sequential([tf.keras.layers.Dense(4, activation="relu"), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse")
        model.fit(x, x.sum(axis=1), epochs=ns.epochs)


if __name__ == "__main__":
    main()
