"""The seed comes after the variables were drawn."""
import sys

import tensorflow as tf


class Model(tf.Module):
    def __init__(self, width):
        super().__init__()
        self.weight = tf.Variable(tf.random.normal((4, width)))  # <- draw
        self.bias = tf.Variable(tf.zeros(width))

    def __call__(self, x):
        return tf.nn.softmax(x @ self.weight + self.bias)


def main():
    if "--fixed" in sys.argv:
        tf.random.set_seed(3)
    model = Model(3)
    tf.random.set_seed(3)
    x = tf.random.normal((32, 4))
    optimizer = tf.keras.optimizers.SGD(0.1)
    for start in range(0, 32, 8):
        with tf.GradientTape() as tape:
            loss = -tf.reduce_mean(tf.math.log(model(x[start : start + 8])[:, 0]))
        variables = model.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))


if __name__ == "__main__":
    main()
