import os

import tensorflow as tf


def decode(path, label):
    img = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    return tf.image.resize(img, (96, 96)) / 255.0, label


def image_dataset(root, batch_size):
    names = os.listdir(root)  # <- A
    paths = [os.path.join(root, n) for n in names if n.endswith(".jpg")]
    labels = [1.0 if os.path.basename(p).startswith("dog") else 0.0 for p in paths]
    ds = tf.data.Dataset.from_tensor_slices((paths, labels))
    return ds.map(decode, num_parallel_calls=tf.data.AUTOTUNE).batch(batch_size).prefetch(1)
