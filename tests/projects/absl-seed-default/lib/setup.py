import tensorflow as tf
from absl import flags

flags.DEFINE_integer("seed", 1, "seed of all generators")
flags.DEFINE_bool("deterministic", True, "deterministic ops")

FLAGS = flags.FLAGS


def configure():
    if FLAGS.seed:
        tf.keras.utils.set_random_seed(FLAGS.seed)
    if FLAGS.deterministic:
        tf.config.experimental.enable_op_determinism()
