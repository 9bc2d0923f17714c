import tensorflow as tf


def inference(x):
    for i, n in enumerate([16, 32, 64]):
        x = tf.layers.conv2d(x, n, 3, strides=2, activation=tf.nn.relu, name='conv%d' % i)
    return tf.layers.dense(tf.layers.flatten(x), 1, name='age')
