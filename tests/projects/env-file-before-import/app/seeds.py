import random

import numpy as np
import tensorflow as tf


def everything(n):
    random.seed(n)
    np.random.seed(n)
    tf.random.set_seed(n)
