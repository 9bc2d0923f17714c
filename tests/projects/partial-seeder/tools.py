import functools

import tensorflow as tf


def _prepare(seed, deterministic=True):
    tf.keras.utils.set_random_seed(seed)
    if deterministic:
        tf.config.experimental.enable_op_determinism()


prepare = functools.partial(_prepare, 17)
