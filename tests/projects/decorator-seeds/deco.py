import functools

import tensorflow as tf


def reproducible(seed):
    def wrap(fn):
        @functools.wraps(fn)
        def inner(*args, **kwargs):
            tf.keras.utils.set_random_seed(seed)
            tf.config.experimental.enable_op_determinism()
            return fn(*args, **kwargs)
        return inner
    return wrap
