import os

os.environ["TF_DETERMINISTIC_OPS"] = "1"

import tensorflow as tf
from tensorflow.keras import Model
from tensorflow.keras.layers import Conv2D, Dense, Flatten, Input


class Trainer:
    def __init__(self, epochs=2, seed=5):
        self.model = self.build()
        tf.random.set_seed(seed)  # <- A
        self.epochs = epochs
        self.optimizer = tf.keras.optimizers.Adam()

    @staticmethod
    def build():
        inp = Input((32, 32, 3))
        h = Conv2D(16, 3, strides=2, activation="relu")(inp)
        h = Conv2D(32, 3, strides=2, activation="relu")(h)
        return Model(inp, Dense(1, activation="sigmoid")(Flatten()(h)))

    def fit(self, ds):
        bce = tf.keras.losses.BinaryCrossentropy()
        for _ in range(self.epochs):
            for x, y in ds:
                with tf.GradientTape() as tape:
                    loss = bce(y, self.model(x, training=True))
                grads = tape.gradient(loss, self.model.trainable_variables)
                self.optimizer.apply_gradients(zip(grads, self.model.trainable_variables))


def main():
    trainer = Trainer()
    (x, y), _ = tf.keras.datasets.cifar10.load_data()
    ds = tf.data.Dataset.from_tensor_slices((x / 255.0, (y == 3).astype("float32")))
    trainer.fit(ds.batch(64))


if __name__ == "__main__":
    main()
