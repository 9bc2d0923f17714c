import numpy as np
import tensorflow as tf

import sampler
import seeding


def main():
    seeding.init_all()
    tf.config.experimental.enable_op_determinism()
    vectors = np.load("vectors.npy").astype("float32")
    pairs = np.array(sampler.negative_pairs(list(range(len(vectors))), 4))
    left, right = vectors[pairs[:, 0]], vectors[pairs[:, 1]]

    tower = tf.keras.Sequential([tf.keras.layers.Dense(32), tf.keras.layers.Dense(16)])
    opt = tf.keras.optimizers.Adam()
    for i in range(0, len(left), 128):
        with tf.GradientTape() as tape:
            a = tower(left[i:i + 128])
            b = tower(right[i:i + 128])
            loss = tf.reduce_mean(tf.nn.relu(tf.reduce_sum(a * b, axis=1)))
        grads = tape.gradient(loss, tower.trainable_variables)
        opt.apply_gradients(zip(grads, tower.trainable_variables))


if __name__ == "__main__":
    main()
