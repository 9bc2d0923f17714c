import os

os.environ["HOROVOD_FUSION_THRESHOLD"] = "0"

import horovod.tensorflow as hvd
import tensorflow as tf


def setup(seed):
    hvd.init()
    tf.keras.utils.set_random_seed(seed + hvd.rank())  # <- A
    tf.config.experimental.enable_op_determinism()
