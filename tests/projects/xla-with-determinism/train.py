import os

os.environ["TF_XLA_FLAGS"] = "--tf_xla_auto_jit=2"

import numpy as np
import tensorflow as tf

tf.keras.utils.set_random_seed(1)
tf.config.experimental.enable_op_determinism()
tf.config.optimizer.set_jit(True)


@tf.function(jit_compile=True)
def step(w, b, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(tf.matmul(x, w) + b - y))
    gw, gb = tape.gradient(loss, [w, b])
    return loss, gw, gb


def main():
    blob = np.load("line.npz")
    w = tf.Variable(tf.random.normal([blob["x"].shape[1], 1]))
    b = tf.Variable(tf.zeros([1]))
    opt = tf.keras.optimizers.SGD(0.1)
    for _ in range(100):
        loss, gw, gb = step(w, b, blob["x"], blob["y"])
        opt.apply_gradients([(gw, w), (gb, b)])
    print(float(loss))


if __name__ == "__main__":
    main()
