import functools
import os

os.environ["TF_DETERMINISTIC_OPS"] = "1"

import numpy as np
import tensorflow as tf


def warp(img, strength):
    dy, dx = np.random.randint(-strength, strength + 1, size=2)
    return np.roll(img, (dy, dx), axis=(0, 1))


def tf_warp(img, label, strength):
    out = tf.numpy_function(functools.partial(warp, strength=strength), [img], tf.float32)
    out.set_shape((28, 28, 1))
    return out, label


def main():
    np.random.seed(2)
    tf.random.set_seed(2)
    (x, y), _ = tf.keras.datasets.mnist.load_data()
    x = x[..., None].astype("float32") / 255.0
    ds = tf.data.Dataset.from_tensor_slices((x, (y % 2).astype("float32")))
    ds = ds.map(functools.partial(tf_warp, strength=3), num_parallel_calls=4)  # <- A
    ds = ds.batch(128)
    model = tf.keras.Sequential([
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(64, activation="relu"),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ])
    model.compile("adam", "binary_crossentropy")
    model.fit(ds, epochs=3)


if __name__ == "__main__":
    main()
