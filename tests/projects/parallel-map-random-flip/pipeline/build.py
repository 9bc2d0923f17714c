import tensorflow as tf

from pipeline.augment import prepare

AUTO = tf.data.experimental.AUTOTUNE


def make_dataset(x, y, batch):
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(10000)
    ds = ds.map(prepare, num_parallel_calls=AUTO)  # <- A
    return ds.batch(batch).prefetch(AUTO)
