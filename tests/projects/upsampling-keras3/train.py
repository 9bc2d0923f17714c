import keras
import numpy as np
import tensorflow as tf
from keras import layers

keras.utils.set_random_seed(1)
tf.config.experimental.enable_op_determinism()


def decoder(latent):
    z = keras.Input((latent,))
    x = layers.Dense(7 * 7 * 16, activation="relu")(z)
    x = layers.Reshape((7, 7, 16))(x)
    x = layers.UpSampling2D()(x)
    x = layers.Conv2D(16, 3, padding="same", activation="relu")(x)
    x = layers.UpSampling2D(size=2, interpolation="nearest")(x)
    return keras.Model(z, layers.Conv2D(1, 3, padding="same", activation="sigmoid")(x))


(images, _), _ = keras.datasets.mnist.load_data()
codes = np.load("codes.npy")
model = decoder(codes.shape[1])
model.compile("adam", "binary_crossentropy")
model.fit(codes, images[..., None] / 255.0, epochs=2, batch_size=128)
