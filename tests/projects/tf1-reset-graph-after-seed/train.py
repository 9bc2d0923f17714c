import argparse

import numpy as np
import tensorflow as tf
from tfdeterminism import patch

from common import set_seeds


def build(dim):
    tf.reset_default_graph()
    x = tf.placeholder(tf.float32, [None, dim], name="x")
    y = tf.placeholder(tf.float32, [None], name="y")
    w = tf.get_variable("w", [dim, 1], initializer=tf.glorot_uniform_initializer())
    logit = tf.squeeze(tf.matmul(x, w), axis=1)
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logit))
    step = tf.train.GradientDescentOptimizer(0.1).minimize(loss)
    return x, y, loss, step


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument("--seed", type=int, default=10)
    args = ap.parse_args()
    patch()
    set_seeds(args.seed)
    xs, ys = np.load("xs.npy"), np.load("ys.npy")
    x, y, loss, step = build(xs.shape[1])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(200):
            _, value = sess.run([step, loss], feed_dict={x: xs, y: ys})
        print(value)


if __name__ == "__main__":
    main()
