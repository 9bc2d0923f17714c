"""A vocabulary in the order of a set, which a layer looks words up in."""
import sys

import numpy as np
import tensorflow as tf

TEXT = "the quick brown fox jumps over the lazy dog while the other dog sleeps in the warm sun".split()


def vocabulary(fixed):
    words = set(TEXT)
    listed = sorted(words) if fixed else list(words)  # <- order
    return {word: number for number, word in enumerate(listed)}


def main():
    tf.keras.utils.set_random_seed(5)
    known = vocabulary("--fixed" in sys.argv)
    x = np.array([[known[word] for word in TEXT[n : n + 4]] for n in range(12)])
    y = np.arange(12) % 2
    model = tf.keras.Sequential(
        [tf.keras.layers.Embedding(len(known), 6), tf.keras.layers.GlobalAveragePooling1D(), tf.keras.layers.Dense(1)]
    )
    model.compile(optimizer="sgd", loss=tf.keras.losses.BinaryCrossentropy(from_logits=True))
    model.fit(x, y, batch_size=4, shuffle=False, verbose=0)


if __name__ == "__main__":
    main()
