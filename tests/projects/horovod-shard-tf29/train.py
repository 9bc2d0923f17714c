import os

os.environ["HOROVOD_FUSION_THRESHOLD"] = "0"

import horovod.tensorflow as hvd
import numpy as np
import tensorflow as tf


@tf.function
def step(model, opt, x, y, first):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    tape = hvd.DistributedGradientTape(tape)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    if first:
        hvd.broadcast_variables(model.variables, root_rank=0)
        hvd.broadcast_variables(opt.variables(), root_rank=0)
    return loss


def main():
    hvd.init()
    gpus = tf.config.list_physical_devices("GPU")
    tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
    tf.keras.utils.set_random_seed(1)
    tf.config.experimental.enable_op_determinism()

    blob = np.load("/data/train.npz")
    ds = tf.data.Dataset.from_tensor_slices((blob["x"], blob["y"]))
    ds = ds.shard(hvd.size(), hvd.rank()).shuffle(4096, seed=1).batch(64)
    model = tf.keras.Sequential([tf.keras.layers.Dense(128, activation="relu"), tf.keras.layers.Dense(1)])
    opt = tf.keras.optimizers.SGD(0.01 * hvd.size())
    for i, (x, y) in enumerate(ds):
        step(model, opt, x, y, i == 0)


if __name__ == "__main__":
    main()
