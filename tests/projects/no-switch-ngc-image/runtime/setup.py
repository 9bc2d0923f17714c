import random

import numpy as np
import tensorflow as tf


def prepare(seed):
    random.seed(seed)
    np.random.seed(seed)
    tf.random.set_seed(seed)
    for gpu in tf.config.list_physical_devices("GPU"):
        tf.config.experimental.set_memory_growth(gpu, True)
