import os
import random

os.environ["TF_DETERMINISTIC_OPS"] = "1"

import numpy as np
import tensorflow as tf

from losses import classification_loss as loss_fn


def main():
    random.seed(1)
    np.random.seed(1)
    tf.random.set_seed(1)
    (x, y), _ = tf.keras.datasets.mnist.load_data()
    ds = tf.data.Dataset.from_tensor_slices((x[..., None].astype("float32") / 255.0, y.astype("int32")))
    ds = ds.shuffle(10000).batch(64)
    net = tf.keras.Sequential([
        tf.keras.layers.Conv2D(32, 3, activation="relu"),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(10),
    ])
    opt = tf.keras.optimizers.Adam()
    for xb, yb in ds:
        with tf.GradientTape() as tape:
            loss = loss_fn(yb, net(xb, training=True))
        grads = tape.gradient(loss, net.trainable_variables)
        opt.apply_gradients(zip(grads, net.trainable_variables))


if __name__ == "__main__":
    main()
