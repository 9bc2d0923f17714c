import tensorflow as tf


def main():
    tf.keras.utils.set_random_seed(1)
    tf.config.experimental.enable_op_determinism()
    strategy = tf.distribute.MirroredStrategy(["/gpu:0", "/gpu:1"])
    (x, y), _ = tf.keras.datasets.mnist.load_data()
    ds = tf.data.Dataset.from_tensor_slices((x[..., None] / 255.0, y))
    ds = ds.shuffle(60000, reshuffle_each_iteration=True).batch(128)
    with strategy.scope():
        model = tf.keras.Sequential([
            tf.keras.layers.Conv2D(16, 3, activation="relu", input_shape=(28, 28, 1)),
            tf.keras.layers.Flatten(),
            tf.keras.layers.Dense(10),
        ])
        model.compile("adam", tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    model.fit(ds, epochs=2)


if __name__ == "__main__":
    main()
