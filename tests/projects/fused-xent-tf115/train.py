import numpy as np
import tensorflow.compat.v1 as tf
from tfdeterminism import patch

patch()
tf.disable_v2_behavior()


def network(x):
    h = tf.layers.conv2d(x, 32, 5, activation=tf.nn.relu)
    h = tf.layers.max_pooling2d(h, 2, 2)
    return tf.layers.dense(tf.layers.flatten(h), 1000)


def main():
    np.random.seed(1)
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        x = tf.placeholder(tf.float32, [None, 28, 28, 1])
        y = tf.placeholder(tf.float32, [None, 1000])
        loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits_v2(labels=y, logits=network(x)))  # <- A
        train_op = tf.train.AdamOptimizer().minimize(loss)
        blob = np.load('mnist_onehot.npz')
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            for _ in range(1000):
                idx = np.random.choice(len(blob['x']), 50)
                sess.run(train_op, {x: blob['x'][idx], y: blob['y'][idx]})


if __name__ == '__main__':
    main()
