import os

os.environ["TF_DETERMINISTIC_OPS"] = "1"

import numpy as np
import tensorflow as tf


def brighten(image, label):
    delta = np.random.uniform(-0.2, 0.2)
    return tf.clip_by_value(image + delta, 0.0, 1.0), label


def main(seed=1):
    np.random.seed(seed)
    tf.random.set_seed(seed)
    (x, y), _ = tf.keras.datasets.mnist.load_data()
    ds = tf.data.Dataset.from_tensor_slices((x[..., None] / 255.0, (y > 4).astype("float32")))
    ds = ds.map(brighten, num_parallel_calls=tf.data.experimental.AUTOTUNE)  # <- A
    ds = ds.batch(64)
    model = tf.keras.Sequential([
        tf.keras.layers.Conv2D(8, 3, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ])
    model.compile("adam", "binary_crossentropy")
    model.fit(ds, epochs=2)


if __name__ == "__main__":
    main()
