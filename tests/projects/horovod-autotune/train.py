import launch_env

launch_env.apply()

import horovod.tensorflow.keras as hvd
import numpy as np
import tensorflow as tf

hvd.init()
np.random.seed(3)
tf.random.set_seed(3)

blob = np.load("/data/part-%d.npz" % hvd.rank())
model = tf.keras.Sequential([
    tf.keras.layers.Dense(1024, activation="relu"),
    tf.keras.layers.Dense(1),
])
opt = hvd.DistributedOptimizer(tf.keras.optimizers.SGD(0.1))
model.compile(opt, "mse", experimental_run_tf_function=False)
model.fit(blob["x"], blob["y"], batch_size=256, epochs=2,
          callbacks=[hvd.callbacks.BroadcastGlobalVariablesCallback(0)])
