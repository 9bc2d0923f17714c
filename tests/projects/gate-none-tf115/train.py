import numpy as np
import tensorflow as tf
from tfdeterminism import patch

patch()


class Model(object):
    def __init__(self, dim):
        self.x = tf.placeholder(tf.float32, [None, dim])
        self.y = tf.placeholder(tf.float32, [None, 1])
        h = tf.layers.dense(self.x, 100, activation=tf.nn.elu)
        self.loss = tf.losses.huber_loss(self.y, tf.layers.dense(h, 1))
        optimizer = tf.train.RMSPropOptimizer(1e-3)
        self.train_op = optimizer.minimize(self.loss, gate_gradients=tf.train.Optimizer.GATE_NONE)  # <- A


def main():
    np.random.seed(4)
    tf.set_random_seed(4)
    blob = np.load('stocks.npz')
    model = Model(blob['x'].shape[1])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for epoch in range(5):
            for i in range(0, len(blob['x']), 64):
                feed = {model.x: blob['x'][i:i + 64], model.y: blob['y'][i:i + 64]}
                _, loss = sess.run([model.train_op, model.loss], feed)
            print(epoch, loss)


if __name__ == '__main__':
    main()
