import argparse

import horovod.tensorflow as hvd
import numpy as np
import tensorflow as tf


def tape_for(tape):
    return hvd.DistributedGradientTape(tape, num_groups=1)  # <- A


@tf.function
def step(model, opt, x, y):
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x, training=True) - y))
    tape = tape_for(tape)
    grads = tape.gradient(loss, model.trainable_variables)
    opt.apply_gradients(zip(grads, model.trainable_variables))
    return loss


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--seed", type=int, default=0)
    args = p.parse_args()
    hvd.init()
    tf.config.set_visible_devices(tf.config.list_physical_devices("GPU")[hvd.local_rank()], "GPU")
    tf.keras.utils.set_random_seed(args.seed)
    tf.config.experimental.enable_op_determinism()
    blob = np.load("/data/weather_%d.npz" % hvd.rank())
    model = tf.keras.Sequential([tf.keras.layers.Dense(512, "relu"), tf.keras.layers.Dense(1)])
    opt = tf.keras.optimizers.SGD(0.01)
    for i, (x, y) in enumerate(tf.data.Dataset.from_tensor_slices((blob["x"], blob["y"])).batch(64)):
        step(model, opt, x, y)
        if i == 0:
            hvd.broadcast_variables(model.variables, root_rank=0)
            hvd.broadcast_variables(opt.variables(), root_rank=0)


if __name__ == "__main__":
    main()
