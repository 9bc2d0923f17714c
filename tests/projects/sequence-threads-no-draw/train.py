import numpy as np
import tensorflow as tf


class Slices(tf.keras.utils.Sequence):
    def __init__(self, path, batch_size):
        self.x = np.load(path, mmap_mode="r")
        self.batch_size = batch_size

    def __len__(self):
        return len(self.x) // self.batch_size

    def __getitem__(self, i):
        part = np.asarray(self.x[i * self.batch_size:(i + 1) * self.batch_size], "float32") / 255.0
        return part, part


def main():
    tf.keras.utils.set_random_seed(1)
    tf.config.experimental.enable_op_determinism()
    ae = tf.keras.Sequential([
        tf.keras.layers.Conv2D(8, 3, strides=2, padding="same", activation="relu"),
        tf.keras.layers.Conv2DTranspose(1, 3, strides=2, padding="same"),
    ])
    ae.compile("adam", "mse")
    ae.fit(Slices("stack.npy", 16), epochs=2, shuffle=False, workers=1, use_multiprocessing=False)


if __name__ == "__main__":
    main()
