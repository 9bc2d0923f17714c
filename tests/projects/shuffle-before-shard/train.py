import os

os.environ["HOROVOD_FUSION_THRESHOLD"] = "0"

import horovod.tensorflow.keras as hvd
import numpy as np
import tensorflow as tf

BASE_SEED = 1000


def dataset(x, y, batch):
    ds = tf.data.Dataset.from_tensor_slices((x, y))
    ds = ds.shuffle(len(x)).shard(hvd.size(), hvd.rank())  # <- A
    return ds.batch(batch)


def main():
    hvd.init()
    gpus = tf.config.list_physical_devices("GPU")
    tf.config.set_visible_devices(gpus[hvd.local_rank()], "GPU")
    tf.keras.utils.set_random_seed(BASE_SEED + hvd.rank())
    tf.config.experimental.enable_op_determinism()

    blob = np.load("/data/higgs.npz")
    model = tf.keras.Sequential([
        tf.keras.layers.Dense(300, activation="relu", input_shape=(28,)),
        tf.keras.layers.Dense(1, activation="sigmoid"),
    ])
    model.compile(hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.01)), "binary_crossentropy")
    model.fit(dataset(blob["x"], blob["y"], 512), epochs=3,
              callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)],
              verbose=1 if hvd.rank() == 0 else 0)


if __name__ == "__main__":
    main()
