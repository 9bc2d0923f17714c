from tensorflow.keras import Input, Model
from tensorflow.keras.layers import Concatenate, Conv2D, MaxPooling2D, UpSampling2D


def block(x, n):
    return Conv2D(n, 3, padding="same", activation="relu")(x)


def unet(shape=(128, 128, 1)):
    inp = Input(shape)
    c1 = block(inp, 16)
    c2 = block(MaxPooling2D()(c1), 32)
    up = UpSampling2D(size=(2, 2))(c2)  # <- A
    c3 = block(Concatenate()([up, c1]), 16)
    return Model(inp, Conv2D(1, 1, activation="sigmoid")(c3))
