import os

os.environ["TF_DETERMINISTIC_OPS"] = "1"

import tensorflow as tf

tf.keras.utils.set_random_seed(1)

(x, y), _ = tf.keras.datasets.mnist.load_data()
model = tf.keras.Sequential([
    tf.keras.layers.Reshape((28, 28, 1)),
    tf.keras.layers.Conv2D(32, 3, activation="relu"),
    tf.keras.layers.MaxPooling2D(),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dropout(0.5),
    tf.keras.layers.Dense(10, activation="softmax"),
])
model.compile("adam", "sparse_categorical_crossentropy", metrics=["accuracy"])
model.fit(x / 255.0, y, epochs=2, validation_split=0.1)
