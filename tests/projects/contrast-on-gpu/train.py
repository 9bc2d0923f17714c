import tensorflow as tf


class Augment(tf.keras.layers.Layer):
    def call(self, images, training=False):
        if not training:
            return images
        return tf.image.stateless_random_contrast(images, 0.8, 1.2, seed=[3, 5])  # <- A


@tf.function
def step(model, aug, opt, x, y):
    loss_fn = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)
    with tf.GradientTape() as tape:
        loss = loss_fn(y, model(aug(x, training=True), training=True))
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def main():
    tf.keras.utils.set_random_seed(1)
    tf.config.experimental.enable_op_determinism()
    (x, y), _ = tf.keras.datasets.cifar10.load_data()
    ds = tf.data.Dataset.from_tensor_slices((x.astype("float32") / 255.0, y)).shuffle(50000).batch(128)
    model = tf.keras.Sequential([
        tf.keras.layers.Conv2D(32, 3, activation="relu"),
        tf.keras.layers.GlobalAveragePooling2D(),
        tf.keras.layers.Dense(10),
    ])
    opt = tf.keras.optimizers.Adam()
    aug = Augment()
    for xb, yb in ds:
        step(model, aug, opt, xb, yb)


if __name__ == "__main__":
    main()
