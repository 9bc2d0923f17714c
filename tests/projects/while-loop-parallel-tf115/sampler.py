import tensorflow as tf


def random_walk(start, steps):
    """Langevin style chain, differentiable in `start`."""

    def body(i, state):
        noise = tf.random.normal(tf.shape(state), stddev=0.1)
        return i + 1, state * 0.99 + noise

    _, end = tf.while_loop(lambda i, s: i < steps, body, [0, start], parallel_iterations=32)  # <- A
    return end
