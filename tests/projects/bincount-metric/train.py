import numpy as np
import tensorflow as tf

from metrics import SoftHistogram

tf.keras.utils.set_random_seed(1)
tf.config.experimental.enable_op_determinism()

blob = np.load("ctr.npz")
model = tf.keras.Sequential([
    tf.keras.layers.Dense(64, activation="relu"),
    tf.keras.layers.Dense(1, activation="sigmoid"),
])
model.compile("adam", "binary_crossentropy", metrics=[SoftHistogram()])
model.fit(blob["x"], blob["y"], epochs=2, batch_size=512)
