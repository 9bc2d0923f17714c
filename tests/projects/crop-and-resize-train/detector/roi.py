import tensorflow as tf


class RoiHead(tf.keras.layers.Layer):
    def __init__(self, size=7, **kwargs):
        super().__init__(**kwargs)
        self.size = size
        self.fc = tf.keras.layers.Dense(4)

    def call(self, inputs):
        features, boxes, index = inputs
        crops = tf.image.crop_and_resize(features, boxes, index, (self.size, self.size))  # <- A
        return self.fc(tf.reshape(crops, [tf.shape(crops)[0], self.size * self.size * 64]))
