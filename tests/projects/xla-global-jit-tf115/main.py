import argparse

import numpy as np
import tensorflow as tf
from tfdeterminism import patch

from runner import get_config


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--use_xla', action='store_true')
    ap.add_argument('--seed', type=int, default=2)
    args = ap.parse_args()
    patch()
    np.random.seed(args.seed)
    tf.set_random_seed(args.seed)

    blob = np.load('speech.npz')
    x = tf.placeholder(tf.float32, [None, 80])
    y = tf.placeholder(tf.float32, [None, 1])
    h = tf.layers.dense(x, 512, activation=tf.nn.relu)
    loss = tf.losses.mean_squared_error(y, tf.layers.dense(h, 1))
    op = tf.train.AdamOptimizer(1e-4).minimize(loss)
    with tf.Session(config=get_config(args.use_xla)) as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(0, len(blob['x']), 100):
            sess.run(op, {x: blob['x'][i:i + 100], y: blob['y'][i:i + 100]})


if __name__ == '__main__':
    main()
