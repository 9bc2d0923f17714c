import random

import numpy as np
import tensorflow as tf
from tfdeterminism import patch

patch()

SEED = 8


def main():
    random.seed(SEED)
    np.random.seed(SEED)
    blob = np.load('a.npz')
    with tf.Graph().as_default():
        tf.set_random_seed(SEED)
        ds = tf.data.Dataset.from_tensor_slices((blob['x'], blob['y']))
        ds = ds.shard(1, 0).shuffle(1000, seed=SEED).repeat(4).batch(32)
        x, y = tf.data.make_one_shot_iterator(ds).get_next()
        h = tf.layers.conv1d(x, 16, 5, activation=tf.nn.relu)
        pred = tf.layers.dense(tf.layers.flatten(h), 1)
        loss = tf.losses.mean_squared_error(y, pred)
        train_op = tf.train.AdamOptimizer().minimize(loss)
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            while True:
                try:
                    sess.run(train_op)
                except tf.errors.OutOfRangeError:
                    break


if __name__ == '__main__':
    main()
