import random

import numpy as np
import tensorflow as tf

from network import inference


def main():
    random.seed(9)
    np.random.seed(9)
    tf.set_random_seed(9)

    data = np.load('faces.npz')
    images = tf.placeholder(tf.float32, [None, 64, 64, 3])
    ages = tf.placeholder(tf.float32, [None, 1])
    loss = tf.reduce_mean(tf.abs(inference(images) - ages))
    train_op = tf.train.MomentumOptimizer(0.01, 0.9).minimize(loss)
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for epoch in range(10):
            order = np.random.permutation(len(data['x']))
            for i in range(0, len(order), 32):
                idx = order[i:i + 32]
                sess.run(train_op, feed_dict={images: data['x'][idx], ages: data['y'][idx]})  # <- A
        saver.save(sess, 'model.ckpt')


if __name__ == '__main__':
    main()
