import tensorflow as tf

from pipeline import build

tf.keras.utils.set_random_seed(99)
tf.config.experimental.enable_op_determinism()

(x, y), _ = tf.keras.datasets.cifar10.load_data()
model = tf.keras.Sequential([
    tf.keras.layers.Conv2D(16, 3, activation="relu"),
    tf.keras.layers.Flatten(),
    tf.keras.layers.Dense(10),
])
model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
model.fit(build(x.astype("float32") / 255.0, y), epochs=1)
