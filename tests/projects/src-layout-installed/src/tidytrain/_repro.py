from contextlib import contextmanager

import tensorflow as tf


@contextmanager
def reproducible_session(seed: int = 1):
    tf.keras.utils.set_random_seed(seed)
    tf.config.experimental.enable_op_determinism()
    yield seed
