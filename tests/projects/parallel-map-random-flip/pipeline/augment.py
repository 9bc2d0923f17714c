import tensorflow as tf


def jitter(image):
    image = tf.image.random_flip_left_right(image)
    return image + tf.random.normal(tf.shape(image), stddev=0.02)


def prepare(image, label):
    image = tf.cast(image, tf.float32) / 255.0
    return jitter(image), label
