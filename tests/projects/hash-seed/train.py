import argparse

import numpy as np
import tensorflow as tf


def parse():
    p = argparse.ArgumentParser()
    p.add_argument("--run-name", default="baseline")
    p.add_argument("--width", type=int, default=64)
    return p.parse_args()


def main():
    args = parse()
    tf.keras.utils.set_random_seed(hash(args.run_name) % (2 ** 32))  # <- A
    tf.config.experimental.enable_op_determinism()

    blob = np.load("regression.npz")
    model = tf.keras.Sequential([
        tf.keras.layers.Dense(args.width, activation="relu"),
        tf.keras.layers.Dense(1),
    ])
    model.compile("sgd", "mse")
    model.fit(blob["x"], blob["y"], epochs=30, verbose=0)
    model.save_weights(f"{args.run_name}.h5")


if __name__ == "__main__":
    main()
