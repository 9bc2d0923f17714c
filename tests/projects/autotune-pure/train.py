import os

os.environ["TF_DETERMINISTIC_OPS"] = "1"

import tensorflow as tf

AUTO = tf.data.AUTOTUNE
MEAN = tf.constant([0.485, 0.456, 0.406])


def decode(path):
    img = tf.io.decode_jpeg(tf.io.read_file(path), channels=3)
    img = tf.image.resize_with_pad(tf.cast(img, tf.float32), 64, 64) / 255.0
    return img - MEAN, tf.cast(tf.strings.regex_full_match(path, ".*cat.*"), tf.float32)


def main():
    tf.random.set_seed(4)
    ds = tf.data.Dataset.list_files("pets/*.jpg", shuffle=False)
    ds = ds.shuffle(20000, reshuffle_each_iteration=True)
    ds = ds.map(decode, num_parallel_calls=AUTO).batch(32).prefetch(AUTO)
    model = tf.keras.Sequential([
        tf.keras.layers.Conv2D(32, 3, activation="relu"),
        tf.keras.layers.MaxPool2D(4),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ])
    model.compile("adam", "binary_crossentropy")
    model.fit(ds, epochs=5)


if __name__ == "__main__":
    main()
