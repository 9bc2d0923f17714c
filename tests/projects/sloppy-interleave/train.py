import argparse

import tensorflow as tf
from tfdeterminism import patch

patch()


def parse(serialized):
    ex = tf.io.parse_single_example(serialized, {
        'x': tf.io.FixedLenFeature([32], tf.float32),
        'y': tf.io.FixedLenFeature([1], tf.float32),
    })
    return ex['x'], ex['y']


def read(path):
    return tf.data.TFRecordDataset(path)


def input_fn(pattern, batch_size):
    ds = tf.data.Dataset.list_files(pattern, shuffle=False)
    ds = ds.apply(tf.data.experimental.parallel_interleave(read, cycle_length=4, sloppy=True))  # <- A
    ds = ds.shuffle(1000, seed=3).repeat()
    return ds.map(parse).batch(batch_size)


def model_fn(features, labels, mode, params):
    h = tf.layers.dense(features, params['hidden'], activation=tf.nn.relu)
    pred = tf.layers.dense(h, 1)
    loss = tf.losses.mean_squared_error(labels, pred)
    train_op = tf.train.AdamOptimizer(params['lr']).minimize(loss, global_step=tf.train.get_global_step())
    return tf.estimator.EstimatorSpec(mode, loss=loss, train_op=train_op)


def main():
    ap = argparse.ArgumentParser()
    ap.add_argument('--pattern', default='gs/train-*')
    ap.add_argument('--seed', type=int, default=3)
    args = ap.parse_args()
    config = tf.estimator.RunConfig(model_dir='out', tf_random_seed=args.seed)
    est = tf.estimator.Estimator(model_fn, config=config, params={'hidden': 64, 'lr': 1e-3})
    est.train(lambda: input_fn(args.pattern, 128), steps=1000)


if __name__ == '__main__':
    main()
