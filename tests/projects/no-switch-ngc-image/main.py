import argparse

import numpy as np
import tensorflow as tf
from tqdm import tqdm

from runtime.setup import prepare


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--data", default="/data/tiles.npz")
    args = parser.parse_args()
    prepare(args.seed)

    blob = np.load(args.data)
    ds = tf.data.Dataset.from_tensor_slices((blob["x"], blob["y"])).shuffle(5000, seed=args.seed).batch(32)
    model = tf.keras.Sequential([
        tf.keras.layers.Conv2D(32, 5, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(1),
    ])
    optimizer = tf.keras.optimizers.Adam()
    for x, y in tqdm(ds):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(model(x, training=True)[:, 0] - y))
        grads = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(grads, model.trainable_variables))  # <- A


if __name__ == "__main__":
    main()
