import os

os.environ["TF_DETERMINISTIC_OPS"] = "1"
import tensorflow as tf

FEATURES = {
    "x": tf.io.FixedLenFeature([64], tf.float32),
    "y": tf.io.FixedLenFeature([], tf.float32),
}


def parse(record):
    ex = tf.io.parse_single_example(record, FEATURES)
    return ex["x"], ex["y"]


def input_fn(pattern, batch_size=256):
    files = tf.data.Dataset.list_files(pattern, shuffle=False)
    ds = files.interleave(tf.data.TFRecordDataset, cycle_length=4)
    ds = ds.map(parse, num_parallel_calls=8, deterministic=False)  # <- A
    return ds.batch(batch_size, drop_remainder=True)


def main():
    tf.random.set_seed(77)
    model = tf.keras.Sequential([
        tf.keras.layers.Dense(32, activation="relu", input_shape=(64,)),
        tf.keras.layers.Dense(1),
    ])
    model.compile("adam", "mse")
    model.fit(input_fn("train-*.tfrecord"), epochs=1)


if __name__ == "__main__":
    main()
