import numpy as np
import tensorflow as tf

from base import Reproducible


class Trainer(Reproducible):
    def __init__(self, epochs=3):
        super().__init__()
        self.epochs = epochs
        self.model = tf.keras.Sequential([
            tf.keras.layers.Conv1D(16, 3, activation="relu"),
            tf.keras.layers.GlobalMaxPooling1D(),
            tf.keras.layers.Dense(1, activation="sigmoid"),
        ])

    def run(self, x, y):
        order = np.random.permutation(len(x))
        self.model.compile("adam", "binary_crossentropy")
        self.model.fit(x[order], y[order], epochs=self.epochs)


if __name__ == "__main__":
    blob = np.load("eeg.npz")
    Trainer().run(blob["x"], blob["y"])
