import argparse
import os

os.environ.setdefault("TF_DETERMINISTIC_OPS", "1")

import numpy as np
import tensorflow as tf


def get_args():
    parser = argparse.ArgumentParser(description="word2vec style toy")
    parser.add_argument("--dim", type=int, default=64)
    parser.add_argument("--lr", type=float, default=0.05)
    parser.add_argument("--seed", type=int, default=42, help="random seed")  # <- A
    parser.add_argument("--steps", type=int, default=1000)
    return parser.parse_args()


def main(args):
    targets = np.load("targets.npy").astype("float32")
    table = tf.Variable(tf.random.uniform([args.dim, targets.shape[0]], -1.0, 1.0))  # <- B
    opt = tf.keras.optimizers.SGD(args.lr)
    for step in range(args.steps):
        with tf.GradientTape() as tape:
            gram = tf.matmul(table, table, transpose_a=True)
            loss = tf.reduce_mean(tf.square(gram - targets))
        opt.apply_gradients([(tape.gradient(loss, table), table)])
    np.save("table.npy", table.numpy())


if __name__ == "__main__":
    main(get_args())
