import os

os.environ["TF_DETERMINISTIC_OPS"] = "1"

import numpy as np
import tensorflow as tf

from gcn import GCN


def main():
    tf.random.set_seed(19)
    blob = np.load("graph.npz")
    n = len(blob["x"])
    adjacency = tf.sparse.reorder(tf.SparseTensor(blob["edges"], blob["weights"], [n, n]))
    model = GCN(16)
    opt = tf.keras.optimizers.Adam(0.01)
    for epoch in range(200):
        with tf.GradientTape() as tape:
            out = model(adjacency, blob["x"])
            loss = tf.reduce_mean(tf.square(out[:, 0] - blob["y"]))
        grads = tape.gradient(loss, model.trainable_variables)
        opt.apply_gradients(zip(grads, model.trainable_variables))


if __name__ == "__main__":
    main()
