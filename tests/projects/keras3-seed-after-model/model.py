import keras
from keras import layers


def build_model(classes=10):
    inputs = keras.Input((28, 28, 1))
    x = layers.Conv2D(32, 3, activation="relu")(inputs)
    x = layers.MaxPooling2D()(x)
    x = layers.Flatten()(x)
    x = layers.Dropout(0.5)(x)
    return keras.Model(inputs, layers.Dense(classes, activation="softmax")(x))
