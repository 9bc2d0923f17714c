from glob import glob

import tensorflow as tf

from ingest import read_all


def main():
    tf.keras.utils.set_random_seed(4)
    tf.config.experimental.enable_op_determinism()
    x, y = read_all(sorted(glob("shards/*.npz")))
    model = tf.keras.Sequential([
        tf.keras.layers.Dense(256, activation="relu"),
        tf.keras.layers.Dropout(0.5),
        tf.keras.layers.Dense(1),
    ])
    model.compile(optimizer="adam", loss="mse")
    model.fit(x, y, batch_size=256, epochs=2)


if __name__ == "__main__":
    main()
