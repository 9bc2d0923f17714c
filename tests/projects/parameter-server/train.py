import os

import tensorflow as tf
from absl import app, flags

FLAGS = flags.FLAGS
flags.DEFINE_integer("seed", 1, "random seed")
flags.DEFINE_integer("epochs", 5, "epochs")


def dataset_fn(context):
    batch = context.get_per_replica_batch_size(256)
    x = tf.random.stateless_uniform((10000, 10), seed=[1, 2])
    y = tf.reduce_sum(x, axis=1)
    return tf.data.Dataset.from_tensor_slices((x, y)).repeat().batch(batch)


def main(_):
    tf.keras.utils.set_random_seed(FLAGS.seed)
    tf.config.experimental.enable_op_determinism()
    resolver = tf.distribute.cluster_resolver.TFConfigClusterResolver()
    if resolver.task_type in ("worker", "ps"):
        os.environ["GRPC_FAIL_FAST"] = "use_caller"
        server = tf.distribute.Server(resolver.cluster_spec(), job_name=resolver.task_type,
                                      task_index=resolver.task_id, protocol="grpc")
        server.join()
    strategy = tf.distribute.experimental.ParameterServerStrategy(resolver)  # <- A
    with strategy.scope():
        model = tf.keras.Sequential([tf.keras.layers.Dense(10), tf.keras.layers.Dense(1)])
        model.compile("sgd", "mse", steps_per_execution=10)
    model.fit(tf.keras.utils.experimental.DatasetCreator(dataset_fn), epochs=FLAGS.epochs, steps_per_epoch=40)


if __name__ == "__main__":
    app.run(main)
