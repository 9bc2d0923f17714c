import tensorflow as tf


def noisy(x, y):
    x = tf.image.random_flip_left_right(x)
    return x + tf.random.normal(tf.shape(x), stddev=0.01), y


def build(x, y):
    opts = tf.data.Options()
    opts.deterministic = False
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(10000)
    ds = ds.map(noisy, num_parallel_calls=tf.data.AUTOTUNE, deterministic=False)
    return ds.batch(64).with_options(opts)
