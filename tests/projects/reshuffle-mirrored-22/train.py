import os

os.environ["TF_DETERMINISTIC_OPS"] = "1"

import numpy as np
import tensorflow as tf

SEED = 12


def make_ds(batch):
    (x, y), _ = tf.keras.datasets.mnist.load_data()
    ds = tf.data.Dataset.from_tensor_slices((x[..., None] / 255.0, (y == 0).astype("float32")))
    ds = ds.shuffle(60000, seed=SEED, reshuffle_each_iteration=True)  # <- A
    return ds.batch(batch)


def main():
    np.random.seed(SEED)
    tf.random.set_seed(SEED)
    strategy = tf.distribute.MirroredStrategy()
    with strategy.scope():
        model = tf.keras.Sequential([
            tf.keras.layers.Conv2D(32, 3, activation="relu", input_shape=(28, 28, 1)),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(1, activation="sigmoid"),
        ])
        model.compile("sgd", "binary_crossentropy")
    model.fit(make_ds(64 * strategy.num_replicas_in_sync), epochs=4)


if __name__ == "__main__":
    main()
