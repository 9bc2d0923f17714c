import os
import random

os.environ["TF_DETERMINISTIC_OPS"] = "1"

import numpy as np
import tensorflow as tf

from policy import explore


def run(seed=0, iters=300):
    random.seed(seed)
    np.random.seed(seed)
    tf.random.set_seed(seed)
    obs = np.random.normal(size=(64, 8)).astype("float32")
    q = tf.keras.Sequential([tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(4)])
    opt = tf.keras.optimizers.RMSprop(1e-3)
    for _ in range(iters):
        actions = explore(q(obs), 0.1)
        reward = tf.cast(tf.equal(actions, 2), tf.float32)
        with tf.GradientTape() as tape:
            chosen = tf.reduce_sum(q(obs) * tf.one_hot(actions, 4), axis=1)
            loss = tf.reduce_mean(tf.square(chosen - reward))
        opt.apply_gradients(zip(tape.gradient(loss, q.trainable_variables), q.trainable_variables))


if __name__ == "__main__":
    run()
