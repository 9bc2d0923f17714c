import numpy as np
import tensorflow as tf
from tfdeterminism import patch

import sampler


def main():
    patch()
    np.random.seed(6)
    tf.set_random_seed(6)
    mean = tf.get_variable('mean', [64], initializer=tf.zeros_initializer())
    end = sampler.random_walk(tf.tile(mean[None, :], [128, 1]), 50)
    target = tf.constant(np.random.randn(64).astype('float32'))
    loss = tf.reduce_mean(tf.square(tf.reduce_mean(end, axis=0) - target))
    train_op = tf.train.GradientDescentOptimizer(0.5).minimize(loss)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for _ in range(500):
            sess.run(train_op)


if __name__ == '__main__':
    main()
