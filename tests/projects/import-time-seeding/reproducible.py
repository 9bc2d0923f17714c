import os

import tensorflow as tf

SEED = int(os.environ.get("SEED", 1234))

tf.keras.utils.set_random_seed(SEED)
tf.config.experimental.enable_op_determinism()
