import tensorflow as tf


def deterministic(seed):
    tf.keras.utils.set_random_seed(seed)
    tf.config.experimental.enable_op_determinism  # <- A
