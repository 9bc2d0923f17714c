import tensorflow as tf


def classifier(size, dim=32):
    return tf.keras.Sequential([
        tf.keras.layers.Embedding(size, dim),
        tf.keras.layers.GlobalAveragePooling1D(),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ])
