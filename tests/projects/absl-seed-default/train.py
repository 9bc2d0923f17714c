import numpy as np
import tensorflow as tf
from absl import app, flags

from lib.setup import configure

FLAGS = flags.FLAGS
flags.DEFINE_integer("epochs", 2, "epochs")


def main(_):
    configure()
    blob = np.load("bikes.npz")
    pick = np.random.choice(len(blob["x"]), 5000, replace=False)
    model = tf.keras.Sequential([tf.keras.layers.Dense(64, activation="relu"), tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    model.fit(blob["x"][pick], blob["y"][pick], epochs=FLAGS.epochs)


if __name__ == "__main__":
    app.run(main)
