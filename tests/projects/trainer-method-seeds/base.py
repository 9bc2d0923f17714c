import os
import random

import numpy as np


class Reproducible:
    seed = 314

    def __init__(self):
        self._environment()
        self._seed()

    def _environment(self):
        os.environ["TF_DETERMINISTIC_OPS"] = "1"
        os.environ["TF_CUDNN_USE_FRONTEND"] = "1"

    def _seed(self):
        import tensorflow as tf
        random.seed(self.seed)
        np.random.seed(self.seed)
        tf.random.set_seed(self.seed)
