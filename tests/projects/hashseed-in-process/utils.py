import os

import tensorflow as tf


def seed_everything(seed):
    os.environ["PYTHONHASHSEED"] = str(seed)  # <- A
    tf.keras.utils.set_random_seed(seed)
    tf.config.experimental.enable_op_determinism()
