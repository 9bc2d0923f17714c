import horovod.tensorflow.keras as hvd
import tensorflow as tf


def main():
    hvd.init()
    gpus = tf.config.experimental.list_physical_devices("GPU")
    if gpus:
        tf.config.experimental.set_visible_devices(gpus[hvd.local_rank()], "GPU")
    tf.keras.utils.set_random_seed(42)
    tf.config.experimental.enable_op_determinism()

    (x, y), _ = tf.keras.datasets.mnist.load_data()
    ds = tf.data.Dataset.from_tensor_slices((x[..., None] / 255.0, y)).repeat().shuffle(10000).batch(128)
    model = tf.keras.Sequential([
        tf.keras.layers.Conv2D(32, 3, activation="relu"),
        tf.keras.layers.MaxPooling2D(),
        tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(10, activation="softmax"),
    ])
    opt = tf.keras.optimizers.Adam(0.001 * hvd.size())
    opt = hvd.DistributedOptimizer(opt)  # <- A
    model.compile(optimizer=opt, loss="sparse_categorical_crossentropy")
    callbacks = [hvd.callbacks.BroadcastGlobalVariablesCallback(0)]
    model.fit(ds, steps_per_epoch=500 // hvd.size(), callbacks=callbacks, epochs=4)


if __name__ == "__main__":
    main()
