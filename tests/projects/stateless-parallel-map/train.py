import os

os.environ["TF_DETERMINISTIC_OPS"] = "1"

import tensorflow as tf

AUTOTUNE = tf.data.experimental.AUTOTUNE
SEED = 9


def augment(index, sample):
    image, label = sample
    seed = tf.stack([tf.cast(SEED, tf.int64), index])
    image = tf.image.stateless_random_flip_left_right(image, seed=seed)
    image = tf.image.stateless_random_brightness(image, 0.1, seed=seed)
    return image + tf.random.stateless_normal(tf.shape(image), seed=seed, stddev=0.01), label


def dataset(x, y):
    ds = tf.data.Dataset.from_tensor_slices((x, y)).shuffle(5000, seed=SEED)
    return ds.enumerate().map(augment, num_parallel_calls=AUTOTUNE).batch(64).prefetch(AUTOTUNE)


def main():
    tf.random.set_seed(SEED)
    (x, y), _ = tf.keras.datasets.cifar10.load_data()
    model = tf.keras.Sequential([
        tf.keras.layers.Conv2D(16, 3, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ])
    model.compile("adam", "binary_crossentropy")
    model.fit(dataset(x.astype("float32") / 255.0, (y == 1).astype("float32")), epochs=2)


if __name__ == "__main__":
    main()
