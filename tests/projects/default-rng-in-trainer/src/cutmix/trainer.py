import numpy as np
import tensorflow as tf

from cutmix.augment import CutMix


class Trainer:
    def __init__(self, seed=17):
        np.random.seed(seed)
        tf.keras.utils.set_random_seed(seed)
        tf.config.experimental.enable_op_determinism()
        self.augment = CutMix()
        self.model = tf.keras.Sequential([
            tf.keras.layers.Conv2D(32, 3, activation="relu"),
            tf.keras.layers.GlobalAveragePooling2D(),
            tf.keras.layers.Dense(10, activation="softmax"),
        ])
        self.model.compile("adam", "categorical_crossentropy")

    def run(self, x, y, epochs):
        for _ in range(epochs):
            self.model.fit(*self.augment(x, y), batch_size=128)
