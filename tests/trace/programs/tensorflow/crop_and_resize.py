"""The gradient of `crop_and_resize`, summed up by many threads."""
import sys

import tensorflow as tf


class Crops(tf.Module):
    def __init__(self):
        super().__init__()
        self.kernel = tf.Variable(tf.random.stateless_normal((3, 3, 2, 4), seed=(1, 2)))

    def __call__(self, images, boxes, where):
        features = tf.nn.conv2d(images, self.kernel, 1, "SAME")
        return tf.image.crop_and_resize(features, boxes, where, (9, 9))  # <- op


def main():
    threads = 1 if "--fixed" in sys.argv else 16
    tf.config.threading.set_intra_op_parallelism_threads(threads)
    images = tf.random.stateless_normal((2, 48, 48, 2), seed=(3, 4))
    corners = tf.random.stateless_uniform((600, 2), seed=(5, 6)) / 2
    boxes = tf.concat([corners, corners + 0.4], 1)
    where = tf.random.stateless_uniform((600,), seed=(7, 8), maxval=2, dtype=tf.int32)
    model, optimizer = Crops(), tf.keras.optimizers.SGD(1e-4)

    @tf.function
    def train():
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.tanh(model(images, boxes, where)))
        gradients = tape.gradient(loss, model.trainable_variables)
        optimizer.apply_gradients(zip(gradients, model.trainable_variables))
        return loss

    for _ in range(3):
        print(train().numpy())


if __name__ == "__main__":
    main()
