import os
from pathlib import Path

os.environ['TF_DETERMINISTIC_OPS'] = '1'

import tensorflow as tf

import inputs


def train(root):
    tf.random.set_seed(2020)
    files = sorted(str(p) for p in Path(root).glob('*.csv'))
    net = tf.keras.Sequential([tf.keras.layers.Dense(16, 'relu'), tf.keras.layers.Dense(1)])
    opt = tf.keras.optimizers.Adagrad(0.01)
    mse = tf.keras.losses.MeanSquaredError()
    for x, y in inputs.read(files, 128):
        with tf.GradientTape() as tape:
            loss = mse(y[:, None], net(x, training=True))
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))
    return net


if __name__ == '__main__':
    train('taxi').save_weights('taxi.h5')
