import numpy as np
import tensorflow as tf

from sequence import PatchSequence

tf.keras.utils.set_random_seed(6)
tf.config.experimental.enable_op_determinism()


def main():
    blob = np.load("liver.npz")
    model = tf.keras.Sequential([
        tf.keras.layers.Conv2D(16, 3, padding="same", activation="relu"),
        tf.keras.layers.Conv2D(1, 1, activation="sigmoid"),
    ])
    model.compile("adam", "binary_crossentropy")
    seq = PatchSequence(blob["volumes"], blob["masks"])
    model.fit(seq, epochs=10, shuffle=False, workers=4, use_multiprocessing=True)  # <- A


if __name__ == "__main__":
    main()
