"""Plain linear regression with a hand written loop."""
import argparse
import os

os.environ["TF_DETERMINISTIC_OPS"] = "1"

import numpy as np
import tensorflow as tf


def load(path):
    blob = np.load(path)
    return blob["x"].astype("float32"), blob["y"].astype("float32")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="housing.npz")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--lr", type=float, default=1e-2)
    args = parser.parse_args()

    x, y = load(args.data)
    w = tf.Variable(tf.random.normal([x.shape[1], 1], stddev=0.1))  # <- A
    b = tf.Variable(tf.zeros([1]))
    opt = tf.keras.optimizers.SGD(args.lr)

    for step in range(args.steps):
        with tf.GradientTape() as tape:
            pred = tf.matmul(x, w) + b
            loss = tf.reduce_mean(tf.square(pred - y))
        grads = tape.gradient(loss, [w, b])
        opt.apply_gradients(zip(grads, [w, b]))
        if step % 100 == 0:
            print(step, float(loss))
    np.savez("weights.npz", w=w.numpy(), b=b.numpy())


if __name__ == "__main__":
    main()
