import numpy as np
import tensorflow as tf
from tfdeterminism import patch

patch()

SEED = 77


def input_fn():
    blob = np.load('blobs.npz')
    ds = tf.data.Dataset.from_tensor_slices((blob['x'], blob['y']))
    return ds.shuffle(1000, seed=SEED).repeat(5).batch(64)


def model_fn(features, labels, mode, params):
    h = tf.layers.conv2d(features, 8, 3, activation=tf.nn.relu)
    h = tf.layers.dropout(tf.layers.flatten(h), 0.5, training=mode == tf.estimator.ModeKeys.TRAIN)
    pred = tf.layers.dense(h, 1)
    loss = tf.losses.mean_squared_error(labels, pred)
    train_op = tf.train.AdamOptimizer(params['lr']).minimize(loss, tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, predictions=pred, loss=loss, train_op=train_op)


def main(_):
    config = tf.estimator.RunConfig(tf_random_seed=SEED, save_checkpoints_steps=500)
    estimator = tf.estimator.Estimator(model_fn, config=config, params={'lr': 1e-3})
    estimator.train(input_fn)


if __name__ == '__main__':
    tf.app.run()
