import os

os.environ["TF_DETERMINISTIC_OPS"] = "true"

import click
import numpy as np
import tensorflow as tf

from data import bootstrap


@click.command()
@click.option("--data", default="table.csv")
@click.option("--seed", type=int, default=None, help="seed of the bootstrap")
@click.option("--epochs", default=20)
def main(data, seed, epochs):
    tf.random.set_seed(11)
    np.random.seed(seed)  # <- A
    x, y = bootstrap(data)
    model = tf.keras.Sequential([
        tf.keras.layers.Dense(32, activation="tanh", input_shape=(x.shape[1],)),
        tf.keras.layers.Dense(1),
    ])
    model.compile("adam", "mae")
    model.fit(x, y, epochs=epochs, verbose=2)
    model.save_weights("weights.h5")


if __name__ == "__main__":
    main()
