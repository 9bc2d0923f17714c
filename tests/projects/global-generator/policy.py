import tensorflow as tf


def explore(logits, eps):
    g = tf.random.get_global_generator()  # <- A
    noise = g.uniform(tf.shape(logits))
    return tf.argmax(tf.where(noise < eps, noise, logits), axis=-1)
