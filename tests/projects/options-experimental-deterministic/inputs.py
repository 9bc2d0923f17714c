import tensorflow as tf


def read(files, batch):
    opts = tf.data.Options()
    opts.experimental_deterministic = False  # <- A
    ds = tf.data.Dataset.from_tensor_slices(files)
    ds = ds.with_options(opts)
    ds = ds.interleave(lambda f: tf.data.TextLineDataset(f).skip(1), cycle_length=8,
                       num_parallel_calls=tf.data.experimental.AUTOTUNE)
    ds = ds.map(to_features, num_parallel_calls=tf.data.experimental.AUTOTUNE)
    return ds.batch(batch).prefetch(tf.data.experimental.AUTOTUNE)


def to_features(line):
    cols = tf.io.decode_csv(line, [0.0] * 9)
    return tf.stack(cols[:-1]), cols[-1]
