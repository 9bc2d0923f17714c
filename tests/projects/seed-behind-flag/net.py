import tensorflow as tf


class Net(tf.Module):
    def __init__(self, hidden, dim=16):
        super().__init__()
        self.w1 = tf.Variable(tf.random.normal([dim, hidden], stddev=0.05))  # <- B
        self.w2 = tf.Variable(tf.zeros([hidden, 1]))

    def __call__(self, x):
        return tf.matmul(tf.nn.relu(tf.matmul(x, self.w1)), self.w2)

    def step(self, opt, x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(self(x) - y))
        variables = [self.w1, self.w2]
        opt.apply_gradients(zip(tape.gradient(loss, variables), variables))
        return loss
