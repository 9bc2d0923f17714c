import tensorflow as tf

NN = tf.image.ResizeMethod.NEAREST_NEIGHBOR


def load(img_path, mask_path):
    img = tf.io.decode_png(tf.io.read_file(img_path), channels=3)
    mask = tf.io.decode_png(tf.io.read_file(mask_path), channels=1)
    img = tf.image.resize(img, (128, 128)) / 255.0
    img = tf.image.adjust_contrast(img, 1.1)
    mask = tf.image.resize(mask, (128, 128), method=NN)
    return img, tf.cast(mask > 0, tf.float32)


def dataset():
    images = sorted(tf.io.gfile.glob("road/images/*.png"))
    masks = sorted(tf.io.gfile.glob("road/masks/*.png"))
    ds = tf.data.Dataset.from_tensor_slices((images, masks))
    return ds.map(load, num_parallel_calls=tf.data.AUTOTUNE).shuffle(256).batch(8)


def main():
    tf.keras.utils.set_random_seed(1)
    tf.config.experimental.enable_op_determinism()
    model = tf.keras.Sequential([
        tf.keras.layers.Conv2D(16, 3, strides=2, padding="same", activation="relu"),
        tf.keras.layers.Conv2DTranspose(1, 3, strides=2, padding="same", activation="sigmoid"),
    ])
    model.compile("adam", "binary_crossentropy")
    model.fit(dataset(), epochs=3)


if __name__ == "__main__":
    main()
