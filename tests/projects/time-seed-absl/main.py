import time

import tensorflow as tf
from absl import app, flags, logging

FLAGS = flags.FLAGS
flags.DEFINE_integer("epochs", 3, "Number of epochs.")
flags.DEFINE_float("learning_rate", 1e-3, "Learning rate.")


def build():
    return tf.keras.Sequential([
        tf.keras.layers.Flatten(input_shape=(28, 28)),
        tf.keras.layers.Dense(128, activation="relu"),
        tf.keras.layers.Dense(10),
    ])


def main(_):
    tf.keras.utils.set_random_seed(int(time.time()))  # <- A
    tf.config.experimental.enable_op_determinism()
    (x, y), _ = tf.keras.datasets.fashion_mnist.load_data()
    model = build()
    model.compile(tf.keras.optimizers.Adam(FLAGS.learning_rate),
                  tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    history = model.fit(x / 255.0, y, epochs=FLAGS.epochs)
    logging.info("loss %s", history.history["loss"])


if __name__ == "__main__":
    app.run(main)
