import tensorflow as tf
from tensorflow.keras import layers
from tensorflow.keras.initializers import GlorotUniform, HeNormal, Zeros


def build(shape):
    inp = layers.Input(shape)
    x = layers.Conv2D(16, 3, activation="relu", kernel_initializer=HeNormal(seed=11), bias_initializer=Zeros())(inp)
    x = layers.MaxPooling2D()(x)
    x = layers.Flatten()(x)
    x = layers.Dropout(0.3, seed=12)(x)
    x = layers.Dense(32, activation="relu", kernel_initializer=HeNormal(seed=13))(x)
    return tf.keras.Model(inp, layers.Dense(1, activation="sigmoid", kernel_initializer=GlorotUniform(seed=14))(x))
