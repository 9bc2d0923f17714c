import numpy as np
import tensorflow as tf

np.random.seed(10)
tf.set_random_seed(10)


def main():
    blob = np.load('adult.npz')
    x = tf.placeholder(tf.float32, [None, 100])
    y = tf.placeholder(tf.float32, [None, 1])
    logits = tf.layers.dense(tf.layers.dense(x, 200, activation=tf.nn.relu), 1)
    loss = tf.reduce_mean(tf.nn.sigmoid_cross_entropy_with_logits(labels=y, logits=logits))
    train_op = tf.train.AdamOptimizer().minimize(loss)
    config = tf.ConfigProto(intra_op_parallelism_threads=8, inter_op_parallelism_threads=8)  # <- A
    with tf.Session(config=config) as sess:
        sess.run(tf.global_variables_initializer())
        for i in range(0, len(blob['x']), 32):
            sess.run(train_op, {x: blob['x'][i:i + 32], y: blob['y'][i:i + 32]})


if __name__ == '__main__':
    main()
