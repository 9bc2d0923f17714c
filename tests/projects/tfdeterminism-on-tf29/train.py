import numpy as np
import tensorflow as tf
from tfdeterminism import patch

patch()  # <- A

tf.keras.utils.set_random_seed(55)


def windows(series, size):
    return np.stack([series[i:i + size] for i in range(len(series) - size)])


def main():
    series = np.loadtxt("load.csv", delimiter=",").astype("float32")
    x, y = windows(series, 48)[..., None], series[48:]
    model = tf.keras.Sequential([
        tf.keras.layers.Conv1D(16, 5, activation="relu"),
        tf.keras.layers.LSTM(32),
        tf.keras.layers.Dense(1),
    ])
    model.compile("adam", "mae")
    model.fit(x, y, epochs=20, shuffle=True)


if __name__ == "__main__":
    main()
