import numpy as np
import tensorflow as tf

from tools import prepare as ready


def main():
    ready()
    idx = np.random.permutation(60000)[:10000]
    (x, y), _ = tf.keras.datasets.mnist.load_data()
    net = tf.keras.Sequential([
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(100, activation="relu"),
        tf.keras.layers.Dense(10),
    ])
    net.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    net.fit(x[idx] / 255.0, y[idx], epochs=2)


if __name__ == "__main__":
    main()
