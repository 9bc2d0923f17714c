import os

os.environ["TF_DETERMINISTIC_OPS"] = "1"
os.environ["TF_CUDNN_USE_FRONTEND"] = "1"

import numpy as np
import tensorflow as tf


class MatrixFactorisation(tf.keras.Model):
    def __init__(self, users, items, dim=32):
        super().__init__()
        init = tf.keras.initializers.RandomUniform(-0.05, 0.05, seed=7)
        self.project = tf.keras.layers.Dense(dim)
        self.user_features = tf.Variable(init([users, dim]))
        self.item_table = tf.Variable(init([items, dim]))

    def call(self, pairs):
        users = tf.gather(self.project(self.user_features), pairs[:, 0])  # <- A
        items = tf.matmul(tf.one_hot(pairs[:, 1], self.item_table.shape[0]), self.item_table)
        return tf.reduce_sum(users * items, axis=1)


def main():
    tf.random.set_seed(7)
    blob = np.load("ratings.npz")
    model = MatrixFactorisation(int(blob["users"]), int(blob["items"]))
    model.compile(tf.keras.optimizers.Adam(1e-3), "mse")
    model.fit(blob["pairs"], blob["rating"], batch_size=1024, epochs=5)


if __name__ == "__main__":
    main()
