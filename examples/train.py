"""Trains a small image classifier on a folder of .npy files: one file a class."""

import argparse
import os

import numpy as np
import tensorflow as tf


def load(folder):
    images, labels = [], []
    for label, name in enumerate(os.listdir(folder)):
        data = np.load(os.path.join(folder, name)).astype("float32") / 255.0
        images.append(data)
        labels += [label] * len(data)
    order = np.random.permutation(len(labels))
    return np.concatenate(images)[order], np.array(labels)[order]


def build(classes):
    return tf.keras.Sequential(
        [
            tf.keras.layers.Conv2D(32, 3, activation="relu"),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.Dropout(0.2),
            tf.keras.layers.Dense(classes),
        ]
    )


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--data", default="data")
    parser.add_argument("--seed", type=int, default=None)
    args = parser.parse_args()
    if args.seed is not None:
        tf.random.set_seed(args.seed)

    images, labels = load(args.data)
    dataset = tf.data.Dataset.from_tensor_slices((images, labels))
    dataset = dataset.shuffle(10_000).batch(64).prefetch(tf.data.AUTOTUNE)
    model = build(int(labels.max()) + 1)
    loss = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    model.compile(optimizer="adam", loss=loss, metrics=["accuracy"])
    model.fit(dataset, epochs=5)


if __name__ == "__main__":
    main()
