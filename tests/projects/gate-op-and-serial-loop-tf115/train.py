import numpy as np
import tensorflow as tf
from tfdeterminism import patch


def unroll(x, steps):
    def body(i, s):
        return i + 1, tf.nn.tanh(s) + tf.random.normal(tf.shape(s), stddev=0.01)
    return tf.while_loop(lambda i, s: i < steps, body, [0, x], parallel_iterations=1)[1]


def main():
    patch()
    np.random.seed(2)
    tf.set_random_seed(2)
    blob = np.load('walk.npz')
    x = tf.placeholder(tf.float32, [None, 16])
    y = tf.placeholder(tf.float32, [None, 1])
    loss = tf.losses.mean_squared_error(y, tf.layers.dense(unroll(tf.layers.dense(x, 16), 10), 1))
    opt = tf.train.AdamOptimizer()
    train_op = opt.minimize(loss, gate_gradients=tf.train.Optimizer.GATE_OP)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(0, len(blob['x']), 32):
            sess.run(train_op, {x: blob['x'][i:i + 32], y: blob['y'][i:i + 32]})


if __name__ == '__main__':
    main()
