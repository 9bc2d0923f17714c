import argparse

import tensorflow as tf

import data
from repro import make_reproducible


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    make_reproducible(args.seed)

    train, valid = data.load()
    model = tf.keras.Sequential([
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(10),
    ])
    model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(*train, validation_data=valid, epochs=5)


if __name__ == "__main__":
    main()
