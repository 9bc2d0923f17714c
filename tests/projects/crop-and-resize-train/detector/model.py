import tensorflow as tf

from detector.roi import RoiHead


class Detector(tf.keras.Model):
    def __init__(self):
        super().__init__()
        self.backbone = tf.keras.layers.Conv2D(64, 5, strides=4, padding="same", activation="relu")
        self.head = RoiHead()

    def call(self, images, boxes, index):
        return self.head((self.backbone(images), boxes, index))
