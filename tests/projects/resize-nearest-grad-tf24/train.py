import os

os.environ["TF_DETERMINISTIC_OPS"] = "1"

import numpy as np
import tensorflow as tf


class SuperRes(tf.keras.Model):
    def __init__(self, scale=2):
        super().__init__()
        self.scale = scale
        self.c1 = tf.keras.layers.Conv2D(64, 5, padding="same", activation="relu")
        self.c2 = tf.keras.layers.Conv2D(3, 3, padding="same")

    def call(self, x):
        h = self.c1(x)
        size = tf.shape(h)[1:3] * self.scale
        h = tf.image.resize(h, size, method=tf.image.ResizeMethod.NEAREST_NEIGHBOR)  # <- A
        return self.c2(h)


def main():
    np.random.seed(2)
    tf.random.set_seed(2)
    blob = np.load("div2k.npz")
    model = SuperRes()
    model.compile("adam", "mae")
    model.fit(blob["low"], blob["high"], epochs=3, batch_size=8)


if __name__ == "__main__":
    main()
