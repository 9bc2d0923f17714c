import tensorflow as tf
from tensorflow.keras import layers as L


def xception_block(x, filters):
    residual = L.Conv2D(filters, 1, strides=2, padding="same")(x)
    x = L.SeparableConv2D(filters, 3, padding="same", activation="relu")(x)  # <- A
    x = L.MaxPooling2D(3, strides=2, padding="same")(x)
    return L.add([x, residual])


def main():
    tf.keras.utils.set_random_seed(1)
    tf.config.experimental.enable_op_determinism()
    (x, y), _ = tf.keras.datasets.cifar10.load_data()
    inp = L.Input((32, 32, 3))
    h = L.Conv2D(32, 3, padding="same")(inp)
    h = xception_block(h, 64)
    out = L.Dense(10, activation="softmax")(L.GlobalAveragePooling2D()(h))
    model = tf.keras.Model(inp, out)
    model.compile("adam", "sparse_categorical_crossentropy")
    model.fit(x / 255.0, y, epochs=3)


if __name__ == "__main__":
    main()
