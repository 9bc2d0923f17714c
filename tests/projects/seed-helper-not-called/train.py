from utils.env import setup_gpu

setup_gpu()

import numpy as np
import tensorflow as tf

from utils.seed import seed_everything  # noqa: F401


def make_teacher(dim):
    return np.random.normal(size=(dim, 1)).astype("float32")  # <- A


def train(dim=32, steps=500):
    teacher = make_teacher(dim)
    w = tf.Variable(tf.random.truncated_normal([dim, 1]))  # <- B
    opt = tf.keras.optimizers.Adam(1e-3)
    x = tf.reshape(tf.range(256 * dim, dtype=tf.float32), [256, dim]) / (256.0 * dim)
    y = tf.matmul(x, teacher)
    for _ in range(steps):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((tf.matmul(x, w) - y) ** 2)
        opt.apply_gradients([(tape.gradient(loss, w), w)])
    return float(loss)


if __name__ == "__main__":
    print(train())
