import os

os.environ["TF_DETERMINISTIC_OPS"] = "1"

import numpy as np
import tensorflow as tf
from tensorflow.keras.initializers import glorot_uniform


def balanced(x, y):
    pos = tf.data.Dataset.from_tensor_slices((x[y == 1], y[y == 1])).repeat()
    neg = tf.data.Dataset.from_tensor_slices((x[y == 0], y[y == 0])).repeat()
    return tf.data.experimental.sample_from_datasets([pos, neg], weights=[0.5, 0.5])  # <- A


class Fraud(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.hidden = tf.keras.layers.Dense(32, "relu", kernel_initializer=glorot_uniform(seed=4))
        self.out = tf.keras.layers.Dense(1, "sigmoid", kernel_initializer=glorot_uniform(seed=5))

    def call(self, x):
        return self.out(self.hidden(x))


def main():
    blob = np.load("fraud.npz")
    model = Fraud()
    model.compile("adam", "binary_crossentropy")
    model.fit(balanced(blob["x"], blob["y"]).batch(64), steps_per_epoch=500, epochs=4)


if __name__ == "__main__":
    main()
