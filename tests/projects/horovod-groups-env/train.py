import os

os.environ["HOROVOD_DISABLE_GROUP_FUSION"] = "1"
os.environ["HOROVOD_AUTOTUNE"] = "0"

import horovod.tensorflow.keras as hvd
import numpy as np
import tensorflow as tf


def main():
    hvd.init()
    tf.config.set_visible_devices(tf.config.list_physical_devices("GPU")[hvd.local_rank()], "GPU")
    tf.keras.utils.set_random_seed(60)
    tf.config.experimental.enable_op_determinism()
    blob = np.load("/data/part%d.npz" % hvd.rank())
    model = tf.keras.Sequential([tf.keras.layers.Dense(32, activation="relu"), tf.keras.layers.Dense(1)])
    opt = hvd.DistributedOptimizer(tf.keras.optimizers.legacy.SGD(0.1), num_groups=1)
    model.compile(opt, "mse")
    model.fit(blob["x"], blob["y"], epochs=3,
              callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])


if __name__ == "__main__":
    main()
