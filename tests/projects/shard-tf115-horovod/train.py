import os
import random

os.environ['HOROVOD_FUSION_THRESHOLD'] = '0'

import horovod.tensorflow as hvd
import numpy as np
import tensorflow as tf
from tfdeterminism import patch

from dataset import Records


def main(seed=123):
    patch()
    hvd.init()
    random.seed(seed)
    np.random.seed(seed)
    tf.set_random_seed(seed)
    files = sorted(tf.gfile.Glob('/data/train-*.tfrecord'))
    x, y = Records(files, 64, hvd.rank(), hvd.size()).build(seed).make_one_shot_iterator().get_next()
    h = tf.layers.dense(x, 256, activation=tf.nn.relu)
    loss = tf.losses.mean_squared_error(y, tf.layers.dense(h, 1))
    step = tf.train.get_or_create_global_step()
    opt = hvd.DistributedOptimizer(tf.train.AdamOptimizer(1e-3 * hvd.size()))
    train_op = opt.minimize(loss, global_step=step)
    config = tf.ConfigProto()
    config.gpu_options.visible_device_list = str(hvd.local_rank())
    hooks = [hvd.BroadcastGlobalVariablesHook(0), tf.train.StopAtStepHook(10000)]
    with tf.train.MonitoredTrainingSession(hooks=hooks, config=config) as sess:
        while not sess.should_stop():
            sess.run(train_op)


if __name__ == '__main__':
    main()
