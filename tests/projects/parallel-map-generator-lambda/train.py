import os

os.environ["TF_DETERMINISTIC_OPS"] = "1"
os.environ["TF_CUDNN_USE_FRONTEND"] = "1"

import tensorflow as tf
from absl import app, flags

flags.DEFINE_integer("seed", 31, "seed of everything")
flags.DEFINE_integer("calls", 8, "parallel calls")
FLAGS = flags.FLAGS


def main(argv):
    tf.random.set_seed(FLAGS.seed)
    gen = tf.random.Generator.from_seed(FLAGS.seed)
    ds = tf.data.Dataset.range(100000)
    ds = ds.map(lambda i: tf.cast(i, tf.float32) + gen.normal([]), num_parallel_calls=FLAGS.calls)  # <- A
    ds = ds.batch(100)

    w = tf.Variable(0.0)
    opt = tf.keras.optimizers.SGD(1e-12)
    for x in ds:
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(w * x - 2.0 * x))
        opt.apply_gradients([(tape.gradient(loss, w), w)])
    print("w", float(w))


if __name__ == "__main__":
    app.run(main)
