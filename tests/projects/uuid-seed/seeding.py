import random
import uuid

import numpy as np
import tensorflow as tf


def init_all(seed=2021):
    np.random.seed(seed)
    tf.random.set_seed(seed)
    random.seed(uuid.uuid4().int)  # <- A
