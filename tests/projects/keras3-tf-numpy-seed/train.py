import numpy as np
import tensorflow as tf


def build(vocab, length):
    inputs = tf.keras.Input((length, vocab))
    x = tf.keras.layers.Dense(64, activation="gelu")(inputs)  # <- A
    x = tf.keras.layers.GlobalAveragePooling1D()(x)
    x = tf.keras.layers.Dropout(0.3)(x)
    out = tf.keras.layers.Dense(1, activation="sigmoid")(x)
    return tf.keras.Model(inputs, out)


def main():
    np.random.seed(42)
    tf.random.set_seed(42)
    tf.config.experimental.enable_op_determinism()

    blob = np.load("onehot.npz")
    perm = np.random.permutation(len(blob["x"]))
    x, y = blob["x"][perm], blob["y"][perm]
    model = build(x.shape[2], x.shape[1])
    model.compile(optimizer="adam", loss="binary_crossentropy")
    model.fit(x, y, epochs=4, batch_size=32)


if __name__ == "__main__":
    main()
